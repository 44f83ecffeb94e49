//! One run of an event: from the handlers that are for it to the one answer.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use hooksd_config::{Handler, Lifecycle};
use hooksd_engine::plan::{Chosen, Input, Plan, choose};
use hooksd_engine::projection::Transcripts;
use hooksd_engine::reduce::{Ran, reduce_and_say_why};
use hooksd_protocol::decision::{Body, Decision};
use hooksd_protocol::diagnostic::{Diagnostic, Severity, code};
use hooksd_protocol::invocation::Event;
use hooksd_protocol::methods::{HandlerReport, InvokeOptions, InvokeResult, Part, ProtocolVersion};
use hooksd_protocol::outcome::End;
use hooksd_protocol::rpc::{RpcError, error_code};
use hooksd_protocol::seconds::milliseconds;
use hooksd_runner::warm::Variables;
use tokio_util::sync::CancellationToken;

use crate::base::handled::Handled;
use crate::base::variables::MAX_DEPTH;
use crate::base::work::blocking;
use crate::event::continuation::CountedStop;
use crate::event::fanout::{HandlerJobs, Progress, fan_out};
use crate::event::handler_jobs::handler_jobs;
use crate::event::legacy;
use crate::event::lifecycle::Warmth;
use crate::event::recorder::{Ended, EventRecorder, report};
use crate::sessions::context::EventContext;
use crate::sessions::delivery::EventResult;
use crate::sessions::resolved::EnvironmentLayer;
use crate::sessions::session::Session;
use crate::sessions::transcripts;
use crate::state::Daemon;

/// Everything one run of an event needs.
pub(crate) struct EventRun {
    pub(crate) daemon: Arc<Daemon>,
    /// The facts of the event, which outlive the run.
    pub(crate) context: Arc<EventContext>,
    /// The event as it came.
    pub(crate) input: Input,
    /// The handlers that are for the event, if it took no time to tell.
    pub(crate) chosen: Option<Chosen>,
    /// What the client has said beside the event.
    pub(crate) options: InvokeOptions,
    /// SHA-256 of the raw event (D21); empty without an id.
    pub(crate) content: String,
    /// Tells the client of handlers while they run, if it asked for that.
    pub(crate) progress: Option<Progress>,
}

impl EventRun {
    /// The plan when no handler is for the event, which takes no time to tell, and nobody can ask for the answer again.
    pub(crate) fn unmatched(&self) -> Option<Plan> {
        let needs_more = self.options.invocation_id.is_some() || self.context.config.depth() >= MAX_DEPTH;
        if needs_more { None } else { self.chosen.as_ref()?.unmatched() }
    }

    /// Answers an event that no handler is for. Most events are like that, and none of them has to wait for anything.
    pub(crate) fn answer_at_once(self, plan: Plan) -> Arc<InvokeResult> {
        self.recorder().received();
        let _running = self.context.session.begin_event();
        let mut ended = Ended::default();
        let (answer, _) = self.conclude(plan, Vec::new(), &mut ended);
        self.recorder().finished(&self.input, ended, Ok(&answer));
        answer
    }

    /// Runs the event. The flag says whether the answer is worth repeating to a second delivery.
    pub(crate) async fn execute(self, cancel: &CancellationToken) -> (EventResult, bool) {
        self.recorder().received();
        let mut ended = Ended::default();
        let (answer, keep) = self.decide(cancel, &mut ended).await;
        self.recorder().finished(&self.input, ended, answer.as_ref());
        (answer, keep)
    }

    fn recorder(&self) -> EventRecorder<'_> {
        EventRecorder { daemon: &self.daemon, context: &self.context }
    }

    async fn decide(&self, cancel: &CancellationToken, ended: &mut Ended) -> (EventResult, bool) {
        let _running = self.context.session.begin_event();
        #[cfg(feature = "failpoints")]
        fail::fail_point!("event");
        if self.context.config.depth() >= MAX_DEPTH {
            let message =
                format!("hooks that start agents that have hooks end at depth {MAX_DEPTH}; no handler ran");
            return self.without_handlers(Diagnostic::warning(code::RECURSION_LIMIT, message));
        }
        // Before anything that takes time or room: a flood of one session's events is not projected ahead of another's
        // few.
        let (lane, depth) = (self.context.session.id.clone(), self.context.config.depth());
        let _turn = self.daemon.runner.turn(&lane, depth, self.context.deadline, cancel).await;
        if cancel.is_cancelled() {
            self.log_cancelled(&[]);
            return (Err(RpcError::new(error_code::CANCELLED, "the event was cancelled")), false);
        }
        let plan = match self.plan(cancel).await {
            Ok(Some(plan)) => legacy::start_derived(&self.daemon, &self.context, plan),
            Ok(None) => {
                let name = &self.context.event;
                let message = format!("{name} is no event of hooksd; nothing can be configured for it");
                let diagnostic = Diagnostic::warning(code::UNKNOWN_EVENT, message).severity(Severity::Debug);
                return self.without_handlers(diagnostic);
            }
            Err(error) => return (Err(error), false),
        };
        let handled = self.fan_out(&plan, cancel).await;
        self.log_ends(&plan, &handled);
        if cancel.is_cancelled() {
            let was_killed = |handled: &Handled| {
                handled.outcome.as_ref().is_some_and(|outcome| outcome.end == End::Cancelled)
            };
            let killed = plan.selected.iter().zip(&handled).filter(|(_, handled)| was_killed(handled));
            let killed: Vec<&str> = killed.map(|(selected, _)| selected.handler.id.as_str()).collect();
            self.log_cancelled(&killed);
            *ended = Ended { selected: plan.selected, handled, verdict: None };
            return (Err(RpcError::new(error_code::CANCELLED, "the event was cancelled")), false);
        }
        let (answer, keep) = self.conclude(plan, handled, ended);
        (Ok(answer), keep)
    }

    /// Makes the answer of what the handlers came to; also says whether the answer is worth repeating.
    fn conclude(&self, plan: Plan, handled: Vec<Handled>, ended: &mut Ended) -> (Arc<InvokeResult>, bool) {
        let ran: Vec<Ran<'_>> = plan
            .selected
            .iter()
            .zip(&handled)
            .map(|(selected, handled)| (&selected.handler, handled.outcome.as_ref()))
            .collect();
        let stop = CountedStop::of(&self.daemon.continuations, &self.context, &self.input);
        let facts = stop.facts(plan.facts);
        let (mut decision, statuses, verdict) =
            reduce_and_say_why(&facts, &self.context.session.accepts, plan.diagnostics.clone(), &ran);
        stop.answered(&mut decision);
        let failed_before =
            plan.diagnostics.iter().any(|diagnostic| diagnostic.code == code::PROJECTION_FAILED);
        decision.diagnostics.extend(handled.iter().flat_map(|handled| handled.remarks.clone()));
        self.tell_what_is_not_in_force(&mut decision);
        let behind = self.options.agent.as_ref().map(|agent| agent.not_enforced(&decision));
        decision.diagnostics.extend(behind.unwrap_or_default());
        let reports = ran.iter().zip(statuses).zip(&handled);
        let handlers = reports
            .map(|(((handler, outcome), status), handled)| report(handler, *outcome, status, handled.warm));
        let handlers = handlers.collect();
        *ended = Ended { selected: plan.selected, handled, verdict: Some(verdict) };
        (Arc::new(self.result(decision, handlers)), !failed_before)
    }

    /// An agent behind a bridge opens no session that it could be told by what is wrong with its documents: the answer
    /// of each event says it, and the first of a conversation says it to the person.
    fn tell_what_is_not_in_force(&self, decision: &mut Decision) {
        let EventContext { session, config, agent, is_open_session, .. } = &*self.context;
        if agent.is_none() || *is_open_session {
            return;
        }
        // An agent that cannot show a notice on this event is told by one that can.
        let can_show = !self.options.agent.iter().any(|behind| behind.cannot.contains(&Part::Notice));
        let thread = format!("{}\n{}", agent.as_deref().unwrap_or_default(), session.thread_id.decoded());
        for diagnostic in config.not_in_force() {
            if can_show && self.daemon.told.is_new(&thread, &diagnostic.message) {
                decision.user_notices.push(format!("hooksd: {}", diagnostic.message));
            }
            decision.diagnostics.push(diagnostic.clone());
        }
    }

    /// What took no time to tell is told already; other expressions may take a tenth of a second to reach their bound: not
    /// on an async thread (D7).
    async fn plan(&self, cancel: &CancellationToken) -> Result<Option<Plan>, RpcError> {
        let later = if self.chosen.is_some() || self.input.event().is_none() {
            None
        } else {
            let (config, input) = (self.context.config.clone(), self.input.clone());
            let (cancel, deadline) = (cancel.clone(), self.context.deadline);
            let late =
                move || cancel.is_cancelled() || deadline.is_some_and(|deadline| Instant::now() >= deadline);
            blocking(move || Ok(choose(config.snapshot(), &input, &late))).await?
        };
        self.context.session.transcript.wait_for(self.context.appended_before).await;
        let chosen = self.chosen.as_ref().or(later.as_ref());
        Ok(chosen.map(|chosen| chosen.plan(self.context.config.snapshot(), &self.input, &self.transcripts())))
    }

    fn without_handlers(&self, diagnostic: Diagnostic) -> (EventResult, bool) {
        let mut decision = match self.input.event() {
            Some(event) => Decision::neutral(event),
            None => Decision {
                event: self.input.event_name().into_owned(),
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
        self.daemon.answered.fetch_add(1, Ordering::Relaxed);
        InvokeResult {
            protocol_version: ProtocolVersion,
            invocation_id: self.context.id,
            snapshot_id: self.context.config.snapshot().id.clone(),
            decision,
            handlers,
            duration_ms: milliseconds(self.context.received.elapsed()),
        }
    }

    async fn fan_out(&self, plan: &Plan, cancel: &CancellationToken) -> Vec<Handled> {
        if plan.selected.is_empty() {
            return Vec::new();
        }
        let warm = plan.selected.iter().any(|selected| selected.handler.lifecycle != Lifecycle::PerEvent);
        let jobs = HandlerJobs {
            killing: self.daemon.stop.killing.clone(),
            warmth: warm.then(|| self.warmth()),
            ..handler_jobs(&self.daemon, &self.context)
        };
        fan_out(&self.daemon.runner, plan, &jobs, cancel, self.recorder().progress(self.progress.clone()))
            .await
    }

    /// What is started ahead knows of no event, and what stays knows of no session either: sessions with the same
    /// environment share it.
    fn warmth(&self) -> Warmth {
        let session: Arc<str> =
            if self.context.is_open_session { self.context.session.id.clone() } else { "".into() };
        if self.context.is_open_session {
            release_when_closed(&self.context.session, &self.daemon);
        }
        let (config, settings) = (self.context.config.clone(), self.daemon.settings.clone());
        let prewarmed = move |handler: &Handler| {
            let lifecycle = Lifecycle::Prewarmed;
            let layer = EnvironmentLayer::of(&handler.source);
            Variables::new(config.handler_environment(&settings, &session, "", lifecycle, layer))
        };
        let (config, settings) = (self.context.config.clone(), self.daemon.settings.clone());
        let persistent = move |handler: &Handler| {
            config.persistent_variables(&settings, EnvironmentLayer::of(&handler.source))
        };
        Warmth {
            warm: self.daemon.warm.clone(),
            owner: self.context.is_open_session.then(|| self.context.session.id.clone()),
            snapshot: self.context.config.snapshot().id.as_str().into(),
            root: self.context.config.root.clone(),
            persistent: Arc::new(persistent),
            prewarmed: Arc::new(prewarmed),
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
                let (thread, agent) = (self.context.session.thread_id.decoded(), event.agent.id.decoded());
                let path = transcripts::path(config_dir, &thread, Some(&agent));
                path.is_file().then(|| path.display().to_string())
            }
            _ => None,
        };
        let of_session = || self.context.session.own_transcript(config_dir).to_owned();
        Transcripts {
            session: self.options.transcript_path.clone().unwrap_or_else(of_session),
            agent: self.options.agent_transcript_path.clone().or_else(of_agent),
        }
    }

    /// Logs how each handler ended, for whoever looks closely.
    fn log_ends(&self, plan: &Plan, handled: &[Handled]) {
        if !tracing::enabled!(tracing::Level::DEBUG) {
            return;
        }
        for (selected, handled) in plan.selected.iter().zip(handled) {
            let (handler, event) = (&selected.handler.id, &self.context.event);
            let Some(outcome) = &handled.outcome else { continue };
            let (end, ms) = (outcome.end.as_str(), milliseconds(outcome.duration));
            tracing::debug!(%handler, %event, invocation = %self.context.id, end, ms, "handler ended");
        }
    }

    /// Logs which handlers were killed (D11), and as a warning those that the end of the drain has cut.
    fn log_cancelled(&self, handlers: &[&str]) {
        let (session, invocation, event) =
            (&self.context.session.id, self.context.id, &*self.input.event_name());
        if self.daemon.stop.killing.is_cancelled() {
            tracing::warn!(%session, %invocation, event, ?handlers, "the daemon stops: event cut, handlers killed");
        } else {
            tracing::info!(%session, %invocation, event, ?handlers, "event cancelled");
        }
    }
}

/// From now on what the session holds of warm processes is let go when it is closed, however that comes.
fn release_when_closed(session: &Session, daemon: &Daemon) {
    if !session.begins_to_hold_warm() {
        return;
    }
    let (id, closed) = (session.id.clone(), session.closed.clone());
    let (warm, ending) = (daemon.warm.clone(), daemon.stop.closing.clone());
    tokio::spawn(async move {
        tokio::select! {
            () = closed.cancelled() => warm.release(&id),
            () = ending.cancelled() => {}
        }
    });
}
