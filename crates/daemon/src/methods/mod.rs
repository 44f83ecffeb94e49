//! The methods, one file each: params to work.

mod config_check;
mod config_explain;
mod config_show;
mod daemon_reload;
mod daemon_settings;
mod daemon_shutdown;
mod daemon_stats;
mod daemon_status;
mod events_subscribe;
mod events_unsubscribe;
mod hook_cancel;
mod hook_invoke;
mod initialize;
mod journal_query;
mod legacy_emit;
mod rpc_discover;
mod session_attach;
mod session_close;
mod session_list;
mod session_open;
mod session_reload;
mod transcript_append;
mod trust_grant;
mod trust_list;
mod trust_revoke;
mod trust_status;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use hooksd_json::{Dialect, RawJson, ReadError, Reading, Value, read};
use hooksd_protocol::rpc::{Frame, RpcError, error_code, response_line};
use hooksd_protocol::schema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tracing::Instrument;

use crate::connection::Caller;
use crate::daemon::Daemon;
use crate::invoke::Interrupts;

/// Makes the answer's line for an id.
pub(crate) type Answer = Box<dyn FnOnce(&RawJson) -> String + Send>;

/// Work that takes time.
pub(crate) type Later = Box<dyn FnOnce(Interrupts) -> Pin<Box<dyn Future<Output = Answer> + Send>> + Send>;

/// What a request comes to.
pub(crate) enum Work {
    /// An answer that is there.
    Now(Answer),
    /// Work that takes time.
    Later(Later),
}

/// Finds the method and reads its params.
///
/// # Errors
/// The error to answer with: unknown method, invalid params, or the daemon is stopping.
pub(crate) fn dispatch(daemon: &Arc<Daemon>, frame: &Frame<'_>, caller: &Caller) -> Result<Work, RpcError> {
    // What a request carries is its sender's business: its name and id say which one it is.
    let span = tracing::debug_span!("request", method = %frame.method, connection = caller.id);
    let work = span.in_scope(|| find(daemon, frame, caller));
    match work {
        Ok(Work::Later(later)) if !span.is_disabled() => Ok(Work::Later(Box::new(move |interrupts| {
            let future = span.in_scope(|| later(interrupts));
            Box::pin(future.instrument(span))
        }))),
        work => work,
    }
}

fn find(daemon: &Arc<Daemon>, frame: &Frame<'_>, caller: &Caller) -> Result<Work, RpcError> {
    match frame.method.as_ref() {
        "initialize" => initialize::work(frame, caller),
        "rpc.discover" => rpc_discover::work(frame),
        "session/open" => session_open::work(daemon, frame, caller),
        "session/reload" => session_reload::work(daemon, frame),
        "session/attach" => session_attach::work(daemon, frame, caller),
        "session/close" => session_close::work(daemon, frame),
        "session/list" => session_list::work(daemon, frame),
        "hook/cancel" => hook_cancel::work(daemon, frame),
        "hook/invoke" => hook_invoke::work(daemon, frame, caller),
        "legacy/emit" => legacy_emit::work(daemon, frame),
        "config/check" => config_check::work(daemon, frame),
        "config/explain" => config_explain::work(daemon, frame),
        "config/show" => config_show::work(daemon, frame),
        "transcript/append" => transcript_append::work(daemon, frame),
        "trust/list" => trust_list::work(daemon, frame),
        "trust/status" => trust_status::work(daemon, frame),
        "trust/grant" => trust_grant::work(daemon, frame),
        "trust/revoke" => trust_revoke::work(daemon, frame),
        "events/subscribe" => events_subscribe::work(daemon, frame, caller),
        "events/unsubscribe" => events_unsubscribe::work(daemon, frame, caller),
        "journal/query" => journal_query::work(daemon, frame),
        "daemon/stats" => daemon_stats::work(daemon, frame),
        "daemon/status" => daemon_status::work(daemon, frame),
        "daemon/settings" => daemon_settings::work(daemon, frame),
        "daemon/reload" => daemon_reload::work(daemon, frame),
        "daemon/shutdown" => daemon_shutdown::work(daemon, frame),
        other => {
            let message = format!("no method {other:?}; known are {}", schema::method_names().join(", "));
            Err(RpcError::new(error_code::METHOD_NOT_FOUND, message))
        }
    }
}

/// Reads the params of a method, by name; absent ones are `{}`.
fn params<T: DeserializeOwned>(frame: &Frame<'_>) -> Result<T, RpcError> {
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

fn answer<T: Serialize + Send + 'static>(result: Result<T, RpcError>) -> Answer {
    Box::new(move |id| response_line(id, result.as_ref()))
}

pub(crate) fn now<T: Serialize + Send + 'static>(result: T) -> Result<Work, RpcError> {
    Ok(Work::Now(answer(Ok(result))))
}

pub(crate) fn later<T, F>(work: impl FnOnce(Interrupts) -> F + Send + 'static) -> Result<Work, RpcError>
where
    T: Serialize + Send + 'static,
    F: Future<Output = Result<T, RpcError>> + Send + 'static,
{
    Ok(Work::Later(Box::new(|interrupts| {
        let held = interrupts.held.clone();
        Box::pin(async move {
            let _held = held;
            answer(work(interrupts).await)
        })
    })))
}

/// New work is refused while the daemon stops.
fn refuse_when_stopping(daemon: &Daemon) -> Result<(), RpcError> {
    if daemon.stopping.is_cancelled() {
        return Err(RpcError::new(
            error_code::SHUTTING_DOWN,
            "the daemon is stopping; connect again in a moment",
        ));
    }
    Ok(())
}

/// Invalid params.
fn invalid(error: ReadError) -> RpcError {
    RpcError::invalid_params(&error)
}
