//! From an event that has ended to its record: without secrets, and cut where it is too long.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, SystemTime};

use hooksd_config::Handler;
use hooksd_engine::names::command_text;
use hooksd_engine::quotes::{printed, quote_again, unquoted};
use hooksd_engine::redact::Redactor;
use hooksd_json::{Dialect, Value};
use hooksd_protocol::diagnostic::code;
use hooksd_protocol::methods::{HandlerReport, HandlerStatus, JournalHandler, JournalRecord, cut};
use hooksd_protocol::outcome::{Captured, EventOutcome, Outcome};
use hooksd_protocol::timestamp::Timestamp;

use uuid::Uuid;

use crate::base::handled::Handled;
use crate::base::settings::JournalSettings;
use crate::journal::finished::Finished;
use crate::observe::items::ended_word;

/// What stands for the event in the record of a gap.
const GAP: &str = "gap";

/// The longest text of a record: a reason, a command, a remark. Bytes.
const MAX_TEXT: usize = 4096;

/// The longest payload or output that is kept. Bytes. What is longer is cut.
const MAX_PAYLOAD: usize = 64 * 1024;

/// The longest payload that is looked through for secrets. Bytes. What is longer is not kept at all.
const MAX_LOOKED_THROUGH: usize = 1024 * 1024;

/// Events that are not in the journal, one record for all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gap {
    since: SystemTime,
    until: SystemTime,
    lost: usize,
}

impl Gap {
    /// So many events that were lost just now, of which the first came at this time.
    pub(crate) fn of(since: SystemTime, lost: usize) -> Gap {
        Gap { since, until: SystemTime::now(), lost }
    }

    /// Makes one gap of this one and another, if there is another.
    pub(crate) fn join(self, other: &mut Option<Gap>) {
        *other = Some(match *other {
            Some(other) => Gap {
                since: self.since.min(other.since),
                until: self.until.max(other.until),
                lost: self.lost.saturating_add(other.lost),
            },
            None => self,
        });
    }

    /// It belongs to no session: its event is `gap`, its reason says how many are missing.
    pub(crate) fn record(&self) -> JournalRecord {
        JournalRecord {
            time: Timestamp::of(self.since),
            invocation_id: Uuid::new_v4().to_string(),
            session: String::new(),
            thread_id: String::new(),
            client: None,
            agent: None,
            event: GAP.to_owned(),
            tool: None,
            snapshot_id: String::new(),
            cwd: String::new(),
            outcome: EventOutcome::Failed,
            reason: Some(format!("{} events of this time could not be written", self.lost)),
            winner: None,
            duration_us: in_micros(self.until.duration_since(self.since).unwrap_or_default()),
            handlers: Vec::new(),
            diagnostics: Vec::new(),
            payload: None,
        }
    }
}

/// The record of an event.
pub(crate) fn record(finished: &Finished, settings: &JournalSettings) -> JournalRecord {
    let context = &*finished.context;
    let redactor = context.config.redactor();
    let text = |text: &str| cut(&redactor.text(text).unwrap_or_else(|| text.to_owned()), MAX_TEXT);
    // A text about a handler may quote what the handler printed.
    let said = |of: Option<&str>, said: &str| {
        let ran = finished.ran.iter().find(|(handler, _)| Some(handler.id.as_str()) == of);
        text(&ran.map_or_else(
            || said.to_owned(),
            |(handler, handled)| quote_again(said, handler, handled.outcome.as_ref(), redactor),
        ))
    };
    // Names and folders are cut, but not searched for secrets.
    let name = |name: &str| cut(name, MAX_TEXT);
    let answer = finished.answer.as_deref();
    let reports: HashMap<&str, &HandlerReport> = answer
        .iter()
        .flat_map(|answer| &answer.handlers)
        .map(|report| (report.id.as_str(), report))
        .collect();
    let kept = |output: &Captured| settings.payloads.then(|| kept_output(redactor, output));
    let handler = |(handler, handled): &(Handler, Handled)| {
        let outcome = handled.outcome.as_ref();
        let report = reports.get(handler.id.as_str());
        let word = outcome.map(ended_word);
        let micros =
            |read: &dyn Fn(&Outcome) -> Duration| outcome.map_or(0, |outcome| in_micros(read(outcome)));
        JournalHandler {
            id: handler.id.clone(),
            source: handler.source.label(),
            command: text(&command_text(handler)),
            status: report.map_or(HandlerStatus::Cancelled, |report| report.status),
            exit_code: word.and_then(|(_, status, _)| status),
            signal: word.and_then(|(.., signal)| signal),
            start_us: handled
                .asked
                .map_or(0, |asked| in_micros(asked.saturating_duration_since(context.received))),
            queue_us: micros(&|outcome| outcome.queued),
            run_us: micros(&|outcome| outcome.duration),
            spawn_us: micros(&|outcome| outcome.spawn),
            drain_us: micros(&|outcome| outcome.drain),
            stdout_bytes: outcome.map_or(0, |outcome| outcome.stdout.total),
            stderr_bytes: outcome.map_or(0, |outcome| outcome.stderr.total),
            truncated: report.is_some_and(|report| report.truncated),
            warm: handled.warm,
            stdout: outcome.and_then(|outcome| kept(&outcome.stdout)),
            stderr: outcome.and_then(|outcome| kept(&outcome.stderr)),
        }
    };
    let diagnostics = answer.iter().flat_map(|answer| answer.decision.diagnostics.iter().cloned());
    JournalRecord {
        time: Timestamp::of(finished.time),
        invocation_id: context.id.to_string(),
        session: context.session.id.to_string(),
        thread_id: name(&context.session.thread_id.decoded()),
        client: context.client.as_deref().map(name),
        agent: context.agent.as_deref().map(name),
        event: name(&context.event),
        tool: context.tool.as_deref().map(name),
        snapshot_id: context.config.snapshot().id.clone(),
        cwd: name(&context.cwd.display().to_string()),
        outcome: finished.verdict.outcome,
        reason: finished
            .verdict
            .reason
            .as_deref()
            .map(|reason| said(finished.verdict.winner.as_deref(), reason)),
        winner: finished.verdict.winner.clone(),
        duration_us: in_micros(finished.duration),
        handlers: finished.ran.iter().map(handler).collect(),
        diagnostics: diagnostics
            .map(|mut diagnostic| {
                diagnostic.message = match diagnostic.code.as_str() {
                    code::OUT_OF_STEP => text(&unquoted(&diagnostic.message)),
                    _ => said(diagnostic.handler_id.as_deref(), &diagnostic.message),
                };
                diagnostic.field = diagnostic.field.as_deref().map(text);
                diagnostic
            })
            .collect(),
        payload: finished.payload.as_deref().map(|bytes| payload(redactor, bytes)),
    }
}

/// Drops what handlers have printed. Not of those of which something is said: that may quote it, and only with all of it
/// at hand is it told without pieces of secrets.
pub(crate) fn forget_outputs(finished: &mut Finished) {
    let diagnostics = finished.answer.iter().flat_map(|answer| &answer.decision.diagnostics);
    let spoken_of = diagnostics.filter_map(|diagnostic| diagnostic.handler_id.as_deref());
    let spoken_of: HashSet<&str> = spoken_of.chain(finished.verdict.winner.as_deref()).collect();
    let silent = finished.ran.iter_mut().filter(|(handler, _)| !spoken_of.contains(handler.id.as_str()));
    for outcome in silent.filter_map(|(_, handled)| handled.outcome.as_mut()) {
        outcome.stdout.bytes = Vec::new();
        outcome.stderr.bytes = Vec::new();
    }
}

fn in_micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// What a handler has printed, as it is kept.
fn kept_output(redactor: &Redactor, output: &Captured) -> String {
    if output.truncated() {
        cut(&printed(output, redactor), MAX_PAYLOAD)
    } else {
        payload(redactor, &output.bytes)
    }
}

/// What a handler has read or printed, all of it, as it is kept.
fn payload(redactor: &Redactor, bytes: &[u8]) -> String {
    if bytes.len() > MAX_LOOKED_THROUGH {
        return format!("[{} bytes: too long to be kept]", bytes.len());
    }
    let spelled = String::from_utf8_lossy(bytes);
    // In JSON the names of members tell what is a secret.
    let clean = match Value::parse(&spelled, Dialect::Strict) {
        Ok(value) => redactor.json(&value).unwrap_or_else(|| "[nested too deep to be kept]".to_owned()),
        Err(_) => redactor.text(&spelled).unwrap_or_else(|| spelled.into_owned()),
    };
    cut(&clean, MAX_PAYLOAD)
}
