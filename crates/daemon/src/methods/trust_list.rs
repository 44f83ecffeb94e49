//! `trust/list`: what is trusted for good.

use std::sync::Arc;

use hooksd_config::trust::consent;
use hooksd_protocol::methods::NoParams;
use hooksd_protocol::rpc::{Frame, RpcError};

use super::{Work, later, params};
use crate::daemon::Daemon;
use crate::invoke::blocking;

pub(super) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>) -> Result<Work, RpcError> {
    let _: NoParams = params(frame)?;
    let daemon = daemon.clone();
    later(move |_| blocking(move || Ok(consent::list(&daemon.settings.config_dir))))
}
