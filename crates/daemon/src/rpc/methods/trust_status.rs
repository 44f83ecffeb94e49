//! `trust/status`: what a project's document would run, and whether it is trusted.

use std::path::Path;
use std::sync::Arc;

use hooksd_config::trust::consent::{self, ConsentError};
use hooksd_json::ReadError;
use hooksd_protocol::invocation::check_cwd;
use hooksd_protocol::methods::{ItemBody, TrustQuery};
use hooksd_protocol::rpc::{Frame, RpcError, error_code};

use crate::base::caller::Call;
use crate::base::work::{Work, blocking, later};
use crate::observe::feed::Feed;
use crate::observe::items::{About, cut};
use crate::rpc::params::params;
use crate::state::Daemon;

pub(crate) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>, call: &Call<'_>) -> Result<Work, RpcError> {
    let wanted: TrustQuery = params(frame)?;
    check_cwd(&wanted.cwd).map_err(|error| RpcError::invalid_params(&error))?;
    let daemon = daemon.clone();
    later(
        call,
        blocking(move || {
            consent::status(&daemon.settings.config_dir, Path::new(&wanted.cwd))
                .map_err(|error| refusal(&error))
        }),
    )
}

/// Why trust was not changed, as an answer.
pub(crate) fn refusal(error: &ConsentError) -> RpcError {
    match error {
        ConsentError::Relative(_) | ConsentError::NoDocument(_) => {
            RpcError::invalid_params(&ReadError::new("cwd", error.to_string()))
        }
        ConsentError::OtherBytes { expected, got, .. } => {
            RpcError::new(error_code::INVALID_PARAMS, format!("fingerprint: {error}"))
                .with(serde_json::json!({ "field": "fingerprint", "expected": expected, "got": got }))
        }
        ConsentError::Store(_) => RpcError::new(error_code::TRUST_NOT_SAVED, error.to_string()),
    }
}

/// Tells that trust in a project has changed.
pub(crate) fn tell(feed: &Feed, root: &str, trusted: bool) {
    feed.publish(About::default(), || ItemBody::Trust { trusted, root: Some(cut(root)) });
}
