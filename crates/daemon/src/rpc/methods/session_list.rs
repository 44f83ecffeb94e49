//! `session/list`: the open sessions.

use hooksd_protocol::methods::{NoParams, SessionList};
use hooksd_protocol::rpc::{Frame, RpcError};

use crate::base::work::{Work, now};
use crate::rpc::params::params;
use crate::state::Daemon;

pub(crate) fn work(daemon: &Daemon, frame: &Frame<'_>) -> Result<Work, RpcError> {
    #[cfg(feature = "failpoints")]
    fail::fail_point!("session_list");
    let _: NoParams = params(frame)?;
    now(SessionList { sessions: daemon.sessions.rows() })
}
