//! `hook/invoke`: reads an event in one of its two forms and hands it to [`crate::event::invoke`].

use std::sync::Arc;
use std::time::Instant;

use hooksd_config::Handler;
use hooksd_config::contents::fingerprint;
use hooksd_engine::plan::{Input, PayloadInput};
use hooksd_json::{ReadError, Reading, Value};
use hooksd_protocol::invocation::{Invocation, check_cwd};
use hooksd_protocol::methods::{HookProgress, InvokeOptions};
use hooksd_protocol::rpc::{Frame, RpcError, request_line};
use uuid::Uuid;

use crate::base::caller::Call;
use crate::base::outbox::Outbox;
use crate::base::work::Work;
use crate::event::fanout::Progress;
use crate::event::invoke::{EventRequest, ProgressFor, begin};
use crate::rpc::params::{invalid, refuse_when_stopping};
use crate::state::Daemon;

pub(crate) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>, call: &Call<'_>) -> Result<Work, RpcError> {
    let received = Instant::now();
    refuse_when_stopping(daemon)?;
    let fail = |path: &str, message: &str| ReadError { path: path.to_owned(), message: message.to_owned() };
    let params = frame.params.as_ref().filter(|params| params.is_object());
    let Some(params) = params else {
        return Err(invalid(fail("params", "expected an object with session and invocation or payload")));
    };
    let options = InvokeOptions::of(params).map_err(invalid)?;
    let (input, raw) = event_of(params).map_err(invalid)?;
    let content = options.invocation_id.as_ref().map(|_| fingerprint(raw.as_bytes())).unwrap_or_default();
    let target = daemon.openings.target(params, &daemon.sessions)?;
    let progress: Option<ProgressFor> = options.progress.then(|| {
        let outbox = call.caller.outbox.clone();
        Box::new(move |invocation_id| progress(outbox, invocation_id)) as ProgressFor
    });
    let client = call.caller.peer.client();
    begin(daemon, target, EventRequest { input, options, content, received, client, progress }, call)
}

/// The event, and its raw text.
pub(crate) fn event_of<'a>(params: &Value<'a>) -> Result<(Input, &'a str), ReadError> {
    let fail = |path: &str, message: &str| ReadError { path: path.to_owned(), message: message.to_owned() };
    let given = params.pick(["invocation", "payload"]).map(|value| value.filter(|value| !value.is_null()));
    match given.into() {
        (Some(invocation), None) => {
            let read =
                Invocation::read(&invocation, Reading::Strict).map_err(|error| error.within("invocation"))?;
            check_cwd(&read.context.cwd).map_err(|error| error.within("invocation.context"))?;
            Ok((Input::Invocation(Box::new(read)), invocation.raw()))
        }
        (None, Some(payload)) => {
            let read = PayloadInput::read(&payload).map_err(|error| error.within("payload"))?;
            if let Some(cwd) = &read.cwd {
                check_cwd(cwd).map_err(|error| error.within("payload"))?;
            }
            Ok((Input::Payload(read), payload.raw()))
        }
        (Some(_), Some(_)) => Err(fail("payload", "give either invocation or payload, not both")),
        (None, None) => Err(fail("invocation", "give the event as invocation or as payload")),
    }
}

/// Sends `hook/progress`; drops it when the client does not keep up, rather than hold up a handler.
fn progress(outbox: Outbox, invocation_id: Uuid) -> Progress {
    Arc::new(move |handler: &Handler, ended| {
        let message = handler.status_message.as_deref().unwrap_or_default();
        let notification = HookProgress {
            invocation_id,
            handler_id: handler.id.clone(),
            event: handler.event,
            active: ended.is_none(),
            message: message.trim_matches(hooksd_pattern::chars::is_space).to_owned(),
        };
        if let Ok(line) = request_line(None, "hook/progress", &notification) {
            let _ = outbox.try_send(line);
        }
    })
}
