//! The account of an event: what those who look on hear while it runs, and what is counted and kept when it has ended.
//!
//! Guarantee: nothing here waits, and nothing here changes an answer.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use hooksd_config::Handler;
use hooksd_engine::plan::{Input, Selected};
use hooksd_engine::reduce::Verdict;
use hooksd_protocol::diagnostic::Diagnostic;
use hooksd_protocol::invocation::Event;
use hooksd_protocol::methods::{HandlerReport, HandlerStatus, InvokeResult, ItemBody, ItemHandler};
use hooksd_protocol::outcome::{End, EventOutcome, Outcome};
use hooksd_protocol::rpc::{RpcError, error_code};
use uuid::Uuid;

use crate::daemon::Daemon;
use crate::fanout::Progress;
use crate::feed::{About, Feed, cut, milliseconds};
use crate::journal::Finished;
use crate::lifecycle::Handled;
use crate::pinned::Pinned;
use crate::session::Session;

/// The most handlers that an item names. Handlers. The answer and the journal have all of them.
const MAX_HANDLERS: usize = 32;

/// An event under way.
pub(crate) struct Account<'a> {
    pub(crate) daemon: &'a Arc<Daemon>,
    pub(crate) session: &'a Arc<Session>,
    pub(crate) pinned: &'a Arc<Pinned>,
    pub(crate) input: &'a Input,
    /// Its name.
    pub(crate) event: Cow<'static, str>,
    pub(crate) id: Uuid,
    pub(crate) cwd: &'a Path,
    pub(crate) received: Instant,
    pub(crate) client: Option<&'a Arc<str>>,
    /// The agent behind a bridge.
    pub(crate) agent: Option<&'a str>,
}

/// What has run until an event ended.
#[derive(Default)]
pub(crate) struct Ended {
    pub(crate) selected: Vec<Selected>,
    pub(crate) handled: Vec<Handled>,
    pub(crate) verdict: Option<Verdict>,
}

impl Account<'_> {
    fn about(&self) -> About<'_> {
        About { session: Some(&self.session.id), invocation: Some(self.id), event: Some(&self.event) }
    }

    /// The event has come.
    pub(crate) fn received(&self) {
        self.daemon.feed.publish(self.about(), || ItemBody::Received { tool: tool(self.input) });
    }

    /// Hears of handlers, beside who asked for that.
    pub(crate) fn progress(&self, asked: Option<Progress>) -> Option<Progress> {
        if !self.daemon.feed.is_heard() {
            return asked;
        }
        let (daemon, session, id) = (self.daemon.clone(), self.session.clone(), self.id);
        let event = self.event.clone();
        Some(Arc::new(move |handler: &Handler, ended: Option<&Handled>| {
            let about = About { session: Some(&session.id), invocation: Some(id), event: Some(&event) };
            daemon.feed.publish(about, || handler_item(handler, ended));
            if let Some(asked) = &asked {
                asked(handler, ended);
            }
        }))
    }

    /// The event has ended: it is counted, told, and kept.
    pub(crate) fn finished(self, ended: Ended, answer: Result<&Arc<InvokeResult>, &RpcError>) {
        let duration = self.received.elapsed();
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
        self.daemon.stats.event(self.input.event(), verdict.outcome, duration);
        for (report, handled) in reports.iter().zip(&handled) {
            if let Some(outcome) = &handled.outcome {
                self.daemon.stats.handler(&report.source, &report.id, report.status, outcome.duration);
            }
        }
        let feed = &self.daemon.feed;
        if feed.is_heard() {
            for diagnostic in diagnostics {
                feed.publish(self.about(), || diagnostic_item(diagnostic));
            }
            feed.publish(self.about(), || ItemBody::Decision {
                outcome: verdict.outcome,
                reason: verdict.reason.as_deref().map(cut),
                winner: verdict.winner.clone(),
                snapshot_id: self.pinned.snapshot().id.clone(),
                handlers: reports.iter().take(MAX_HANDLERS).map(item_handler).collect(),
                handler_count: reports.len(),
                duration_ms: milliseconds(duration),
            });
        }
        let journal = &self.daemon.journal;
        if !journal.is_on() {
            return;
        }
        let payload = journal.keeps_payloads().then(|| payload(self.input, &selected)).flatten();
        journal.keep(Finished {
            time: SystemTime::now().checked_sub(duration).unwrap_or(SystemTime::UNIX_EPOCH),
            id: self.id,
            session: self.session.clone(),
            pinned: self.pinned.clone(),
            client: self.client.cloned(),
            agent: self.agent.map(str::to_owned),
            event: self.event.clone(),
            tool: tool(self.input),
            cwd: self.cwd.to_owned(),
            verdict,
            received: self.received,
            duration,
            ran: selected.into_iter().map(|selected| selected.handler).zip(handled).collect(),
            answer: answer.ok().cloned(),
            payload,
        });
    }
}

fn tool(input: &Input) -> Option<String> {
    let call = match input {
        Input::Payload(payload) => {
            let is_tool = payload.event.is_some_and(|event| event.is_tool_event());
            return payload.subject.clone().filter(|_| is_tool);
        }
        Input::Invocation(invocation) => match &invocation.event {
            Event::PermissionRequest(event) => &event.call,
            Event::PreToolUse(event) => &event.call,
            Event::PostToolUse(event) => &event.call,
            Event::PostToolUseFailure(event) => &event.call,
            _ => return None,
        },
    };
    Some(call.name.decoded().into_owned())
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

fn item_handler(report: &HandlerReport) -> ItemHandler {
    ItemHandler { id: report.id.clone(), status: report.status, duration_ms: report.duration_ms }
}

/// How a run has ended, in a word.
pub(crate) fn ended_word(outcome: &Outcome) -> (&'static str, Option<i32>, Option<i32>) {
    let (status, signal) = match &outcome.end {
        End::Exited(status) => (Some(*status), None),
        End::Signaled(signal) => (None, Some(*signal)),
        _ => (None, None),
    };
    (outcome.end.as_str(), status, signal)
}

fn handler_item(handler: &Handler, ended: Option<&Handled>) -> ItemBody {
    let outcome = ended.and_then(|handled| handled.outcome.as_ref());
    let word = outcome.map(ended_word);
    ItemBody::Handler {
        handler_id: handler.id.clone(),
        active: ended.is_none(),
        ended: word.map(|(word, ..)| word.to_owned()),
        exit_code: word.and_then(|(_, status, _)| status),
        signal: word.and_then(|(.., signal)| signal),
        duration_ms: outcome.map_or(0, |outcome| milliseconds(outcome.duration)),
        message: handler.status_message.as_deref().map(cut),
    }
}

/// A diagnostic as an item.
pub(crate) fn diagnostic_item(diagnostic: &Diagnostic) -> ItemBody {
    ItemBody::Diagnostic {
        code: diagnostic.code.clone(),
        severity: diagnostic.severity,
        message: Some(cut(&diagnostic.message)),
        handler_id: diagnostic.handler_id.clone(),
        field: diagnostic.field.as_deref().map(cut),
    }
}

/// Tells what became of a session; when its documents were read for that, also what in them does not count.
pub(crate) fn session_changed(feed: &Feed, session: &Session, change: &str) {
    if !feed.is_heard() {
        return;
    }
    let (about, pinned) = (About::session(&session.id), session.pinned.load());
    feed.publish(about, || ItemBody::Session {
        change: change.to_owned(),
        snapshot_id: pinned.snapshot().id.clone(),
        cwd: Some(cut(&pinned.view.cwd.display().to_string())),
    });
    if matches!(change, "opened" | "reloaded") {
        for diagnostic in pinned.diagnostics() {
            feed.publish(about, || diagnostic_item(&diagnostic));
        }
    }
}
