//! `daemon/reload`: looks at all documents now, whatever was heard of them.

use std::sync::Arc;

use hooksd_protocol::methods::{NoParams, Reloaded};
use hooksd_protocol::rpc::{Frame, RpcError};

use super::{Work, later, params};
use crate::daemon::Daemon;
use crate::invoke::blocking;

pub(super) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>) -> Result<Work, RpcError> {
    let _: NoParams = params(frame)?;
    let daemon = daemon.clone();
    later(move |_| blocking(move || Ok(Reloaded { changed: daemon.reload() })))
}
