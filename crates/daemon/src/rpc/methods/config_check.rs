//! `config/check`: diagnostics of a document without loading it.

use std::path::PathBuf;
use std::sync::Arc;

use hooksd_config::check;
use hooksd_json::ReadError;
use hooksd_protocol::methods::ConfigCheck;
use hooksd_protocol::rpc::{Frame, RpcError};

use crate::base::caller::Call;
use crate::base::work::{Work, blocking, later};
use crate::rpc::params::params;
use crate::state::Daemon;

pub(crate) fn work(_: &Arc<Daemon>, frame: &Frame<'_>, call: &Call<'_>) -> Result<Work, RpcError> {
    let wanted: ConfigCheck = params(frame)?;
    match (wanted.path, wanted.document) {
        (Some(path), None) if path.starts_with('/') => {
            let path = PathBuf::from(path);
            later(call, blocking(move || Ok(check::file(&path, wanted.scope))))
        }
        (Some(_), None) => {
            Err(RpcError::invalid_params(&ReadError::new("path", "expected an absolute path")))
        }
        (None, Some(document)) => {
            later(call, blocking(move || Ok(check::text(document.as_bytes(), "document", wanted.scope))))
        }
        _ => Err(RpcError::invalid_params(&ReadError::new("path", "give either path or document"))),
    }
}
