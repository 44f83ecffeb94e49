//! `session/attach`: goes on with a session from another connection.

use std::sync::Arc;

use hooksd_protocol::methods::SessionAttach;
use hooksd_protocol::rpc::{Frame, RpcError};

use super::{Work, now, params};
use crate::account::session_changed;
use crate::connection::Caller;
use crate::daemon::Daemon;

pub(super) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>, caller: &Caller) -> Result<Work, RpcError> {
    let attach: SessionAttach = params(frame)?;
    caller.who.may_have_sessions()?;
    let session = daemon.sessions.get(&attach.session)?;
    session.attach(caller);
    session.touch();
    caller.who.hears_of(&session.id);
    session_changed(&daemon.feed, &session, "attached");
    now(session.info())
}
