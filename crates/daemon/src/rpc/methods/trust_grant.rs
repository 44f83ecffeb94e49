//! `trust/grant`: trusts a project's document for good, if it still has the bytes that were looked at (D13).

use std::path::Path;
use std::sync::Arc;

use hooksd_config::trust::consent;
use hooksd_protocol::invocation::check_cwd;
use hooksd_protocol::methods::TrustGrant;
use hooksd_protocol::rpc::{Frame, RpcError};

use crate::base::caller::Call;
use crate::base::work::{Work, blocking, later};
use crate::rpc::methods::trust_status::{refusal, tell};
use crate::rpc::params::params;
use crate::state::Daemon;

pub(crate) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>, call: &Call<'_>) -> Result<Work, RpcError> {
    let wanted: TrustGrant = params(frame)?;
    check_cwd(&wanted.cwd).map_err(|error| RpcError::invalid_params(&error))?;
    let daemon = daemon.clone();
    later(
        call,
        blocking(move || {
            let changed =
                consent::grant(&daemon.settings.config_dir, Path::new(&wanted.cwd), &wanted.fingerprint)
                    .map_err(|error| refusal(&error))?;
            tell(&daemon.feed, &changed.status.root, changed.status.trusted);
            Ok(changed)
        }),
    )
}
