//! The journal: what ran, and why it was decided so.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::HandlerStatus;
use crate::diagnostic::Diagnostic;
use crate::timestamp::Timestamp;

/// Params of `journal/query`. Newest first; what is absent is not asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JournalQuery {
    /// Only this invocation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocation_id: Option<String>,
    /// Only this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Only this event, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Only calls of this tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Only events for which this handler was, by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
    /// Only events with this outcome, or with a handler that has ended so (the one named, if one is).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Only from this time on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Only before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// At most so many, 1 to 1000; default 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Go on where another page has ended: its `cursor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<i64>,
}

/// Result of `journal/query`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JournalPage {
    /// The records, newest first.
    pub records: Vec<JournalRecord>,
    /// Where the next page begins; null when this was the last.
    pub cursor: Option<i64>,
}

/// One event as the journal keeps it. Texts are without secrets and cut at a limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JournalRecord {
    /// When it came: RFC 3339, UTC.
    #[schemars(with = "String")]
    pub time: Timestamp,
    /// Its id.
    pub invocation_id: String,
    /// The session.
    pub session: String,
    /// The conversation.
    pub thread_id: String,
    /// The client, as it has called itself in `initialize`.
    #[serde(default)]
    pub client: Option<String>,
    /// The agent, when a bridge has asked for one that does not know hooksd.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The event.
    pub event: String,
    /// The tool it is about.
    #[serde(default)]
    pub tool: Option<String>,
    /// What it ran against.
    pub snapshot_id: String,
    /// Its folder.
    pub cwd: String,
    /// `deny`, `ask`, `allow`, `stop`, `continue`, `feedback`, `context`, `none`, `cancelled`, `failed`.
    pub outcome: String,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
    /// The handler that has decided.
    #[serde(default)]
    pub winner: Option<String>,
    /// From the request to the answer. Microseconds.
    pub duration_us: u64,
    /// The handlers that were for it, in configuration order.
    #[serde(default)]
    pub handlers: Vec<JournalHandler>,
    /// What did not count.
    #[serde(default)]
    pub diagnostics: Vec<Diagnostic>,
    /// What handlers read, when payloads are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
}

/// One handler's run as the journal keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JournalHandler {
    /// `EVENT:group:handler`.
    pub id: String,
    /// The document it comes from.
    pub source: String,
    /// What was run.
    pub command: String,
    /// How it went.
    pub status: HandlerStatus,
    /// Its exit status, if it exited by itself.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// The signal that killed it, if one did.
    #[serde(default)]
    pub signal: Option<i32>,
    /// From the event's arrival to asking for the run. Microseconds.
    #[serde(default)]
    pub start_us: u64,
    /// Waiting before the spawn. Microseconds.
    pub queue_us: u64,
    /// From the spawn to the end, reading the last of its output included. Microseconds.
    pub run_us: u64,
    /// Of `run_us`: starting the process. Microseconds; zero for one that was there before the event.
    #[serde(default)]
    pub spawn_us: u64,
    /// Of `run_us`: the process had ended, what holds its output had not. Microseconds.
    #[serde(default)]
    pub drain_us: u64,
    /// Bytes it wrote to stdout.
    pub stdout_bytes: u64,
    /// Bytes it wrote to stderr.
    pub stderr_bytes: u64,
    /// Whether anything of that was cut.
    #[serde(default)]
    pub truncated: bool,
    /// Whether its process was there before the event.
    #[serde(default)]
    pub warm: bool,
    /// What it printed, when payloads are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// What it complained, when payloads are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
}

/// How the journal is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JournalState {
    /// Whether events are written to it.
    pub enabled: bool,
    /// Whether its database is open.
    #[serde(default)]
    pub ready: bool,
    /// Its database.
    pub path: Option<String>,
    /// Records written since the start.
    pub written: u64,
    /// Records that were lost since the start: the queue was full, or the database could not be written.
    pub lost: u64,
    /// Records that wait to be written.
    pub waiting: usize,
    /// What is wrong, if anything is.
    pub problem: Option<String>,
}
