//! Finds the function that serves a request, by the name of its method.

use std::sync::Arc;
use std::time::Instant;

use hooksd_protocol::rpc::{Frame, RpcError, error_code};
use hooksd_protocol::schema;
use hooksd_protocol::seconds::milliseconds;
use tracing::Instrument;

use crate::base::caller::Call;
use crate::base::work::Work;
use crate::rpc::methods::{
    config_check, config_explain, config_show, daemon_reload, daemon_settings, daemon_shutdown, daemon_stats,
    daemon_status, events_subscribe, events_unsubscribe, hook_cancel, hook_invoke, initialize, journal_query,
    legacy_emit, rpc_discover, session_attach, session_close, session_list, session_open, session_reload,
    transcript_append, trust_grant, trust_list, trust_revoke, trust_status,
};
use crate::state::Daemon;

/// Finds the method and reads its params.
///
/// # Errors
/// The error to answer with: unknown method, invalid params, or the daemon is stopping.
pub(crate) fn dispatch(daemon: &Arc<Daemon>, frame: &Frame<'_>, call: &Call<'_>) -> Result<Work, RpcError> {
    // What a request carries is its sender's business: its name and id say which one it is.
    let span = tracing::debug_span!("request", method = %frame.method, connection = call.caller.id);
    let begun = Instant::now();
    let work = span.in_scope(|| find(daemon, frame, call));
    if span.is_disabled() {
        return work;
    }
    match work {
        Ok(Work::Later(future)) => {
            let logged = async move {
                let response = future.await;
                log(response.error, begun);
                response
            };
            Ok(Work::Later(Box::pin(logged.instrument(span))))
        }
        Ok(Work::Now(response)) => {
            span.in_scope(|| log(response.error, begun));
            Ok(Work::Now(response))
        }
        Err(error) => {
            span.in_scope(|| log(Some(error.code), begun));
            Err(error)
        }
    }
}

/// One line for a request that has its response; the span around it names the method.
fn log(error: Option<i64>, begun: Instant) {
    let ms = milliseconds(begun.elapsed());
    match error {
        None => tracing::debug!(ms, "answered"),
        Some(code) => tracing::debug!(ms, code, "answered with an error"),
    }
}

fn find(daemon: &Arc<Daemon>, frame: &Frame<'_>, call: &Call<'_>) -> Result<Work, RpcError> {
    match frame.method.as_ref() {
        "initialize" => initialize::work(frame, call.caller),
        "rpc.discover" => rpc_discover::work(frame),
        "session/open" => session_open::work(daemon, frame, call),
        "session/reload" => session_reload::work(daemon, frame, call),
        "session/attach" => session_attach::work(daemon, frame, call.caller),
        "session/close" => session_close::work(daemon, frame),
        "session/list" => session_list::work(daemon, frame),
        "hook/cancel" => hook_cancel::work(daemon, frame),
        "hook/invoke" => hook_invoke::work(daemon, frame, call),
        "legacy/emit" => legacy_emit::work(daemon, frame, call),
        "config/check" => config_check::work(daemon, frame, call),
        "config/explain" => config_explain::work(daemon, frame, call),
        "config/show" => config_show::work(daemon, frame, call),
        "transcript/append" => transcript_append::work(daemon, frame, call),
        "trust/list" => trust_list::work(daemon, frame, call),
        "trust/status" => trust_status::work(daemon, frame, call),
        "trust/grant" => trust_grant::work(daemon, frame, call),
        "trust/revoke" => trust_revoke::work(daemon, frame, call),
        "events/subscribe" => events_subscribe::work(daemon, frame, call.caller),
        "events/unsubscribe" => events_unsubscribe::work(daemon, frame, call.caller),
        "journal/query" => journal_query::work(daemon, frame, call),
        "daemon/stats" => daemon_stats::work(daemon, frame, call),
        "daemon/status" => daemon_status::work(daemon, frame),
        "daemon/settings" => daemon_settings::work(daemon, frame),
        "daemon/reload" => daemon_reload::work(daemon, frame, call),
        "daemon/shutdown" => daemon_shutdown::work(daemon, frame),
        other => {
            let message = format!("no method {other:?}; known are {}", schema::method_names().join(", "));
            Err(RpcError::new(error_code::METHOD_NOT_FOUND, message))
        }
    }
}
