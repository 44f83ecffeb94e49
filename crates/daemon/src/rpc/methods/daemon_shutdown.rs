//! `daemon/shutdown`: stops accepting, lets running events finish, then ends.

use std::time::Duration;

use hooksd_protocol::methods::{DaemonShutdown, Done};
use hooksd_protocol::rpc::{Frame, RpcError};

use crate::base::work::{Work, now};
use crate::rpc::params::params;
use crate::state::Daemon;

/// The longest drain a client can ask for. Milliseconds. Ten minutes, as long as a handler may run by default.
const MAX_DRAIN_MS: u64 = 600_000;

pub(crate) fn work(daemon: &Daemon, frame: &Frame<'_>) -> Result<Work, RpcError> {
    let wanted: DaemonShutdown = params(frame)?;
    daemon.stop.stop(wanted.drain_ms.map(|drain| Duration::from_millis(drain.min(MAX_DRAIN_MS))));
    now(Done {})
}
