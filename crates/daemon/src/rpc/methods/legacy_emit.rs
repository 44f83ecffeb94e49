//! `legacy/emit`: starts the commands of an event of the older form and answers at once.

use std::sync::Arc;

use hooksd_engine::legacy::stdin;
use hooksd_json::{ReadError, Reading, read};
use hooksd_protocol::methods::LegacyName;
use hooksd_protocol::rpc::{Frame, RpcError};

use crate::base::caller::Call;
use crate::base::work::{Work, blocking, later};
use crate::event::legacy::emit;
use crate::rpc::params::{invalid, refuse_when_stopping};
use crate::sessions::inline::SessionTarget;
use crate::sessions::registry::open_inline;
use crate::state::Daemon;

pub(crate) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>, call: &Call<'_>) -> Result<Work, RpcError> {
    refuse_when_stopping(daemon)?;
    let Some(params) = frame.params.as_ref().filter(|params| params.is_object()) else {
        return Err(invalid(ReadError::new("params", "expected an object with session, event and payload")));
    };
    let known = ["session", "event", "payload"];
    if let Some(key) = params.unknown_key(&known) {
        return Err(invalid(ReadError::new(key, format!("unknown field; known here: {}", known.join(", ")))));
    }
    let event =
        params.get("event").ok_or_else(|| invalid(ReadError::new("event", "this field is required")))?;
    let event: LegacyName = read(&event, Reading::Strict).map_err(|error| invalid(error.within("event")))?;
    let payload = params.get("payload").filter(|payload| !payload.is_null());
    let stdin = stdin(event, payload.as_ref()).map_err(invalid)?;
    let target = daemon.openings.target(params, &daemon.sessions)?;
    let daemon = daemon.clone();
    let permit = call.permit();
    let emitting = blocking(move || {
        let session = match target {
            SessionTarget::Open(session) => session,
            SessionTarget::Inline(opening) => {
                open_inline(&daemon.settings, &daemon.documents, &opening, &daemon.stop.killing)?
            }
        };
        session.config.load().require_trust(&daemon.settings, &daemon.feed)?;
        // Spawns tasks: the runtime is entered by the thread that does the blocking work.
        Ok(emit(&daemon, &session, event, stdin, permit.as_ref()))
    });
    later(call, emitting)
}
