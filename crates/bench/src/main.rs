//! `bench compare [--quick] [LINE...]` prints the table; `bench echo SOCKET` is one of its floors, and
//! `bench hooksd SOCKET CONFIG_DIR on|off` one of its sides.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use bench::{Size, compare, echo, serve};

const USAGE: &str = "usage: bench compare [--quick] [LINE...]\n       bench echo SOCKET\n       bench hooksd SOCKET CONFIG_DIR on|off";

#[allow(clippy::print_stdout, clippy::print_stderr, reason = "the table is what it is for")]
fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(printed) => {
            println!("{printed}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<String> {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["compare", rest @ ..] => {
            let quick = rest.contains(&"--quick");
            let lines: Vec<&str> = rest.iter().filter(|word| !word.starts_with('-')).copied().collect();
            let size = if quick { Size::quick() } else { Size::full() };
            let own = std::env::current_exe().context("where is this program?")?;
            compare(&size, &own, &lines)
        }
        ["echo", socket] => {
            echo::serve(Path::new(socket))?;
            Ok(String::new())
        }
        ["hooksd", socket, config_dir, told] => {
            serve::serve(Path::new(socket), Path::new(config_dir), *told == "on")?;
            Ok(String::new())
        }
        _ => Ok(USAGE.to_owned()),
    }
}
