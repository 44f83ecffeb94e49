//! `hooksctl completions` and `hooksctl man`: what is generated from the command line's definition.

use std::fs;
use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::{Shell, generate};
use serde_json::json;

use crate::arguments::{Arguments, Completions, Man, ShellArgument};
use crate::failure::Failure;
use crate::print::{Printer, safe};

/// The program's name.
const NAME: &str = "hooksctl";

pub(crate) fn completions(wanted: &Completions, printer: &mut Printer) -> Result<ExitCode, Failure> {
    let shell = match wanted.shell {
        ShellArgument::Bash => Shell::Bash,
        ShellArgument::Zsh => Shell::Zsh,
        ShellArgument::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    generate(shell, &mut Arguments::command(), NAME, &mut script);
    printer.plain(&String::from_utf8_lossy(&script))
}

pub(crate) fn man(wanted: &Man, printer: &mut Printer) -> Result<ExitCode, Failure> {
    let wrong = |error: std::io::Error| {
        Failure::Input(format!("{} cannot be written into: {error}", wanted.folder.display()))
    };
    fs::create_dir_all(&wanted.folder).map_err(wrong)?;
    clap_mangen::generate_to(Arguments::command(), &wanted.folder).map_err(wrong)?;
    let folder = wanted.folder.display().to_string();
    printer.result(&json!({ "folder": folder }), |lines| {
        lines.push(format!("wrote the pages into {}", safe(&folder)));
    })
}
