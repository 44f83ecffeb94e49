//! `trust/revoke`: trusts a project no longer. Sessions that run its handlers by the store notice at their next event.

use std::path::Path;
use std::sync::Arc;

use hooksd_config::trust::consent;
use hooksd_protocol::invocation::check_cwd;
use hooksd_protocol::methods::TrustQuery;
use hooksd_protocol::rpc::{Frame, RpcError};

use super::trust_status::{refusal, tell};
use super::{Work, later, params};
use crate::daemon::Daemon;
use crate::invoke::blocking;

pub(super) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>) -> Result<Work, RpcError> {
    let wanted: TrustQuery = params(frame)?;
    check_cwd(&wanted.cwd).map_err(|error| RpcError::invalid_params(&error))?;
    let daemon = daemon.clone();
    later(move |_| {
        blocking(move || {
            let changed = consent::revoke(&daemon.settings.config_dir, Path::new(&wanted.cwd))
                .map_err(|error| refusal(&error))?;
            tell(&daemon.feed, &changed.status.root, changed.status.trusted);
            Ok(changed)
        })
    })
}
