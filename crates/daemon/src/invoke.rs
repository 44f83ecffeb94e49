//! `hook/invoke`: from an event to its one decision.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use hooksd_engine::plan::{Input, choose_at_once};
use hooksd_protocol::methods::{InvokeOptions, InvokeResult, ItemBody};
use hooksd_protocol::rpc::{RpcError, error_code};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::daemon::Daemon;
use crate::driven::{Driven, Running};
use crate::fanout::Progress;
use crate::feed::{About, cut};
use crate::held::Held;
use crate::methods::{Work, later, now};
use crate::once::{Delivery, Finisher};
use crate::opening::Target;
use crate::pinned::Pinned;
use crate::run::Run;
use crate::session::Session;
use crate::sessions::open_for_event;

/// A request to run an event.
pub(crate) struct Request {
    pub(crate) input: Input,
    pub(crate) options: InvokeOptions,
    /// SHA-256 of the raw event, to tell a repetition from another event under the same id (D21).
    pub(crate) content: String,
    /// When the request came.
    pub(crate) received: Instant,
    /// What the client has called itself.
    pub(crate) client: Option<Arc<str>>,
    /// Hears of handlers.
    pub(crate) progress: Option<ProgressFor>,
}

/// How a request can end before its answer.
#[derive(Clone)]
pub(crate) struct Interrupts {
    /// The client asked to cancel it.
    pub(crate) cancelled: CancellationToken,
    /// The client has gone.
    pub(crate) gone: CancellationToken,
    /// The room that its line takes, for as long as anything of it runs.
    pub(crate) held: Option<Held>,
}

/// Makes the progress callback of one invocation.
pub(crate) type ProgressFor = Box<dyn FnOnce(Uuid) -> Progress + Send>;

/// Begins what a request asks for. An event of an open session that no handler is for is answered here and now.
///
/// # Errors
/// Why nothing is run.
pub(crate) fn begin(daemon: &Arc<Daemon>, target: Target, request: Request) -> Result<Work, RpcError> {
    let (daemon, deadline) = (daemon.clone(), request.deadline()?);
    match target {
        Target::Open(session) => {
            let run = request.run(daemon, session, deadline, true)?;
            match run.unmatched() {
                Some(plan) => now(run.answer_at_once(plan)),
                None => later(move |interrupts| deliver(run, interrupts)),
            }
        }
        Target::Inline(opening) => later(move |interrupts| async move {
            let session = open_for_event(&daemon, opening).await?;
            let run = request.run(daemon, session, deadline, false)?;
            match run.unmatched() {
                Some(plan) => Ok(run.answer_at_once(plan)),
                None => deliver(run, interrupts).await,
            }
        }),
    }
}

impl Request {
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

    /// The run of its event in a session, against what that is pinned to now.
    fn run(
        self,
        daemon: Arc<Daemon>,
        session: Arc<Session>,
        deadline: Option<Instant>,
        listed: bool,
    ) -> Result<Run, RpcError> {
        let Request { input, options, content, received, client, progress } = self;
        let pinned = session.pinned.load_full();
        check(&daemon, &session, &pinned, &options)?;
        // Without an id of the caller's there is nothing to repeat, and nothing to remember.
        let id = options.invocation_id.as_ref().map_or_else(Uuid::new_v4, |given| given.uuid);
        let progress = progress.map(|progress| progress(id));
        let records = session.transcript.taken();
        let chosen = choose_at_once(pinned.snapshot(), &input);
        Ok(Run {
            daemon,
            session,
            pinned,
            input,
            chosen,
            options,
            content,
            id,
            deadline,
            received,
            client,
            progress,
            records,
            listed,
        })
    }
}

/// Whether the session's events may run against what it is pinned to.
fn check(
    daemon: &Daemon,
    session: &Session,
    pinned: &Pinned,
    options: &InvokeOptions,
) -> Result<(), RpcError> {
    let expected = &pinned.snapshot().id;
    if let Some(got) = options.snapshot_id.as_deref().filter(|id| id != expected) {
        let message = format!("the session is pinned to snapshot {expected}, not {got}; use session/reload");
        return Err(RpcError::new(error_code::SNAPSHOT_MISMATCH, message)
            .with(serde_json::json!({ "expected": expected, "got": got })));
    }
    check_trusted(daemon, pinned).inspect_err(|_| daemon.warm.release(&session.id))
}

/// Runs an event, unless it was delivered before, and waits for its answer.
async fn deliver(run: Run, interrupts: Interrupts) -> Result<Arc<InvokeResult>, RpcError> {
    let (daemon, session, id) = (run.daemon.clone(), &run.session, run.id);
    let outlives_client = run.input.event().is_some_and(|event| event.outlives_client());
    // What must finish is stopped by the end of the drain alone, not by the end of its session (D11).
    let cancel = if outlives_client { &daemon.killing } else { &session.closed }.child_token();
    let given = run.options.invocation_id.as_ref();
    // An inline session ends with its request, so its answers are remembered with those of all of them: under its
    // thread, for nobody else's guard has answered for it.
    let memory = given.map(|_| {
        let snapshot = &run.pinned.snapshot().id;
        if run.listed {
            (session.once.clone(), (snapshot.clone(), id))
        } else {
            (daemon.once.clone(), (format!("{snapshot}\n{}", session.thread_id.raw()), id))
        }
    });
    let delivery = match (&memory, given) {
        (Some((once, key)), Some(given)) => {
            // Spelling counts: a caller that repeats itself does it to the letter.
            once.deliver(key, format!("{}\n{}", given.spelling, run.content), cancel)
        }
        _ => Delivery::only(cancel),
    };
    let mut running: Option<Running> = None;
    let waiter = match delivery {
        Delivery::Repeated(waiter) => waiter,
        Delivery::Conflict => {
            let message = format!("invocation_id {id} was used for another event of this snapshot");
            return Err(RpcError::new(error_code::INVALID_PARAMS, message)
                .with(serde_json::json!({ "field": "invocation_id" })));
        }
        Delivery::First(execution, waiter) => {
            let listed = daemon.underway.list(
                id,
                run.input.event_name(),
                session.id.clone(),
                execution.cancel.clone(),
            );
            let finisher = Finisher::new(execution.clone(), memory);
            let held = interrupts.held.clone();
            running = Some(Box::pin(daemon.events.track_future(async move {
                let (_listed, _held) = (listed, held);
                let (answer, keep) = run.execute(&execution).await;
                finisher.finish(answer, keep);
            })));
            waiter
        }
    };
    let stopping = || {
        RpcError::new(error_code::SHUTTING_DOWN, "the daemon is stopping; the event was cut")
            .with(serde_json::json!({ "cut": true }))
    };
    // Run here, without a task of its own, for as long as somebody waits here.
    let mut run = Driven::new(running);
    let answer = tokio::select! {
        biased;
        never = run.drive() => match never {},
        answer = waiter.answer() => answer.unwrap_or_else(|| Err(stopping())),
        () = interrupts.cancelled.cancelled() => Err(RpcError::new(error_code::CANCELLED, "the request was cancelled")),
        () = interrupts.gone.cancelled() => {
            if outlives_client {
                waiter.leave_running();
            }
            return Err(RpcError::new(error_code::CANCELLED, "the client has gone"));
        }
    };
    match answer {
        Err(error) if error.code == error_code::CANCELLED && daemon.killing.is_cancelled() => Err(stopping()),
        answer => answer,
    }
}

/// Refuses to go on when the project's handlers are loaded but the store trusts them no longer.
pub(crate) fn check_trusted(daemon: &Daemon, pinned: &Pinned) -> Result<(), RpcError> {
    if pinned.still_trusted(&daemon.settings)? {
        return Ok(());
    }
    let root = pinned.root.display().to_string();
    daemon.feed.publish(About::default(), || ItemBody::Trust { trusted: false, root: Some(cut(&root)) });
    let message = format!("{root} is no longer trusted but its hooks are loaded: use session/reload");
    Err(RpcError::new(error_code::UNTRUSTED_WORKSPACE, message).with(serde_json::json!({ "root": root })))
}

/// Runs something that reads files away from the async threads.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RpcError> + Send + 'static,
) -> Result<T, RpcError> {
    let lost = |_| RpcError::new(error_code::INTERNAL_ERROR, "the request was lost inside the daemon");
    tokio::task::spawn_blocking(work).await.map_err(lost)?
}
