//! `legacy/emit`: starts the commands of an event of the older form and answers at once.

use std::sync::Arc;

use hooksd_engine::legacy::stdin;
use hooksd_json::{Reading, read};
use hooksd_protocol::methods::LegacyName;
use hooksd_protocol::rpc::{Frame, RpcError};

use super::{Work, invalid, later, refuse_when_stopping};
use crate::daemon::Daemon;
use crate::invoke::{blocking, check_trusted};
use crate::legacy::emit;
use crate::opening::Target;
use crate::session::field_error;
use crate::sessions::open_inline;

pub(super) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>) -> Result<Work, RpcError> {
    refuse_when_stopping(daemon)?;
    let Some(params) = frame.params.as_ref().filter(|params| params.is_object()) else {
        return Err(invalid(field_error("params", "expected an object with session, event and payload")));
    };
    let known = ["session", "event", "payload"];
    if let Some(key) = params.unknown_key(&known) {
        return Err(invalid(field_error(&key, &format!("unknown field; known here: {}", known.join(", ")))));
    }
    let event = params.get("event").ok_or_else(|| invalid(field_error("event", "this field is required")))?;
    let event: LegacyName = read(&event, Reading::Strict).map_err(|error| invalid(error.within("event")))?;
    let payload = params.get("payload").filter(|payload| !payload.is_null());
    let stdin = stdin(event, payload.as_ref()).map_err(invalid)?;
    let target = daemon.openings.target(params, &daemon.sessions)?;
    let daemon = daemon.clone();
    later(move |interrupts| {
        blocking(move || {
            let session = match target {
                Target::Open(session) => session,
                Target::Inline(opening) => {
                    open_inline(&daemon.settings, &daemon.documents, &opening, &daemon.killing)?
                }
            };
            check_trusted(&daemon, &session.pinned.load())?;
            // Spawns tasks: the runtime is entered by the thread that does the blocking work.
            Ok(emit(&daemon, &session, event, stdin, interrupts.held.as_ref()))
        })
    })
}
