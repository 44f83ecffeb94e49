//! `hook/invoke`: from an event to its one decision.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use hooksd_config::Lifecycle;
use hooksd_engine::outcome::End;
use hooksd_engine::plan::{Input, Plan, plan};
use hooksd_engine::projection::Transcripts;
use hooksd_engine::reduce::{Ran, reduce_and_say_why};
use hooksd_protocol::decision::{Body, Decision};
use hooksd_protocol::diagnostic::{Diagnostic, Severity, code};
use hooksd_protocol::invocation::Event;
use hooksd_protocol::methods::{HandlerReport, InvokeOptions, InvokeResult, ItemBody, ProtocolVersion};
use hooksd_protocol::rpc::{RpcError, error_code};
use hooksd_runner::warm::Variables;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::account::{Account, Ended, report};
use crate::daemon::Daemon;
use crate::driven::{Driven, Running};
use crate::fanout::{Progress, Surroundings, fan_out};
use crate::feed::{About, cut, milliseconds};
use crate::held::Held;
use crate::legacy;
use crate::lifecycle::{Handled, Warmth};
use crate::once::{Answer, Delivery, Execution, Finisher};
use crate::opening::Target;
use crate::pinned::{MAX_DEPTH, Pinned};
use crate::session::Session;
use crate::sessions::open_for_event;
use crate::transcripts;

/// A request to run an event.
pub(crate) struct Request {
    pub(crate) target: Target,
    pub(crate) input: Input,
    pub(crate) options: InvokeOptions,
    /// SHA-256 of the raw event, to tell a repetition from another event under the same id (D21).
    pub(crate) content: String,
    /// When the request came.
    pub(crate) received: Instant,
    /// What the client has called itself.
    pub(crate) client: Option<Arc<str>>,
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

/// Answers a request.
pub(crate) async fn invoke(
    daemon: Arc<Daemon>,
    request: Request,
    interrupts: Interrupts,
    progress: Option<ProgressFor>,
) -> Result<Arc<InvokeResult>, RpcError> {
    let deadline = match request.options.deadline {
        None => None,
        Some(deadline) => match deadline.remaining(SystemTime::now()) {
            Some(left) => request.received.checked_add(left),
            None => {
                let message = format!("the deadline {deadline} is past; nothing was run");
                return Err(RpcError::new(error_code::DEADLINE_PASSED, message));
            }
        },
    };
    let listed = matches!(request.target, Target::Open(_));
    let session = match request.target {
        Target::Open(session) => session,
        Target::Inline(opening) => open_for_event(&daemon, opening).await?,
    };
    let pinned = session.pinned.load_full();
    if let Some(got) = request.options.snapshot_id.as_deref().filter(|id| *id != pinned.snapshot().id) {
        let expected = &pinned.snapshot().id;
        let message = format!("the session is pinned to snapshot {expected}, not {got}; use session/reload");
        return Err(RpcError::new(error_code::SNAPSHOT_MISMATCH, message)
            .with(serde_json::json!({ "expected": expected, "got": got })));
    }
    if let Err(error) = check_trusted(&daemon, &pinned) {
        daemon.warm.release(&session.id);
        return Err(error);
    }
    let cwd = match request.input.cwd() {
        Some(cwd) => PathBuf::from(cwd),
        None => pinned.view.cwd.clone(),
    };
    let outlives_client = request.input.event().is_some_and(|event| event.outlives_client());
    // What must finish is stopped by the end of the drain alone, not by the end of its session (D11).
    let cancel = if outlives_client { &daemon.killing } else { &session.closed }.child_token();
    // Without an id of the caller's there is nothing to repeat, and nothing to remember.
    let given = request.options.invocation_id.as_ref();
    let id = given.map_or_else(Uuid::new_v4, |given| given.uuid);
    // An inline session ends with its request, so its answers are remembered with those of all of them: under its
    // thread, for nobody else's guard has answered for it.
    let memory = given.map(|_| {
        let snapshot = &pinned.snapshot().id;
        if listed {
            (session.once.clone(), (snapshot.clone(), id))
        } else {
            (daemon.once.clone(), (format!("{snapshot}\n{}", session.thread_id.raw()), id))
        }
    });
    let delivery = match (&memory, given) {
        (Some((once, key)), Some(given)) => {
            // Spelling counts: a caller that repeats itself does it to the letter.
            once.deliver(key, format!("{}\n{}", given.spelling, request.content), cancel)
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
            let progress = progress.map(|progress| progress(id));
            let records = session.transcript.taken();
            let run = Run {
                daemon: daemon.clone(),
                session,
                pinned,
                input: request.input,
                options: request.options,
                id,
                cwd,
                deadline,
                received: request.received,
                client: request.client,
                progress,
                records,
                listed,
            };
            let listed =
                daemon.underway.list(id, run.input.event_name(), &run.session.id, execution.cancel.clone());
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

/// Everything one run of an event needs.
struct Run {
    daemon: Arc<Daemon>,
    session: Arc<Session>,
    pinned: Arc<Pinned>,
    input: Input,
    options: InvokeOptions,
    id: Uuid,
    cwd: PathBuf,
    deadline: Option<Instant>,
    received: Instant,
    client: Option<Arc<str>>,
    progress: Option<Progress>,
    /// How many appends to transcripts came before the event: handlers see those.
    records: u64,
    /// Whether the session is an open one, and not for this event only.
    listed: bool,
}

impl Run {
    /// Runs the event. The flag says whether the answer is worth repeating to a second delivery.
    async fn execute(self, execution: &Execution) -> (Answer, bool) {
        self.account().received();
        let mut ended = Ended::default();
        let (answer, keep) = self.decide(execution, &mut ended).await;
        self.account().finished(ended, &answer);
        (answer, keep)
    }

    fn account(&self) -> Account<'_> {
        let Run { daemon, session, pinned, input, id, cwd, received, client, .. } = self;
        let (id, received, client) = (*id, *received, client.as_ref());
        let agent = self.options.agent.as_ref().map(|agent| agent.name.as_str());
        Account { daemon, session, pinned, input, id, cwd, received, client, agent }
    }

    async fn decide(&self, execution: &Execution, ended: &mut Ended) -> (Answer, bool) {
        let _running = self.session.begin_event();
        #[cfg(feature = "failpoints")]
        fail::fail_point!("event");
        if self.pinned.depth() >= MAX_DEPTH {
            let message =
                format!("hooks that start agents that have hooks end at depth {MAX_DEPTH}; no handler ran");
            return self.without_handlers(Diagnostic::warning(code::RECURSION_LIMIT, message));
        }
        // Before anything that takes time: a flood of one session's events is not matched ahead of another's few.
        let (lane, depth) = (self.session.id.as_str().into(), self.pinned.depth());
        let _turn = self.daemon.runner.turn(&lane, depth, self.deadline, &execution.cancel).await;
        if execution.cancel.is_cancelled() {
            self.log_cancelled(&[]);
            return (Err(RpcError::new(error_code::CANCELLED, "the event was cancelled")), false);
        }
        let plan = match self.plan(&execution.cancel).await {
            Ok(Some(plan)) => legacy::without_derived(plan, &self.session),
            Ok(None) => {
                let name = self.input.event_name();
                let message = format!("{name} is no event of hooksd; nothing can be configured for it");
                let diagnostic = Diagnostic::warning(code::UNKNOWN_EVENT, message).severity(Severity::Debug);
                return self.without_handlers(diagnostic);
            }
            Err(error) => return (Err(error), false),
        };
        let handled = self.fan_out(&plan, execution).await;
        if execution.cancel.is_cancelled() {
            let was_killed = |handled: &Handled| {
                handled.outcome.as_ref().is_some_and(|outcome| outcome.end == End::Cancelled)
            };
            let killed = plan.selected.iter().zip(&handled).filter(|(_, handled)| was_killed(handled));
            let killed: Vec<&str> = killed.map(|(selected, _)| selected.handler.id.as_str()).collect();
            self.log_cancelled(&killed);
            *ended = Ended { selected: plan.selected, handled, verdict: None };
            return (Err(RpcError::new(error_code::CANCELLED, "the event was cancelled")), false);
        }
        let ran: Vec<Ran<'_>> = plan
            .selected
            .iter()
            .zip(&handled)
            .map(|(selected, handled)| (&selected.handler, handled.outcome.as_ref()))
            .collect();
        let (mut decision, statuses, verdict) =
            reduce_and_say_why(&plan.facts, &self.session.accepts, plan.diagnostics.clone(), &ran);
        let failed_before =
            plan.diagnostics.iter().any(|diagnostic| diagnostic.code == code::PROJECTION_FAILED);
        decision.diagnostics.extend(handled.iter().flat_map(|handled| handled.remarks.clone()));
        let behind = self.options.agent.as_ref().map(|agent| agent.not_enforced(&decision));
        decision.diagnostics.extend(behind.unwrap_or_default());
        let reports = ran.iter().zip(statuses).zip(&handled);
        let handlers = reports
            .map(|(((handler, outcome), status), handled)| report(handler, *outcome, status, handled.warm));
        let handlers = handlers.collect();
        *ended = Ended { selected: plan.selected, handled, verdict: Some(verdict) };
        (Ok(Arc::new(self.result(decision, handlers))), !failed_before)
    }

    /// An expression may take a tenth of a second to reach its bound: not on an async thread (D7).
    async fn plan(&self, cancel: &CancellationToken) -> Result<Option<Plan>, RpcError> {
        self.session.transcript.wait_for(self.records).await;
        let transcripts = self.transcripts();
        if !self.input.event().is_some_and(|event| self.pinned.snapshot().has_expressions(event)) {
            return Ok(plan(self.pinned.snapshot(), &self.input, &transcripts, &|| false));
        }
        let (pinned, input) = (self.pinned.clone(), self.input.clone());
        let (cancel, deadline) = (cancel.clone(), self.deadline);
        let late =
            move || cancel.is_cancelled() || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        blocking(move || Ok(plan(pinned.snapshot(), &input, &transcripts, &late))).await
    }

    fn without_handlers(&self, diagnostic: Diagnostic) -> (Answer, bool) {
        let mut decision = match self.input.event() {
            Some(event) => Decision::neutral(event),
            None => Decision {
                event: self.input.event_name().to_owned(),
                continue_processing: true,
                stop_reason: None,
                user_notices: Vec::new(),
                terminal_sequences: Vec::new(),
                diagnostics: Vec::new(),
                body: Body::Plain {},
                accepted: std::collections::BTreeMap::new(),
            },
        };
        decision.diagnostics.push(diagnostic);
        (Ok(Arc::new(self.result(decision, Vec::new()))), true)
    }

    fn result(&self, decision: Decision, handlers: Vec<HandlerReport>) -> InvokeResult {
        self.daemon.count_event();
        InvokeResult {
            protocol_version: ProtocolVersion,
            invocation_id: self.id,
            snapshot_id: self.pinned.snapshot().id.clone(),
            decision,
            handlers,
            duration_ms: milliseconds(self.received.elapsed()),
        }
    }

    async fn fan_out(&self, plan: &Plan, execution: &Execution) -> Vec<Handled> {
        if plan.selected.is_empty() {
            return Vec::new();
        }
        let warm = plan.selected.iter().any(|selected| selected.handler.lifecycle != Lifecycle::PerEvent);
        let surroundings = Surroundings { warmth: warm.then(|| self.warmth()), ..self.surroundings() };
        fan_out(
            &self.daemon.runner,
            plan,
            &surroundings,
            &execution.cancel,
            self.account().progress(self.progress.clone()),
        )
        .await
    }

    /// What is started ahead knows of no event, and what stays knows of no session either: sessions with the same
    /// environment share it.
    fn warmth(&self) -> Warmth {
        let session = if self.listed { self.session.id.clone() } else { String::new() };
        if self.listed {
            self.session.release_when_closed(&self.daemon);
        }
        let (pinned, daemon) = (self.pinned.clone(), self.daemon.clone());
        let environment = move || {
            let lifecycle = Lifecycle::Prewarmed;
            Variables::new(pinned.handler_environment(&daemon.settings, &session, "", lifecycle))
        };
        Warmth {
            warm: self.daemon.warm.clone(),
            owner: self.listed.then(|| self.session.id.as_str().into()),
            snapshot: self.pinned.snapshot().id.as_str().into(),
            root: self.pinned.root.clone(),
            persistent: self.pinned.persistent_variables(&self.daemon.settings),
            prewarmed: Arc::new(environment),
        }
    }

    fn surroundings(&self) -> Surroundings {
        let settings = &self.daemon.settings;
        let (session, invocation) = (&self.session.id, self.id.to_string());
        let env = self.pinned.handler_environment(settings, session, &invocation, Lifecycle::PerEvent);
        let mut fallback_cwds = vec![self.pinned.root.clone()];
        fallback_cwds.extend(settings.home.clone());
        Surroundings {
            fallback_cwds,
            deadline: self.deadline,
            umask: self.session.umask,
            rlimits: self.session.rlimits.clone(),
            lane: self.session.id.as_str().into(),
            depth: self.pinned.depth(),
            killing: self.daemon.killing.clone(),
            ..Surroundings::new(self.cwd.clone(), env)
        }
    }

    /// The transcripts the client names; else the daemon's own, of which the session's may not exist yet. A payload
    /// that is passed on names them itself.
    fn transcripts(&self) -> Transcripts {
        let Input::Invocation(invocation) = &self.input else {
            return Transcripts { session: String::new(), agent: None };
        };
        let config_dir = &self.daemon.settings.config_dir;
        let of_agent = || match &invocation.event {
            Event::SubagentStop(event) => {
                let (thread, agent) = (self.session.thread_id.decoded(), event.agent.id.decoded());
                let path = transcripts::path(config_dir, &thread, Some(&agent));
                path.is_file().then(|| path.display().to_string())
            }
            _ => None,
        };
        let of_session = || self.session.own_transcript(config_dir).to_owned();
        Transcripts {
            session: self.options.transcript_path.clone().unwrap_or_else(of_session),
            agent: self.options.agent_transcript_path.clone().or_else(of_agent),
        }
    }

    /// Names what was killed (D11): loudly what the end of the drain has cut.
    fn log_cancelled(&self, handlers: &[&str]) {
        let (session, invocation, event) = (&self.session.id, self.id, self.input.event_name());
        if self.daemon.killing.is_cancelled() {
            tracing::warn!(%session, %invocation, event, ?handlers, "the daemon stops: event cut, handlers killed");
        } else {
            tracing::info!(%session, %invocation, event, ?handlers, "event cancelled");
        }
    }
}
