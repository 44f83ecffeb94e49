//! `session/open`: loads the documents that apply and pins a session to the snapshot.

use std::sync::Arc;

use hooksd_protocol::methods::SessionOpen;
use hooksd_protocol::rpc::{Frame, RpcError};

use super::{Work, later, params, refuse_when_stopping};
use crate::daemon::Daemon;
use crate::invoke::blocking;

pub(super) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>) -> Result<Work, RpcError> {
    refuse_when_stopping(daemon)?;
    let open: SessionOpen = params(frame)?;
    let daemon = daemon.clone();
    later(move |_| {
        blocking(move || Ok(daemon.sessions.open(&daemon.settings, open, &daemon.killing)?.info()))
    })
}
