//! What all methods share: how params are read, and how requests are refused.

use hooksd_json::{Dialect, ReadError, Reading, Value, read};
use hooksd_protocol::rpc::{Frame, RpcError, error_code};
use serde::de::DeserializeOwned;

use crate::state::Daemon;

/// Reads the params of a method, by name; absent ones are `{}`.
pub(super) fn params<T: DeserializeOwned>(frame: &Frame<'_>) -> Result<T, RpcError> {
    let empty = Value::parse("{}", Dialect::Strict).ok();
    match frame.params.clone().filter(|params| !params.is_null()).or(empty) {
        Some(params) if !params.is_object() => {
            let message = format!("expected an object, got {}", params.kind().noun());
            Err(RpcError::invalid_params(&ReadError { path: "params".to_owned(), message }))
        }
        Some(params) => read(&params, Reading::Strict).map_err(|error| RpcError::invalid_params(&error)),
        None => Err(RpcError::new(error_code::INTERNAL_ERROR, "empty params could not be read")),
    }
}

/// New work is refused while the daemon stops.
pub(super) fn refuse_when_stopping(daemon: &Daemon) -> Result<(), RpcError> {
    if daemon.stop.stopping.is_cancelled() {
        return Err(RpcError::new(
            error_code::SHUTTING_DOWN,
            "the daemon is stopping; connect again in a moment",
        ));
    }
    Ok(())
}

/// The error -32602 that names the wrong field.
pub(super) fn invalid(error: ReadError) -> RpcError {
    RpcError::invalid_params(&error)
}
