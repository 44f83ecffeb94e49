//! `hook/cancel`: stops a running event by its invocation id, whoever asked for it.

use std::sync::Arc;

use hooksd_json::ReadError;
use hooksd_protocol::methods::HookCancel;
use hooksd_protocol::rpc::{Frame, RpcError};
use uuid::Uuid;

use crate::base::work::{Work, now};
use crate::rpc::params::{invalid, params};
use crate::state::Daemon;

/// The shortest beginning of an id that is taken for one. Characters.
const MIN_ID: usize = 4;

pub(crate) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>) -> Result<Work, RpcError> {
    let wanted: HookCancel = params(frame)?;
    let id = wanted.invocation_id.to_lowercase();
    let refuse = |message: String| invalid(ReadError::new("invocation_id", message));
    if id.len() < MIN_ID {
        return Err(refuse(format!("expected at least {MIN_ID} characters of an invocation's id")));
    }
    match daemon.running.cancel(&id) {
        Ok(cancelled) => now(cancelled),
        Err(0) => Err(refuse(format!("no running event has an id that begins with {id}; it may have ended"))),
        Err(count) if Uuid::try_parse(&id).is_ok() => Err(refuse(format!(
            "{count} sessions run an event with the id {id}: stop each where it was asked for ($/cancelRequest), or close \
             its session"
        ))),
        Err(count) => {
            Err(refuse(format!("{count} running events have ids that begin with {id}: give more of it")))
        }
    }
}
