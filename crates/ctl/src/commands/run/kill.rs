//! `hooksctl kill INVOCATION`

use std::process::ExitCode;

use hooksd_client::ClientError;
use hooksd_protocol::methods::{HookCancel, HookCancelled};
use hooksd_protocol::rpc::error_code;

use crate::arguments::{Arguments, Kill};
use crate::connect::connect;
use crate::failure::Failure;
use crate::print::{Printer, safe};

pub(crate) fn run(arguments: &Arguments, kill: &Kill, printer: &mut Printer) -> Result<ExitCode, Failure> {
    let asked = HookCancel { invocation_id: kill.invocation.clone() };
    let cancelled: HookCancelled =
        connect(arguments)?.call("hook/cancel", &asked).map_err(|error| match error {
            // There is one param, and people know it by another name.
            ClientError::Refused(refused) if refused.code == error_code::INVALID_PARAMS => {
                Failure::Input(refused.message.replace("invalid params: invocation_id: ", ""))
            }
            error => error.into(),
        })?;
    printer.result(&cancelled, |lines| {
        let (event, session) = (safe(&cancelled.event), safe(&cancelled.session));
        lines.push(format!("{event} {} of session {session} was told to stop", cancelled.invocation_id));
    })
}
