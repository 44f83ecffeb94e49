//! The account of an event: what those who look on hear while it runs, and what is counted and kept when it has ended.
//!
//! Guarantee: nothing here waits, and nothing here changes an answer.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hooksd_config::Handler;
use hooksd_engine::plan::{Input, Selected};
use hooksd_engine::reduce::Verdict;
use hooksd_protocol::methods::{HandlerReport, HandlerStatus, InvokeResult, ItemBody};
use hooksd_protocol::outcome::{End, EventOutcome, Outcome};
use hooksd_protocol::rpc::{RpcError, error_code};
use hooksd_protocol::seconds::milliseconds;

use crate::base::handled::Handled;
use crate::event::fanout::Progress;
use crate::journal::finished::Finished;
use crate::observe::items::{cut, diagnostic_item, handler_item, item_handler};
use crate::sessions::context::EventContext;
use crate::state::Daemon;

/// The most handlers that an item names. Handlers. The answer and the journal have all of them.
const MAX_HANDLERS: usize = 32;

/// Tells subscribers, counters and the journal what happens to one event.
pub(crate) struct EventRecorder<'a> {
    /// Has the feed, the counters and the journal.
    pub(crate) daemon: &'a Arc<Daemon>,
    /// The event.
    pub(crate) context: &'a Arc<EventContext>,
}

/// What had been found out and run when an event ended.
#[derive(Default)]
pub(crate) struct Ended {
    pub(crate) selected: Vec<Selected>,
    pub(crate) handled: Vec<Handled>,
    pub(crate) verdict: Option<Verdict>,
}

impl EventRecorder<'_> {
    /// Tells subscribers that the event has come.
    pub(crate) fn received(&self) {
        let EventContext { tool, .. } = &**self.context;
        self.daemon.feed.publish(self.context.about(), || ItemBody::Received { tool: tool.clone() });
    }

    /// The callback that tells subscribers of handlers, and also whoever asked for the event if that wanted to hear; none
    /// when nobody listens.
    pub(crate) fn progress(&self, asked: Option<Progress>) -> Option<Progress> {
        if !self.daemon.feed.is_heard() {
            return asked;
        }
        let (daemon, context) = (self.daemon.clone(), self.context.clone());
        Some(Arc::new(move |handler: &Handler, ended: Option<&Handled>| {
            let outcome = ended.and_then(|handled| handled.outcome.as_ref());
            daemon.feed.publish(context.about(), || handler_item(handler, ended.is_some(), outcome));
            if let Some(asked) = &asked {
                asked(handler, ended);
            }
        }))
    }

    /// The event has ended: counts it, tells subscribers, and gives it to the journal.
    pub(crate) fn finished(self, input: &Input, ended: Ended, answer: Result<&Arc<InvokeResult>, &RpcError>) {
        let duration = self.context.received.elapsed();
        let Ended { selected, handled, verdict } = ended;
        let (reports, diagnostics) = match answer {
            Ok(result) => (result.handlers.as_slice(), result.decision.diagnostics.as_slice()),
            Err(_) => (&[][..], &[][..]),
        };
        let verdict = verdict.unwrap_or_else(|| match answer {
            Ok(_) => Verdict::without(EventOutcome::None, None),
            Err(error) if error.code == error_code::CANCELLED => {
                Verdict::without(EventOutcome::Cancelled, None)
            }
            Err(error) => Verdict::without(EventOutcome::Failed, Some(error.message.clone())),
        });
        self.daemon.stats.event(input.event(), verdict.outcome, duration);
        for (report, handled) in reports.iter().zip(&handled) {
            if let Some(outcome) = &handled.outcome {
                self.daemon.stats.handler(&report.source, &report.id, report.status, outcome.duration);
            }
        }
        let feed = &self.daemon.feed;
        if feed.is_heard() {
            for diagnostic in diagnostics {
                feed.publish(self.context.about(), || diagnostic_item(diagnostic));
            }
            feed.publish(self.context.about(), || ItemBody::Decision {
                outcome: verdict.outcome,
                reason: verdict.reason.as_deref().map(cut),
                winner: verdict.winner.clone(),
                snapshot_id: self.context.config.snapshot().id.clone(),
                handlers: reports.iter().take(MAX_HANDLERS).map(item_handler).collect(),
                handler_count: reports.len(),
                duration_ms: milliseconds(duration),
            });
        }
        let payload = || payload(input, &selected);
        self.keep(duration, verdict, answer.ok().cloned(), payload, &selected, handled);
    }

    /// Commands that nobody waited for have ended: tells subscribers what went wrong, and gives them to the journal.
    pub(crate) fn ran_aside(self, ended: Ended, answer: Arc<InvokeResult>) {
        let duration = self.context.received.elapsed();
        let Ended { selected, handled, verdict } = ended;
        for diagnostic in &answer.decision.diagnostics {
            self.daemon.feed.publish(self.context.about(), || diagnostic_item(diagnostic));
        }
        let verdict = verdict.unwrap_or_else(|| Verdict::without(EventOutcome::None, None));
        let payload = || selected.iter().find_map(|selected| selected.stdin.clone());
        self.keep(duration, verdict, Some(answer), payload, &selected, handled);
    }

    /// Gives what has ended to the journal, if there is one.
    fn keep(
        &self,
        duration: Duration,
        verdict: Verdict,
        answer: Option<Arc<InvokeResult>>,
        payload: impl FnOnce() -> Option<Arc<[u8]>>,
        selected: &[Selected],
        handled: Vec<Handled>,
    ) {
        let journal = &self.daemon.journal;
        if !journal.is_on() {
            return;
        }
        journal.keep(Finished {
            context: self.context.clone(),
            time: SystemTime::now().checked_sub(duration).unwrap_or(SystemTime::UNIX_EPOCH),
            verdict,
            duration,
            ran: selected.iter().map(|selected| selected.handler.clone()).zip(handled).collect(),
            answer,
            payload: if journal.keeps_payloads() { payload() } else { None },
        });
    }
}

/// What handlers have read; the event as it came, where none was for it.
fn payload(input: &Input, selected: &[Selected]) -> Option<Arc<[u8]>> {
    let read = selected.iter().find_map(|selected| selected.stdin.clone());
    read.or_else(|| match input {
        Input::Payload(payload) => Some(payload.raw.clone()),
        Input::Invocation(_) => None,
    })
}

/// One handler's part in the answer.
pub(crate) fn report(
    handler: &Handler,
    outcome: Option<&Outcome>,
    status: HandlerStatus,
    warm: bool,
) -> HandlerReport {
    let of = |read: &dyn Fn(&Outcome) -> u64| outcome.map_or(0, read);
    HandlerReport {
        id: handler.id.clone(),
        source: handler.source.label(),
        status,
        exit_code: outcome.and_then(|outcome| match outcome.end {
            End::Exited(status) => Some(status),
            _ => None,
        }),
        signal: outcome.and_then(|outcome| match outcome.end {
            End::Signaled(signal) => Some(signal),
            _ => None,
        }),
        duration_ms: of(&|outcome| milliseconds(outcome.duration)),
        queue_ms: of(&|outcome| milliseconds(outcome.queued)),
        stdout_bytes: of(&|outcome| outcome.stdout.total),
        stderr_bytes: of(&|outcome| outcome.stderr.total),
        truncated: outcome.is_some_and(|outcome| outcome.stdout.truncated() || outcome.stderr.truncated()),
        warm,
    }
}
