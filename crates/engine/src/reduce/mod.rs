//! Makes one decision of what all handlers have said (contract section 9). Handlers count in configuration order, in
//! whatever order they have finished.

mod specific;
mod verdict;

pub use verdict::Verdict;

use hooksd_config::lifecycle::Lifecycle;
use hooksd_config::{Handler, OnFailure};
use hooksd_protocol::decision::{Behavior, Body, Decision, Permission};
use hooksd_protocol::diagnostic::{Diagnostic, Severity, code};
use hooksd_protocol::event::{EventName, PlainOutput};
use hooksd_protocol::methods::{Capability, HandlerStatus};
use hooksd_protocol::output::Output;

use crate::names::{describe, signal_name};
use crate::output::{FullOutput, HandlerOutput, exit_reason, last_words, read_stdout};
use crate::projection::Facts;
use crate::terminal;
use hooksd_protocol::outcome::{End, Outcome};

use self::verdict::By;

/// How often handlers may make an agent go on instead of stopping. Times (contract section 2).
pub const CONTINUATION_CAP: i64 = 8;

/// The reason that a `decision: block` gets which has none (vectors `reduce/each/block-no-reason/*`).
pub const DEFAULT_BLOCK_REASON: &str = "Blocked by hook";

/// A handler with what became of its run; `None` when it counts as failed without having run (D7).
pub type Ran<'a> = (&'a Handler, Option<&'a Outcome>);

/// Makes the decision on an event, and says how each handler's run went, in the order of `ran`. `before` is what went
/// wrong before anything ran; it comes first among the diagnostics.
#[must_use]
pub fn reduce(
    facts: &Facts,
    accepts: &[Capability],
    before: Vec<Diagnostic>,
    ran: &[Ran<'_>],
) -> (Decision, Vec<HandlerStatus>) {
    let (decision, statuses, _) = reduce_and_say_why(facts, accepts, before, ran);
    (decision, statuses)
}

/// Makes the decision as [`reduce`] does, and also says what it comes to, why, and which handler has decided.
#[must_use]
pub fn reduce_and_say_why(
    facts: &Facts,
    accepts: &[Capability],
    before: Vec<Diagnostic>,
    ran: &[Ran<'_>],
) -> (Decision, Vec<HandlerStatus>, Verdict) {
    let mut decision = Decision::neutral(facts.event);
    decision.diagnostics = before;
    let by = By::default();
    let mut reducer = Reducer { facts, accepts, decision, handler: "", blocked: false, by };
    let statuses = ran.iter().map(|(handler, outcome)| reducer.handler(handler, *outcome)).collect();
    let verdict = Verdict::of(&reducer.decision, &reducer.by);
    (reducer.decision, statuses, verdict)
}

struct Reducer<'a> {
    facts: &'a Facts,
    accepts: &'a [Capability],
    decision: Decision,
    /// The id of the handler that is being reduced.
    handler: &'a str,
    /// Whether that handler has blocked.
    blocked: bool,
    /// Which handler was the first to bring each part of the decision about.
    by: By<'a>,
}

impl<'a> Reducer<'a> {
    fn handler(&mut self, handler: &'a Handler, outcome: Option<&Outcome>) -> HandlerStatus {
        self.handler = &handler.id;
        self.blocked = false;
        let failure = match outcome {
            None => Some((HandlerStatus::Failed, "its matcher took too many steps".to_owned())),
            Some(outcome) if handler.legacy.is_some() => return self.legacy(outcome, handler),
            Some(outcome) => self.outcome(outcome, handler),
        };
        match failure {
            None if self.blocked => HandlerStatus::Blocked,
            None => HandlerStatus::Ok,
            Some((_, cause)) if handler.on_failure == OnFailure::Block => {
                let reason = format!("{} failed and is set to block on failure: {cause}", describe(handler));
                self.diagnose(code::FAILURE_BLOCKED, &reason, Some("onFailure"));
                self.block(reason);
                HandlerStatus::Blocked
            }
            Some((status, _)) => status,
        }
    }

    /// Applies the run of a handler of the older form. Its output and exit status mean nothing; only a failure to run
    /// is said (contract section 11).
    fn legacy(&mut self, outcome: &Outcome, handler: &Handler) -> HandlerStatus {
        match &outcome.end {
            End::Exited(_) | End::Signaled(_) => HandlerStatus::Ok,
            _ => self.outcome(outcome, handler).map_or(HandlerStatus::Ok, |(status, _)| status),
        }
    }

    /// Applies the outcome of one run. A failure is diagnosed, and returned with its cause.
    fn outcome(&mut self, outcome: &Outcome, handler: &Handler) -> Option<(HandlerStatus, String)> {
        if let Some(folder) = &outcome.ran_in_instead {
            let message = format!("the event's cwd is gone; the handler ran in {folder}");
            self.diagnose(code::CWD_MISSING, &message, Some("cwd"));
        }
        let ran = matches!(outcome.end, End::Exited(_) | End::Signaled(_));
        if ran {
            for (stream, name, kind) in [
                (&outcome.stdout, "stdout", code::STDOUT_TRUNCATED),
                (&outcome.stderr, "stderr", code::STDERR_TRUNCATED),
            ] {
                if stream.truncated() {
                    let (total, kept) = (stream.total, stream.bytes.len());
                    self.diagnose(
                        kind,
                        &format!("{name} was {total} bytes long; the first {kept} were kept"),
                        None,
                    );
                }
            }
            if outcome.output_left_open {
                let message = "the handler ended but something it started still holds its output";
                self.note(code::OUTPUT_LEFT_OPEN, message);
            }
        }
        let failed = |reducer: &mut Self, status, kind, cause: String| {
            reducer.diagnose(kind, &cause, None);
            Some((status, cause))
        };
        match &outcome.end {
            End::Exited(0) => self.stdout(&outcome.stdout.bytes),
            End::Exited(2) => {
                self.block(exit_reason(&outcome.stderr.bytes));
                None
            }
            End::Exited(status) => {
                let hint = match (*status, handler.on_failure) {
                    (1, OnFailure::Ignore) => " (1 does not block; 2 does)",
                    (126, _) => " (not executable?)",
                    (127, _) => " (not found?)",
                    _ => "",
                };
                let cause = format!("exited with status {status}{hint}{}", last_words(&outcome.stderr.bytes));
                failed(self, HandlerStatus::Failed, code::NONZERO_EXIT, cause)
            }
            End::Signaled(signal) => {
                let words = last_words(&outcome.stderr.bytes);
                let cause = format!("was killed by signal {signal}{}{words}", signal_name(*signal));
                failed(self, HandlerStatus::Failed, code::NONZERO_EXIT, cause)
            }
            End::TimedOut => {
                let hint = match handler.lifecycle {
                    Lifecycle::Persistent => " (a persistent handler prints one line for each line it reads)",
                    Lifecycle::PerEvent | Lifecycle::Prewarmed => "",
                };
                let took = outcome.duration.as_secs_f64();
                let cause = format!("did not end within its time and was stopped after {took:.3} s{hint}");
                failed(self, HandlerStatus::Timeout, code::TIMEOUT, cause)
            }
            End::Cancelled => {
                failed(self, HandlerStatus::Cancelled, code::CANCELLED, "was cancelled".to_owned())
            }
            End::QueuedOut => {
                let waited = outcome.queued.as_secs_f64();
                let cause = format!("never got its turn: too many handlers were running for {waited:.3} s");
                failed(self, HandlerStatus::QueuedOut, code::QUEUED_OUT, cause)
            }
            End::LaunchFailed { message } => {
                let cause = format!("could not be started: {message}");
                failed(self, HandlerStatus::Failed, code::LAUNCH_FAILED, cause)
            }
            End::InvalidCommand => {
                let cause = "has an empty command: nothing was run".to_owned();
                failed(self, HandlerStatus::Failed, code::INVALID_COMMAND, cause)
            }
        }
    }

    fn stdout(&mut self, stdout: &[u8]) -> Option<(HandlerStatus, String)> {
        match read_stdout(stdout) {
            HandlerOutput::Nothing => None,
            HandlerOutput::Plain { text, reason } => match self.facts.event.plain_output() {
                PlainOutput::Context => {
                    self.context(text);
                    None
                }
                PlainOutput::Ignored => {
                    self.diagnose(code::MALFORMED_JSON, &reason, None);
                    Some((HandlerStatus::Failed, reason))
                }
            },
            HandlerOutput::Invalid(reason) => {
                let cause = format!("the output does not fit the protocol: {reason}");
                self.diagnose(code::INVALID_OUTPUT, &cause, None);
                Some((HandlerStatus::Failed, cause))
            }
            HandlerOutput::Json(output) => self.output(*output),
        }
    }

    fn output(&mut self, full: FullOutput) -> Option<(HandlerStatus, String)> {
        let FullOutput { output, specific, unknown_keys } = full;
        self.stop_reason(&output);
        if let Some(notice) = output.system_message.filter(|_| !output.suppress_output) {
            self.decision.user_notices.push(notice);
        }
        if let Some(sequence) = output.terminal_sequence {
            if terminal::is_allowed(&sequence) {
                self.decision.terminal_sequences.push(sequence);
            } else {
                let message =
                    "only OSC 0, 1, 2, 9, 99 and 777 and BEL may be sent to the terminal; nothing was sent";
                self.diagnose(code::INVALID_TERMINAL_SEQUENCE, message, Some("terminalSequence"));
            }
        }
        for key in unknown_keys {
            self.unsupported(&key, "is not a field of the output protocol");
        }
        if output.decision.is_some() {
            let reason = output.reason.filter(|reason| !reason.is_empty());
            self.block(reason.unwrap_or_else(|| DEFAULT_BLOCK_REASON.to_owned()));
        }
        let mut failure = None;
        let specific = specific.and_then(|(event, specific)| {
            if event == self.facts.event {
                return Some(specific);
            }
            let cause =
                format!("hookSpecificOutput is for {event}, not for {}; it was ignored", self.facts.event);
            self.diagnose(code::MISMATCHED_OUTPUT, &cause, Some("hookSpecificOutput.hookEventName"));
            failure = Some((HandlerStatus::Failed, cause));
            None
        });
        if let Some(specific) = specific {
            self.specific(specific);
        }
        failure
    }

    fn stop_reason(&mut self, output: &Output) {
        if output.continue_processing {
            if output.stop_reason.is_some() {
                let message = "stopReason means nothing without \"continue\": false";
                self.diagnose(code::IGNORED_STOP_REASON, message, Some("stopReason"));
            }
            return;
        }
        self.decision.continue_processing = false;
        self.by.stopped.get_or_insert(self.handler);
        match (&output.stop_reason, &self.decision.stop_reason) {
            (Some(reason), None) => self.decision.stop_reason = Some(reason.clone()),
            (Some(_), Some(_)) => {
                let message = "an earlier handler has given the reason to stop";
                self.diagnose(code::ADDITIONAL_STOP_REASON, message, Some("stopReason"));
            }
            (None, _) => {}
        }
    }

    /// Applies a block, which is exit status 2 or `decision: block`. What it means depends on the event (contract
    /// section 2).
    fn block(&mut self, reason: String) {
        self.blocked = true;
        let event = self.facts.event;
        match event {
            EventName::UserPromptSubmit | EventName::PreCompact => {
                self.decision.continue_processing = false;
                self.by.stopped.get_or_insert(self.handler);
                self.decision.stop_reason.get_or_insert(reason);
            }
            EventName::PermissionRequest | EventName::PreToolUse => {
                self.permission(Permission {
                    behavior: Behavior::Deny,
                    reason: Some(reason),
                    interrupt: false,
                });
            }
            EventName::PostToolUse | EventName::PostToolUseFailure => self.feedback(reason),
            EventName::Stop => self.continue_loop(reason),
            EventName::SubagentStop if self.facts.continuation_count != 0 => {
                let message = "the subagent was made to go on already; this block is ignored";
                self.decision.diagnostics.push(Diagnostic::warning(code::CONTINUATION_GUARD, message));
                self.blocked = false;
            }
            EventName::SubagentStop => {
                let message = format!("{event} cannot be blocked; the reason is kept as context");
                self.diagnose(code::UNSUPPORTED_BLOCK, &message, Some("decision"));
                self.context(reason);
                self.blocked = false;
            }
            EventName::SessionStart
            | EventName::SessionEnd
            | EventName::Notification
            | EventName::SubagentStart => {
                let message = format!("{event} cannot be blocked; the reason was: {reason}");
                self.diagnose(code::UNSUPPORTED_BLOCK, &message, Some("decision"));
                self.blocked = false;
            }
        }
    }

    fn continue_loop(&mut self, text: String) {
        if self.facts.continuation_count >= CONTINUATION_CAP {
            let message =
                format!("the agent was made to go on {CONTINUATION_CAP} times already; it may stop now");
            self.decision.diagnostics.push(Diagnostic::warning(code::CONTINUATION_CAP, message));
            return;
        }
        if let Body::Stop { continue_loop, feedback } = &mut self.decision.body {
            *continue_loop = true;
            feedback.push(text);
            self.by.spoke.get_or_insert(self.handler);
        }
    }

    /// Applies a permission. A deny is stronger than an ask, and that is stronger than an allow; among equals the
    /// first one counts.
    fn permission(&mut self, proposed: Permission) {
        if let Body::Permission { permission } | Body::PreTool { permission, .. } = &mut self.decision.body
            && proposed.behavior > permission.behavior
        {
            *permission = proposed;
            self.by.permission = Some(self.handler);
        }
    }

    fn optional_context(&mut self, text: Option<String>) {
        if let Some(text) = text {
            self.context(text);
        }
    }

    fn context(&mut self, text: String) {
        if let Body::Context { context }
        | Body::Prompt { context, .. }
        | Body::PreTool { context, .. }
        | Body::PostTool { context, .. } = &mut self.decision.body
        {
            context.push(text);
            self.by.context.get_or_insert(self.handler);
        }
    }

    fn feedback(&mut self, text: String) {
        if let Body::PostTool { feedback, .. } = &mut self.decision.body {
            feedback.push(text);
            self.by.spoke.get_or_insert(self.handler);
        }
    }

    fn unsupported(&mut self, field: &str, why: &str) {
        self.diagnose(code::UNSUPPORTED_FIELD, &format!("{field} {why}"), Some(field));
    }

    fn diagnose(&mut self, kind: &str, message: &str, field: Option<&str>) {
        let mut diagnostic = Diagnostic::warning(kind, message).handler(self.handler);
        diagnostic.field = field.map(str::to_owned);
        self.decision.diagnostics.push(diagnostic);
    }

    fn note(&mut self, kind: &str, message: &str) {
        let diagnostic = Diagnostic::warning(kind, message).handler(self.handler).severity(Severity::Debug);
        self.decision.diagnostics.push(diagnostic);
    }
}
