//! `hooksctl reload`

use std::process::ExitCode;

use hooksd_protocol::methods::{NoParams, Reloaded};

use crate::arguments::Arguments;
use crate::connect::connect;
use crate::failure::Failure;
use crate::print::Printer;

pub(crate) fn run(arguments: &Arguments, printer: &mut Printer) -> Result<ExitCode, Failure> {
    let reloaded: Reloaded = connect(arguments)?.call("daemon/reload", &NoParams {})?;
    printer.result(&reloaded, |lines| {
        let found = if reloaded.changed { "documents have changed since" } else { "no document has changed" };
        lines.push(found.to_owned());
    })
}
