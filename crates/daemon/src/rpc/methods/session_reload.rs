//! `session/reload`: moves a session to the documents as they are now.

use std::sync::Arc;

use hooksd_protocol::methods::SessionReload;
use hooksd_protocol::rpc::{Frame, RpcError};

use crate::base::caller::Call;
use crate::base::work::{Work, blocking, later};
use crate::rpc::params::params;
use crate::state::Daemon;

pub(crate) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>, call: &Call<'_>) -> Result<Work, RpcError> {
    let reload: SessionReload = params(frame)?;
    let daemon = daemon.clone();
    later(
        call,
        blocking(move || {
            let session = daemon.sessions.reload(&daemon.settings, &daemon.documents, reload)?;
            // Even when no document has changed: a script may have.
            daemon.warm.release(&session.id);
            Ok(session.info())
        }),
    )
}
