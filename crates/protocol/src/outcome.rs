//! What became of one run of a handler, and what an event has come to.
//!
//! The runner makes an [`Outcome`] and the engine reads it; both depend on this crate and not on each other. The
//! words by which ends are recorded, counted and told stand here and nowhere else.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an event has come to, in one word: the strongest thing that its decision says, or why it has no decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventOutcome {
    /// No handler had anything to say.
    None,
    /// A handler has denied it.
    Deny,
    /// A handler wants the person to be asked.
    Ask,
    /// A handler has allowed it.
    Allow,
    /// A handler wants the agent to stop.
    Stop,
    /// A handler wants the agent to go on instead of stopping.
    Continue,
    /// A handler has given feedback.
    Feedback,
    /// A handler has given context.
    Context,
    /// The request was cancelled before there was a decision.
    Cancelled,
    /// The request has failed, so that there is no decision.
    Failed,
}

impl EventOutcome {
    /// All outcomes, in the order in which they are declared.
    pub const ALL: [EventOutcome; 10] = [
        EventOutcome::None,
        EventOutcome::Deny,
        EventOutcome::Ask,
        EventOutcome::Allow,
        EventOutcome::Stop,
        EventOutcome::Continue,
        EventOutcome::Feedback,
        EventOutcome::Context,
        EventOutcome::Cancelled,
        EventOutcome::Failed,
    ];

    /// The word, as JSON has it. The journal, the streams and the counters have this word, so that none of them can
    /// meet an outcome which it does not know.
    ///
    /// ```
    /// use hooksd_protocol::outcome::EventOutcome;
    ///
    /// assert_eq!(EventOutcome::Deny.as_str(), "deny");
    /// assert_eq!(serde_json::from_str::<EventOutcome>("\"deny\"")?, EventOutcome::Deny);
    /// assert!(serde_json::from_str::<EventOutcome>("\"denied\"").is_err());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            EventOutcome::None => "none",
            EventOutcome::Deny => "deny",
            EventOutcome::Ask => "ask",
            EventOutcome::Allow => "allow",
            EventOutcome::Stop => "stop",
            EventOutcome::Continue => "continue",
            EventOutcome::Feedback => "feedback",
            EventOutcome::Context => "context",
            EventOutcome::Cancelled => "cancelled",
            EventOutcome::Failed => "failed",
        }
    }
}

impl fmt::Display for EventOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How the run of a handler went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HandlerStatus {
    /// It ran and did not block.
    Ok,
    /// It blocked: exit 2, a deny, `decision: block`, or a failure with `onFailure: "block"`.
    Blocked,
    /// It could not start, crashed, exited oddly or printed an invalid answer.
    Failed,
    /// Its time ran out.
    Timeout,
    /// The request's deadline came before its turn: too many handlers were running.
    QueuedOut,
    /// The request was cancelled.
    Cancelled,
    /// It did not run.
    Skipped,
}

impl HandlerStatus {
    /// All statuses, in the order in which they are declared.
    pub const ALL: [HandlerStatus; 7] = [
        HandlerStatus::Ok,
        HandlerStatus::Blocked,
        HandlerStatus::Failed,
        HandlerStatus::Timeout,
        HandlerStatus::QueuedOut,
        HandlerStatus::Cancelled,
        HandlerStatus::Skipped,
    ];

    /// The word, as JSON has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            HandlerStatus::Ok => "ok",
            HandlerStatus::Blocked => "blocked",
            HandlerStatus::Failed => "failed",
            HandlerStatus::Timeout => "timeout",
            HandlerStatus::QueuedOut => "queued_out",
            HandlerStatus::Cancelled => "cancelled",
            HandlerStatus::Skipped => "skipped",
        }
    }
}

/// How a handler run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The process exited by itself with this status, 0 to 255.
    Exited(i32),
    /// The process was killed by this signal, and not by us.
    Signaled(i32),
    /// Its time ran out; its process tree was killed.
    TimedOut,
    /// The request was cancelled; its process tree was killed.
    Cancelled,
    /// It never got its turn: too many handlers were running until the request's deadline.
    QueuedOut,
    /// The process could not be started.
    LaunchFailed {
        /// What happened, to which program or folder, and what to do; one line for people.
        message: String,
    },
    /// The handler has no command: nothing but white space (contract section 6, `invalid_command`).
    InvalidCommand,
}

impl End {
    /// The word for it in the streams.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            End::Exited(_) => "exited",
            End::Signaled(_) => "signaled",
            End::TimedOut => "timed_out",
            End::Cancelled => "cancelled",
            End::QueuedOut => "queued_out",
            End::LaunchFailed { .. } => "launch_failed",
            End::InvalidCommand => "invalid_command",
        }
    }
}

/// One output stream of a handler, of which the first bytes are kept. The rest was read and thrown away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes, at most the cap.
    pub bytes: Vec<u8>,
    /// Bytes written in all, kept or not.
    pub total: u64,
}

impl Captured {
    /// Whether the stream held more than what was kept.
    #[must_use]
    pub fn truncated(&self) -> bool {
        self.total > self.bytes.len() as u64
    }
}

/// What became of one handler run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How the run ended.
    pub end: End,
    /// Standard output. Empty unless the process ran.
    pub stdout: Captured,
    /// Standard error. Empty unless the process ran.
    pub stderr: Captured,
    /// A descendant still held an output pipe when the grace after exit ended (D1).
    pub output_left_open: bool,
    /// The event's cwd was gone and the handler ran elsewhere (D3): the folder it ran in.
    pub ran_in_instead: Option<String>,
    /// From the spawn to the end of the run.
    pub duration: Duration,
    /// From asking for a run to the spawn.
    pub queued: Duration,
    /// The part of `duration` in which the process was started; zero for one that was there already.
    pub spawn: Duration,
    /// The part of `duration` in which the process had ended and its output had not.
    pub drain: Duration,
}

impl Outcome {
    /// An outcome of a run that never started a process.
    #[must_use]
    pub fn without_process(end: End) -> Outcome {
        Outcome {
            end,
            stdout: Captured::default(),
            stderr: Captured::default(),
            output_left_open: false,
            ran_in_instead: None,
            duration: Duration::ZERO,
            queued: Duration::ZERO,
            spawn: Duration::ZERO,
            drain: Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is counted is found by its number, and what is recorded by its word.
    #[test]
    fn every_outcome_and_status_has_its_number_and_its_word() {
        for (number, outcome) in EventOutcome::ALL.into_iter().enumerate() {
            assert_eq!(outcome as usize, number);
            assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.as_str());
        }
        for (number, status) in HandlerStatus::ALL.into_iter().enumerate() {
            assert_eq!(status as usize, number);
            assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
        }
    }
}
