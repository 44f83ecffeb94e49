//! `hooksctl shutdown`

use std::process::ExitCode;

use hooksd_protocol::methods::{DaemonShutdown, Done};

use super::connect;
use crate::arguments::{Arguments, Shutdown};
use crate::failure::Failure;
use crate::print::Printer;

pub(crate) fn run(
    arguments: &Arguments,
    shutdown: &Shutdown,
    printer: &mut Printer,
) -> Result<ExitCode, Failure> {
    let params = DaemonShutdown { drain_ms: shutdown.drain.map(|seconds| seconds.saturating_mul(1000)) };
    let done: Done = connect(arguments)?.call("daemon/shutdown", &params)?;
    printer.result(&done, |lines| lines.push("the daemon is stopping".to_owned()))
}
