//! `hooksctl hook`, where the full parser has read the command line. See [`crate::hook`].

use std::process::ExitCode;
use std::time::Instant;

use crate::arguments::{Arguments, Hook};
use crate::failure::Failure;
use crate::hook::{Options, RawOptions, run_with};

pub(crate) fn run(arguments: &Arguments, Hook(raw): &Hook) -> Result<ExitCode, Failure> {
    let raw = RawOptions { socket: arguments.socket.clone(), ..raw.clone() };
    let options = Options::from_raw(raw).map_err(Failure::Input)?;
    Ok(run_with(&options, Instant::now()))
}
