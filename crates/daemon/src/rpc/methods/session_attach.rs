//! `session/attach`: goes on with a session from another connection.

use std::sync::Arc;

use hooksd_protocol::methods::SessionAttach;
use hooksd_protocol::rpc::{Frame, RpcError};

use crate::base::caller::Caller;
use crate::base::work::{Work, now};
use crate::rpc::params::params;
use crate::state::Daemon;

pub(crate) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>, caller: &Caller) -> Result<Work, RpcError> {
    let attach: SessionAttach = params(frame)?;
    caller.peer.may_have_sessions()?;
    let session = daemon.sessions.get(&attach.session)?;
    session.attach(caller);
    session.touch();
    caller.peer.hears_of(&session.id);
    session.announce(&daemon.feed, "attached");
    now(session.info())
}
