//! One run of an event: from the handlers that are for it to the one answer.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use hooksd_config::Lifecycle;
use hooksd_engine::plan::{Chosen, Input, Plan, choose};
use hooksd_engine::projection::Transcripts;
use hooksd_engine::reduce::{Ran, reduce_and_say_why};
use hooksd_protocol::decision::{Body, Decision};
use hooksd_protocol::diagnostic::{Diagnostic, Severity, code};
use hooksd_protocol::invocation::Event;
use hooksd_protocol::methods::{HandlerReport, InvokeOptions, InvokeResult, ProtocolVersion};
use hooksd_protocol::outcome::End;
use hooksd_protocol::rpc::{RpcError, error_code};
use hooksd_runner::Environment;
use hooksd_runner::warm::Variables;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::account::{Account, Ended, report};
use crate::daemon::Daemon;
use crate::fanout::{Progress, Surroundings, fan_out};
use crate::feed::milliseconds;
use crate::invoke::blocking;
use crate::legacy;
use crate::lifecycle::{Handled, Warmth};
use crate::once::{Answer, Execution};
use crate::pinned::{MAX_DEPTH, Pinned};
use crate::session::Session;
use crate::transcripts;

/// Everything one run of an event needs.
pub(crate) struct Run {
    pub(crate) daemon: Arc<Daemon>,
    pub(crate) session: Arc<Session>,
    pub(crate) pinned: Arc<Pinned>,
    pub(crate) input: Input,
    /// The handlers that are for the event, if it took no time to tell.
    pub(crate) chosen: Option<Chosen>,
    pub(crate) options: InvokeOptions,
    /// See [`Request`](crate::invoke::Request).
    pub(crate) content: String,
    pub(crate) id: Uuid,
    pub(crate) deadline: Option<Instant>,
    pub(crate) received: Instant,
    pub(crate) client: Option<Arc<str>>,
    pub(crate) progress: Option<Progress>,
    /// How many appends to transcripts came before the event: handlers see those.
    pub(crate) records: u64,
    /// Whether the session is an open one, and not for this event only.
    pub(crate) listed: bool,
}

impl Run {
    /// The plan when no handler is for the event, which takes no time to tell, and nobody can ask for the answer again.
    pub(crate) fn unmatched(&self) -> Option<Plan> {
        let needs_more = self.options.invocation_id.is_some() || self.pinned.depth() >= MAX_DEPTH;
        if needs_more { None } else { self.chosen.as_ref()?.unmatched() }
    }

    /// Answers such an event. Most are, and none of them has to wait for anything.
    pub(crate) fn answer_at_once(self, plan: Plan) -> Arc<InvokeResult> {
        self.account().received();
        let _running = self.session.begin_event();
        let mut ended = Ended::default();
        let (answer, _) = self.conclude(plan, Vec::new(), &mut ended);
        self.account().finished(ended, Ok(&answer));
        answer
    }

    /// Runs the event. The flag says whether the answer is worth repeating to a second delivery.
    pub(crate) async fn execute(self, execution: &Execution) -> (Answer, bool) {
        self.account().received();
        let mut ended = Ended::default();
        let (answer, keep) = self.decide(execution, &mut ended).await;
        self.account().finished(ended, answer.as_ref());
        (answer, keep)
    }

    /// The event's working directory, else the session's.
    fn cwd(&self) -> &Path {
        self.input.cwd().map_or(&self.pinned.view.cwd, Path::new)
    }

    fn account(&self) -> Account<'_> {
        let Run { daemon, session, pinned, input, id, received, client, .. } = self;
        let (id, received, client, cwd) = (*id, *received, client.as_ref(), self.cwd());
        let agent = self.options.agent.as_ref().map(|agent| agent.name.as_str());
        let event = input.event_name();
        Account { daemon, session, pinned, input, event, id, cwd, received, client, agent }
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
        // Before anything that takes time or room: a flood of one session's events is not projected ahead of another's
        // few.
        let (lane, depth) = (self.session.id.clone(), self.pinned.depth());
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
        let (answer, keep) = self.conclude(plan, handled, ended);
        (Ok(answer), keep)
    }

    /// The answer, and whether it is worth repeating.
    fn conclude(&self, plan: Plan, handled: Vec<Handled>, ended: &mut Ended) -> (Arc<InvokeResult>, bool) {
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
        (Arc::new(self.result(decision, handlers)), !failed_before)
    }

    /// What took no time to tell is told already; other expressions may take a tenth of a second to reach their bound: not
    /// on an async thread (D7).
    async fn plan(&self, cancel: &CancellationToken) -> Result<Option<Plan>, RpcError> {
        let later = if self.chosen.is_some() || self.input.event().is_none() {
            None
        } else {
            let (pinned, input) = (self.pinned.clone(), self.input.clone());
            let (cancel, deadline) = (cancel.clone(), self.deadline);
            let late =
                move || cancel.is_cancelled() || deadline.is_some_and(|deadline| Instant::now() >= deadline);
            blocking(move || Ok(choose(pinned.snapshot(), &input, &late))).await?
        };
        self.session.transcript.wait_for(self.records).await;
        let chosen = self.chosen.as_ref().or(later.as_ref());
        Ok(chosen.map(|chosen| chosen.plan(self.pinned.snapshot(), &self.input, &self.transcripts())))
    }

    fn without_handlers(&self, diagnostic: Diagnostic) -> (Answer, bool) {
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
        let session: Arc<str> = if self.listed { self.session.id.clone() } else { "".into() };
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
            owner: self.listed.then(|| self.session.id.clone()),
            snapshot: self.pinned.snapshot().id.as_str().into(),
            root: self.pinned.root.clone(),
            persistent: self.pinned.persistent_variables(&self.daemon.settings),
            prewarmed: Arc::new(environment),
        }
    }

    fn surroundings(&self) -> Surroundings {
        let (pinned, daemon) = (self.pinned.clone(), self.daemon.clone());
        let (session, invocation) = (self.session.id.clone(), self.id);
        let env = move || {
            let invocation = invocation.to_string();
            pinned.handler_environment(&daemon.settings, &session, &invocation, Lifecycle::PerEvent)
        };
        let mut fallback_cwds = vec![self.pinned.root.clone()];
        fallback_cwds.extend(self.daemon.settings.home.clone());
        Surroundings {
            fallback_cwds,
            deadline: self.deadline,
            umask: self.session.umask,
            rlimits: self.session.rlimits.clone(),
            lane: self.session.id.clone(),
            depth: self.pinned.depth(),
            killing: self.daemon.killing.clone(),
            ..Surroundings::new(self.cwd().to_owned(), Environment::later(env))
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
        let (session, invocation, event) = (&self.session.id, self.id, &*self.input.event_name());
        if self.daemon.killing.is_cancelled() {
            tracing::warn!(%session, %invocation, event, ?handlers, "the daemon stops: event cut, handlers killed");
        } else {
            tracing::info!(%session, %invocation, event, ?handlers, "event cancelled");
        }
    }
}
