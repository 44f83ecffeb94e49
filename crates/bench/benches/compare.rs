//! `cargo bench -p bench`: the whole table, as `cargo run --release -p bench -- compare` prints it.

use std::path::Path;
use std::process::ExitCode;

use bench::{Size, compare};

#[allow(clippy::print_stdout, clippy::print_stderr, reason = "the table is what it is for")]
fn main() -> ExitCode {
    match compare(&Size::full(), Path::new(env!("CARGO_BIN_EXE_bench")), &[]) {
        Ok(table) => {
            println!("{table}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
