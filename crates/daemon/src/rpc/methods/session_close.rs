//! `session/close`: ends a session and stops its events.

use hooksd_protocol::methods::{Done, SessionClose};
use hooksd_protocol::rpc::{Frame, RpcError};

use crate::base::work::{Work, now};
use crate::rpc::params::params;
use crate::state::Daemon;

pub(crate) fn work(daemon: &Daemon, frame: &Frame<'_>) -> Result<Work, RpcError> {
    let close: SessionClose = params(frame)?;
    daemon.sessions.close(&close.session)?;
    now(Done {})
}
