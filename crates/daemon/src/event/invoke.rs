//! `hook/invoke`: from an event to its one answer, exactly once.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use hooksd_engine::plan::{Input, choose_at_once};
use hooksd_protocol::methods::{InvokeOptions, InvokeResult};
use hooksd_protocol::rpc::{RpcError, error_code};
use uuid::Uuid;

use crate::base::budget::RequestPermit;
use crate::base::caller::{Call, Interruption, Interrupts};
use crate::base::work::{Work, later, now};
use crate::event::fanout::Progress;
use crate::event::inline_task::InlineTask;
use crate::event::run::EventRun;
use crate::sessions::context::{EventContext, cwd_of, tool_of};
use crate::sessions::delivery::{Delivery, lost};
use crate::sessions::inline::SessionTarget;
use crate::sessions::registry::open_for_event;
use crate::sessions::resolved::ResolvedConfig;
use crate::sessions::session::Session;
use crate::state::Daemon;

/// A request to run an event, as `hook/invoke` has read it.
pub(crate) struct EventRequest {
    /// The event.
    pub(crate) input: Input,
    /// What the client has said beside it.
    pub(crate) options: InvokeOptions,
    /// SHA-256 of the raw event, to tell a repetition from another event under the same id (D21); empty without an id.
    pub(crate) content: String,
    /// When the request was read.
    pub(crate) received: Instant,
    /// What the client has called itself.
    pub(crate) client: Option<Arc<str>>,
    /// Tells the client of handlers while they run, if it asked for that.
    pub(crate) progress: Option<ProgressFor>,
}

/// Makes the progress callback of one invocation.
pub(crate) type ProgressFor = Box<dyn FnOnce(Uuid) -> Progress + Send>;

/// Begins what a request asks for. An event of an open session that no handler is for is answered here and now.
///
/// # Errors
/// Why nothing is run.
pub(crate) fn begin(
    daemon: &Arc<Daemon>,
    target: SessionTarget,
    request: EventRequest,
    call: &Call<'_>,
) -> Result<Work, RpcError> {
    let deadline = request.deadline()?;
    match target {
        SessionTarget::Open(session) => {
            let run = request.run(daemon.clone(), session, deadline, true)?;
            match run.unmatched() {
                Some(plan) => now(run.answer_at_once(plan)),
                None => later(call, deliver(run, call.interrupts(), call.permit())),
            }
        }
        SessionTarget::Inline(opening) => {
            let (daemon, interrupts, permit) = (daemon.clone(), call.interrupts(), call.permit());
            later(call, async move {
                let Daemon { settings, documents, .. } = &*daemon;
                let session = open_for_event(settings, documents, opening, &daemon.stop.killing).await?;
                let run = request.run(daemon.clone(), session, deadline, false)?;
                match run.unmatched() {
                    Some(plan) => Ok(run.answer_at_once(plan)),
                    None => deliver(run, interrupts, permit).await,
                }
            })
        }
    }
}

impl EventRequest {
    /// When the answer must be there.
    fn deadline(&self) -> Result<Option<Instant>, RpcError> {
        let Some(deadline) = self.options.deadline else { return Ok(None) };
        match deadline.remaining(SystemTime::now()) {
            Some(left) => Ok(self.received.checked_add(left)),
            None => {
                let message = format!("the deadline {deadline} is past; nothing was run");
                Err(RpcError::new(error_code::DEADLINE_PASSED, message))
            }
        }
    }

    /// The run of the event in a session, against what that is pinned to now.
    fn run(
        self,
        daemon: Arc<Daemon>,
        session: Arc<Session>,
        deadline: Option<Instant>,
        is_open_session: bool,
    ) -> Result<EventRun, RpcError> {
        let EventRequest { input, options, content, received, client, progress } = self;
        let config = session.config.load_full();
        check(&daemon, &session, &config, &options)?;
        // Without an id of the caller's there is nothing to repeat, and nothing to remember.
        let id = options.invocation_id.as_ref().map_or_else(Uuid::new_v4, |given| given.uuid);
        let progress = progress.map(|progress| progress(id));
        let chosen = choose_at_once(config.snapshot(), &input);
        let context = Arc::new(EventContext {
            id,
            event: input.event_name(),
            tool: tool_of(&input),
            cwd: cwd_of(&input, &config),
            client,
            agent: options.agent.as_ref().map(|agent| agent.name.clone()),
            received,
            deadline,
            appended_before: session.transcript.taken(),
            is_open_session,
            session,
            config,
        });
        Ok(EventRun { daemon, context, input, chosen, options, content, progress })
    }
}

/// Waits until a deadline; for ever without one.
async fn passed(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}

/// Whether the session's events may run against what it is pinned to.
fn check(
    daemon: &Daemon,
    session: &Session,
    config: &ResolvedConfig,
    options: &InvokeOptions,
) -> Result<(), RpcError> {
    let expected = &config.snapshot().id;
    if let Some(got) = options.snapshot_id.as_deref().filter(|id| id != expected) {
        let message = format!("the session is pinned to snapshot {expected}, not {got}; use session/reload");
        return Err(RpcError::new(error_code::SNAPSHOT_MISMATCH, message)
            .with(serde_json::json!({ "expected": expected, "got": got })));
    }
    config.require_trust(&daemon.settings, &daemon.feed).inspect_err(|_| daemon.warm.release(&session.id))
}

/// Runs an event, or waits for the answer of the delivery that does.
async fn deliver(
    run: EventRun,
    interrupts: Interrupts,
    permit: Option<RequestPermit>,
) -> Result<Arc<InvokeResult>, RpcError> {
    let (daemon, context) = (run.daemon.clone(), run.context.clone());
    let outlives_client = run.input.event().is_some_and(|event| event.outlives_client());
    // What must finish is stopped by the end of the drain alone, not by the end of its session (D11).
    let cancel = if outlives_client { &daemon.stop.killing } else { &context.session.closed }.child_token();
    let delivery = match run.options.invocation_id.as_ref() {
        None => Delivery::only(cancel.clone()),
        Some(given) => {
            let snapshot = &context.config.snapshot().id;
            // A session of one event ends with its request, so its answers are remembered with those of all of them:
            // under its thread, for nobody else's guard has answered for it.
            let (cache, scope) = if context.is_open_session {
                (&context.session.deliveries, snapshot.clone())
            } else {
                (&daemon.deliveries, format!("{snapshot}\n{}", context.session.thread_id.raw()))
            };
            // Spelling counts: a caller that repeats itself does it to the letter.
            cache.deliver((scope, context.id), format!("{}\n{}", given.spelling, run.content), &cancel)
        }
    };
    let (answer, interest) = match delivery {
        Delivery::Conflict => {
            let message = format!("invocation_id {} was used for another event of this snapshot", context.id);
            return Err(RpcError::new(error_code::INVALID_PARAMS, message)
                .with(serde_json::json!({ "field": "invocation_id" })));
        }
        Delivery::Repeated(repetition) => {
            let answer = tokio::select! {
                biased;
                answer = repetition.answer() => Ok(answer),
                () = passed(context.deadline) => {
                    let message = "the deadline has passed before the first delivery had its answer";
                    return Err(RpcError::new(error_code::DEADLINE_PASSED, message));
                }
                end = interrupts.interrupted() => Err(end),
            };
            (answer, repetition.interest)
        }
        Delivery::First(interest, publisher) => {
            let registered = daemon.running.register(
                context.id,
                context.event.clone(),
                context.session.id.clone(),
                cancel.clone(),
            );
            let mut task = InlineTask::new(Box::pin(daemon.events.track_future(async move {
                let _until_the_end = (registered, permit);
                let (answer, keep) = run.execute(&cancel).await;
                publisher.publish(&answer, keep);
                answer
            })));
            // Run here, without a task of its own, for as long as somebody waits here.
            let answer = tokio::select! {
                biased;
                answer = task.drive() => Ok(answer.unwrap_or_else(|_| Err(lost()))),
                end = interrupts.interrupted() => Err(end),
            };
            (answer, interest)
        }
    };
    match answer {
        Ok(answer) => {
            interest.satisfied();
            answer
        }
        Err(Interruption::Cancelled) => {
            Err(RpcError::new(error_code::CANCELLED, "the request was cancelled"))
        }
        Err(Interruption::ClientGone) => {
            if outlives_client {
                interest.leave_running();
            }
            return Err(RpcError::new(error_code::CANCELLED, "the client has gone"));
        }
    }
    .map_err(|error| match error.code {
        error_code::CANCELLED if daemon.stop.killing.is_cancelled() => {
            RpcError::new(error_code::SHUTTING_DOWN, "the daemon is stopping; the event was cut")
                .with(serde_json::json!({ "cut": true }))
        }
        _ => error,
    })
}
