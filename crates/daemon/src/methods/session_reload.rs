//! `session/reload`: moves a session to the documents as they are now.

use std::sync::Arc;

use hooksd_protocol::methods::SessionReload;
use hooksd_protocol::rpc::{Frame, RpcError};

use super::{Work, later, params};
use crate::daemon::Daemon;
use crate::invoke::blocking;

pub(super) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>) -> Result<Work, RpcError> {
    let reload: SessionReload = params(frame)?;
    let daemon = daemon.clone();
    later(move |_| {
        blocking(move || {
            let session = daemon.sessions.reload(&daemon.settings, &daemon.documents, reload)?;
            // Even when no document has changed: a script may have.
            daemon.warm.release(&session.id);
            Ok(session.info())
        })
    })
}
