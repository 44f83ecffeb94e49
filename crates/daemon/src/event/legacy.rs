//! Commands of the older, list-shaped documents (contract section 11). Nobody ever waits for one (D32): whether the
//! agent reports an event in the older form or the event is derived from one of today, its commands run in the
//! background, once for each run of the event, whoever is still there (D11), each within its own 5 s (D17). They have
//! few places and a lane of their own, so that they stand before no guard. Output means nothing; failures are logged,
//! told to subscribers and written to the journal.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use hooksd_config::legacy::LEGACY_TIMEOUT_SECONDS;
use hooksd_config::matcher::Matcher;
use hooksd_config::model::Source;
use hooksd_config::{Handler, Lifecycle, OnFailure};
use hooksd_engine::output::last_words;
use hooksd_engine::plan::{Plan, Selected};
use hooksd_engine::projection::Facts;
use hooksd_engine::reduce::Verdict;
use hooksd_protocol::decision::{Body, Decision};
use hooksd_protocol::diagnostic::{Diagnostic, code};
use hooksd_protocol::event::EventName;
use hooksd_protocol::methods::{
    HandlerStatus, InvokeResult, LegacyCommand, LegacyEmitted, LegacyName, ProtocolVersion,
};
use hooksd_protocol::outcome::{End, EventOutcome, Outcome};
use hooksd_protocol::seconds::milliseconds;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::base::budget::RequestPermit;
use crate::base::handled::Handled;
use crate::base::variables::MAX_DEPTH;
use crate::event::fanout::{HandlerJobs, fan_out};
use crate::event::handler_jobs::handler_jobs;
use crate::event::recorder::{Ended, EventRecorder, report};
use crate::sessions::context::EventContext;
use crate::sessions::session::Session;
use crate::state::Daemon;

/// Whose commands they are in the turns of handlers: nobody's session waits behind them.
const LANE: &str = "commands of the older form";

/// Starts the commands of an event that an agent has reported in the older form.
pub(crate) fn emit(
    daemon: &Arc<Daemon>,
    session: &Arc<Session>,
    event: LegacyName,
    stdin: String,
    permit: Option<&RequestPermit>,
) -> LegacyEmitted {
    session.reports_legacy.store(true, Ordering::Release);
    let config = session.config.load_full();
    let stdin: Arc<[u8]> = stdin.into_bytes().into();
    let source = |label: &str| {
        let known = config.snapshot().sources.iter().find(|state| state.source.label() == label);
        known.map_or_else(|| Source::User(PathBuf::from(label)), |state| state.source.clone())
    };
    let commands = config.snapshot().legacy.iter().filter(|command| command.wants(event)).enumerate();
    let selected: Vec<Selected> = commands
        .map(|(index, command)| Selected {
            handler: handler_of(command, source(&command.source), event, index),
            stdin: Some(stdin.clone()),
        })
        .collect();
    let handlers = selected.len();
    if config.depth() >= MAX_DEPTH {
        tracing::warn!(session = %session.id, %event, "hooks run too deep inside hooks; no command was started");
        return LegacyEmitted { accepted: false, handlers };
    }
    let cwd = config.params.cwd.clone();
    let context = context(session, event.as_str(), cwd, None);
    start(daemon, context, selected, permit.cloned());
    LegacyEmitted { accepted: true, handlers }
}

/// Takes the commands of the older form out of an event's plan and starts them; the answer does not wait for them. A
/// session that reports events of the older form itself would run them twice: then they are only taken out.
pub(crate) fn start_derived(daemon: &Arc<Daemon>, event: &EventContext, mut plan: Plan) -> Plan {
    let derived: Vec<Selected> =
        plan.selected.extract_if(.., |selected| selected.handler.legacy.is_some()).collect();
    if derived.is_empty() || event.session.reports_legacy.load(Ordering::Acquire) {
        return plan;
    }
    let mut by_event: BTreeMap<&'static str, Vec<Selected>> = BTreeMap::new();
    for selected in derived {
        let name = selected.handler.legacy.map_or("", |legacy| legacy.as_str());
        by_event.entry(name).or_default().push(selected);
    }
    for (name, selected) in by_event {
        start(daemon, context(&event.session, name, event.cwd.clone(), Some(event)), selected, None);
    }
    plan
}

/// The facts of an event of the older form, which may be derived from one of today.
fn context(
    session: &Arc<Session>,
    event: &'static str,
    cwd: PathBuf,
    of: Option<&EventContext>,
) -> Arc<EventContext> {
    Arc::new(EventContext {
        id: Uuid::new_v4(),
        session: session.clone(),
        config: of.map_or_else(|| session.config.load_full(), |of| of.config.clone()),
        event: Cow::Borrowed(event),
        tool: None,
        cwd,
        client: of.and_then(|of| of.client.clone()),
        agent: of.and_then(|of| of.agent.clone()),
        received: Instant::now(),
        deadline: None,
        appended_before: 0,
        is_open_session: of.is_none_or(|of| of.is_open_session),
    })
}

/// Runs commands in the background and tells what became of them. Only the end of the drain cuts them.
fn start(
    daemon: &Arc<Daemon>,
    context: Arc<EventContext>,
    selected: Vec<Selected>,
    permit: Option<RequestPermit>,
) {
    if selected.is_empty() {
        return;
    }
    let running = context.session.begin_event();
    let daemon = daemon.clone();
    daemon.events.clone().spawn(async move {
        let _until_the_end = (running, permit);
        let mut jobs = handler_jobs(&daemon, &context);
        jobs.killing = daemon.stop.killing.clone();
        for template in [Some(&mut jobs.template), jobs.of_project.as_mut()].into_iter().flatten() {
            Arc::make_mut(template).lane = LANE.into();
        }
        let (jobs, mut running) = (Arc::new(jobs), JoinSet::new());
        for (index, selected) in selected.iter().cloned().enumerate() {
            let (daemon, jobs) = (daemon.clone(), jobs.clone());
            running.spawn(async move { (index, run(&daemon, &jobs, selected).await) });
        }
        let mut handled = vec![Handled::default(); selected.len()];
        while let Some(ended) = running.join_next().await {
            let Ok((index, ended)) = ended else { continue };
            if let Some(slot) = handled.get_mut(index) {
                *slot = ended;
            }
        }
        tell(&daemon, &context, selected, handled);
    });
}

/// Runs one command once it has a place.
async fn run(daemon: &Daemon, jobs: &HandlerJobs, selected: Selected) -> Handled {
    let killing = &daemon.stop.killing;
    let _place = match daemon.background.take(killing).await {
        Ok(place) => place,
        Err(end) => return Handled { outcome: Some(Outcome::without_process(end)), ..Handled::default() },
    };
    let facts = Facts { event: selected.handler.event, continuation_count: 0 };
    let plan = Plan { facts, selected: vec![selected], diagnostics: Vec::new() };
    fan_out(&daemon.runner, &plan, jobs, killing, None).await.pop().unwrap_or_default()
}

/// Logs, tells and records what became of commands.
fn tell(daemon: &Arc<Daemon>, context: &Arc<EventContext>, selected: Vec<Selected>, handled: Vec<Handled>) {
    let (mut diagnostics, mut reports) = (Vec::new(), Vec::new());
    for (Selected { handler, .. }, handled) in selected.iter().zip(&handled) {
        let Some(outcome) = &handled.outcome else { continue };
        let (status, failure) = ended(outcome);
        if let Some((kind, message)) = failure {
            let (session, event, source) = (&context.session.id, &context.event, handler.source.label());
            let redacted = context.config.redactor().text(&message);
            tracing::warn!(%session, %event, %source, "{}", redacted.as_deref().unwrap_or(&message));
            let diagnostic = Diagnostic::warning(kind, message).handler(&handler.id).field(source);
            diagnostics.push(diagnostic);
        }
        reports.push(report(handler, Some(outcome), status, false));
    }
    let failed = diagnostics.first().map(|diagnostic| diagnostic.message.clone());
    let outcome = if failed.is_some() { EventOutcome::Failed } else { EventOutcome::None };
    let answer = InvokeResult {
        protocol_version: ProtocolVersion,
        invocation_id: context.id,
        snapshot_id: context.config.snapshot().id.clone(),
        decision: Decision {
            event: context.event.clone().into_owned(),
            continue_processing: true,
            stop_reason: None,
            user_notices: Vec::new(),
            terminal_sequences: Vec::new(),
            diagnostics,
            body: Body::Plain {},
            accepted: BTreeMap::new(),
        },
        handlers: reports,
        duration_ms: milliseconds(context.received.elapsed()),
    };
    let verdict = Some(Verdict::without(outcome, failed));
    EventRecorder { daemon, context }.ran_aside(Ended { selected, handled, verdict }, Arc::new(answer));
}

/// What the end of a command of the older form means: its status, and what is to be said of it.
fn ended(outcome: &Outcome) -> (HandlerStatus, Option<(&'static str, String)>) {
    let said = || last_words(&outcome.stderr.bytes);
    let (status, kind, message) = match &outcome.end {
        End::Exited(0) => return (HandlerStatus::Ok, None),
        End::Exited(exit) => (
            HandlerStatus::Failed,
            code::NONZERO_EXIT,
            format!("command exited with status {exit}{}", said()),
        ),
        End::Signaled(signal) => (
            HandlerStatus::Failed,
            code::NONZERO_EXIT,
            format!("command was ended by signal {signal}{}", said()),
        ),
        End::TimedOut => {
            let message = format!("command killed after {LEGACY_TIMEOUT_SECONDS} s");
            (HandlerStatus::Timeout, code::TIMEOUT, message)
        }
        End::Cancelled => {
            (HandlerStatus::Cancelled, code::CANCELLED, "command cut: the daemon is stopping".to_owned())
        }
        End::LaunchFailed { message } => {
            (HandlerStatus::Failed, code::LAUNCH_FAILED, format!("command not started: {message}"))
        }
        End::QueuedOut => {
            (HandlerStatus::QueuedOut, code::QUEUED_OUT, "command not started: no place in time".to_owned())
        }
        End::InvalidCommand => {
            (HandlerStatus::Failed, code::INVALID_COMMAND, "command not started: it is empty".to_owned())
        }
    };
    (status, Some((kind, message)))
}

/// A command as a handler, for an event that an agent has reported in the older form; `index` tells the commands of one
/// event apart.
fn handler_of(command: &LegacyCommand, source: Source, event: LegacyName, index: usize) -> Handler {
    Handler {
        id: format!("{event}:{index}"),
        event: nearest(event),
        matcher: Arc::new(Matcher::All),
        matcher_text: None,
        command: String::new(),
        argv: Some(command.argv.clone()),
        timeout: Some(LEGACY_TIMEOUT_SECONDS),
        status_message: None,
        on_failure: OnFailure::Ignore,
        lifecycle: Lifecycle::PerEvent,
        workers: 1,
        legacy: None,
        env: Arc::default(),
        source: Arc::new(source),
    }
}

/// The event of today that comes nearest to one of the older form; it only gives the handler a kind.
fn nearest(event: LegacyName) -> EventName {
    match event {
        LegacyName::SessionStart | LegacyName::UserNameSet => EventName::SessionStart,
        LegacyName::UserPrompt => EventName::UserPromptSubmit,
        LegacyName::TaskComplete | LegacyName::InputRequired => EventName::Notification,
        LegacyName::SessionEnd => EventName::SessionEnd,
        LegacyName::ContextCompact | LegacyName::ContextOffload => EventName::PreCompact,
        LegacyName::PermissionRequest => EventName::PermissionRequest,
        LegacyName::ToolUse => EventName::PreToolUse,
        LegacyName::ToolResult => EventName::PostToolUse,
        LegacyName::ToolError => EventName::PostToolUseFailure,
    }
}
