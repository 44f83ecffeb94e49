//! `config/check`: diagnostics of a document without loading it.

use std::path::PathBuf;
use std::sync::Arc;

use hooksd_config::check;
use hooksd_protocol::methods::ConfigCheck;
use hooksd_protocol::rpc::{Frame, RpcError};

use super::{Work, later, params};
use crate::daemon::Daemon;
use crate::invoke::blocking;
use crate::session::field_error;

pub(super) fn work(_: &Arc<Daemon>, frame: &Frame<'_>) -> Result<Work, RpcError> {
    let wanted: ConfigCheck = params(frame)?;
    match (wanted.path, wanted.document) {
        (Some(path), None) if path.starts_with('/') => {
            let path = PathBuf::from(path);
            later(move |_| blocking(move || Ok(check::file(&path, wanted.scope))))
        }
        (Some(_), None) => Err(RpcError::invalid_params(&field_error("path", "expected an absolute path"))),
        (None, Some(document)) => {
            later(move |_| blocking(move || Ok(check::text(document.as_bytes(), "document", wanted.scope))))
        }
        _ => Err(RpcError::invalid_params(&field_error("path", "give either path or document"))),
    }
}
