//! `trust/status`: what a project's document would run, and whether it is trusted.

use std::path::Path;
use std::sync::Arc;

use hooksd_config::trust::consent::{self, ConsentError};
use hooksd_protocol::invocation::check_cwd;
use hooksd_protocol::methods::{ItemBody, TrustQuery};
use hooksd_protocol::rpc::{Frame, RpcError, error_code};

use super::{Work, later, params};
use crate::daemon::Daemon;
use crate::feed::{About, Feed, cut};
use crate::invoke::blocking;
use crate::session::field_error;

pub(super) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>) -> Result<Work, RpcError> {
    let wanted: TrustQuery = params(frame)?;
    check_cwd(&wanted.cwd).map_err(|error| RpcError::invalid_params(&error))?;
    let daemon = daemon.clone();
    later(move |_| {
        blocking(move || {
            consent::status(&daemon.settings.config_dir, Path::new(&wanted.cwd))
                .map_err(|error| refusal(&error))
        })
    })
}

/// Why trust was not changed, as an answer.
pub(super) fn refusal(error: &ConsentError) -> RpcError {
    match error {
        ConsentError::Relative(_) | ConsentError::NoDocument(_) => {
            RpcError::invalid_params(&field_error("cwd", &error.to_string()))
        }
        ConsentError::OtherBytes { expected, got, .. } => {
            RpcError::new(error_code::INVALID_PARAMS, format!("fingerprint: {error}"))
                .with(serde_json::json!({ "field": "fingerprint", "expected": expected, "got": got }))
        }
        ConsentError::Store(_) => RpcError::new(error_code::TRUST_NOT_SAVED, error.to_string()),
    }
}

/// Tells that trust in a project has changed.
pub(super) fn tell(feed: &Feed, root: &str, trusted: bool) {
    feed.publish(About::default(), || ItemBody::Trust { trusted, root: Some(cut(root)) });
}
