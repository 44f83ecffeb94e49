//! `session/close`: ends a session and stops its events.

use hooksd_protocol::methods::{Done, SessionClose};
use hooksd_protocol::rpc::{Frame, RpcError};

use super::{Work, now, params};
use crate::daemon::Daemon;

pub(super) fn work(daemon: &Daemon, frame: &Frame<'_>) -> Result<Work, RpcError> {
    let close: SessionClose = params(frame)?;
    daemon.sessions.close(&close.session)?;
    now(Done {})
}
