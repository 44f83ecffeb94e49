//! `hooksctl sessions`

use std::process::ExitCode;

use hooksd_protocol::methods::{NoParams, SessionList};

use crate::arguments::Arguments;
use crate::connect::connect;
use crate::failure::Failure;
use crate::print::{Printer, safe, word};

pub(crate) fn run(arguments: &Arguments, printer: &mut Printer) -> Result<ExitCode, Failure> {
    let listed: SessionList = connect(arguments)?.call("session/list", &NoParams {})?;
    printer.result(&listed, |lines| {
        for session in &listed.sessions {
            let mode = word(&session.mode);
            let state = match session.running {
                0 => format!("idle {} s", session.idle_seconds),
                running => format!("{running} running"),
            };
            lines.push(format!(
                "{} {mode}, {state}, thread {}, in {}",
                safe(&session.session),
                safe(&session.thread_id.decoded()),
                safe(&session.cwd)
            ));
        }
        if listed.sessions.is_empty() {
            lines.push("no session is open".to_owned());
        }
    })
}
