//! `hooksctl shutdown`

use std::process::ExitCode;

use hooksd_protocol::methods::Done;

use crate::arguments::{Arguments, Shutdown};
use crate::connect::connect;
use crate::daemon_process::stop;
use crate::failure::Failure;
use crate::print::Printer;

pub(crate) fn run(
    arguments: &Arguments,
    shutdown: &Shutdown,
    printer: &mut Printer,
) -> Result<ExitCode, Failure> {
    let how = stop(&mut connect(arguments)?, shutdown.drain)?;
    printer.result(&Done {}, |lines| lines.push(how))
}
