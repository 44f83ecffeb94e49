//! `hooksctl check FILE`

use std::process::ExitCode;

use hooksd_config::check;
use hooksd_protocol::diagnostic::Severity;
use hooksd_protocol::methods::Scope;

use crate::arguments::Check;
use crate::failure::Failure;
use crate::print::{Printer, diagnostic, safe};

/// Exit status when something in the document would not be used.
const FOUND_SOMETHING: u8 = 1;

/// Exit status when nothing of the document would be used.
const UNUSABLE: u8 = 2;

pub(crate) fn run(wanted: &Check, printer: &mut Printer) -> Result<ExitCode, Failure> {
    let result = check::file(&wanted.file, Scope::User);
    printer.result(&result, |lines| {
        lines.extend(result.diagnostics.iter().map(diagnostic));
        let summary = match (result.usable, result.handlers) {
            (false, _) => "nothing of it would be used".to_owned(),
            (true, 1) => "1 handler would be used".to_owned(),
            (true, count) => format!("{count} handlers would be used"),
        };
        lines.push(format!("{}: {summary}", safe(&wanted.file.display().to_string())));
    })?;
    let remarks = result.diagnostics.iter().any(|diagnostic| diagnostic.severity > Severity::Debug);
    Ok(match (result.usable, remarks) {
        (false, _) => ExitCode::from(UNUSABLE),
        (true, true) => ExitCode::from(FOUND_SOMETHING),
        (true, false) => ExitCode::SUCCESS,
    })
}
