//! `daemon/reload`: looks at all documents now, whatever was heard of them.

use std::sync::Arc;

use hooksd_protocol::methods::{NoParams, Reloaded};
use hooksd_protocol::rpc::{Frame, RpcError};

use crate::base::caller::Call;
use crate::base::work::{Work, blocking, later};
use crate::rpc::params::params;
use crate::state::Daemon;

pub(crate) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>, call: &Call<'_>) -> Result<Work, RpcError> {
    let _: NoParams = params(frame)?;
    let daemon = daemon.clone();
    later(
        call,
        blocking(move || {
            Ok(Reloaded {
                changed: daemon.sessions.look_at_documents(&daemon.settings, &daemon.documents, &daemon.warm),
            })
        }),
    )
}
