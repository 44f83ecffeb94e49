//! Asks the journal what ran, and why it was decided so: `journal/query`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;
use crate::outcome::{EventOutcome, HandlerStatus};
use crate::timestamp::Timestamp;

/// Params of `journal/query`. A record has to fit every param that is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JournalQuery {
    /// Only events whose id is this, or begins with this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocation_id: Option<String>,
    /// Only events of the session with this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Only events of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Only calls of this tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Only events on which the handler with this id was to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
    /// Only events with this outcome, or with a handler of this status. If `handler` is given, it is that handler's
    /// status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Only events from this time on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Only events before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// How many records the page may have, from 1 to 1000; 100 without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// The `cursor` of the page after which this one begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<i64>,
}

/// Result of `journal/query`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JournalPage {
    /// The records, the newest first.
    pub records: Vec<JournalRecord>,
    /// Where the next page begins; null when this was the last.
    pub cursor: Option<i64>,
}

/// One event as the journal keeps it. Its texts have no secrets and are cut at a limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JournalRecord {
    /// When the event came: RFC 3339, in UTC.
    #[schemars(with = "String")]
    pub time: Timestamp,
    /// The id of the event.
    pub invocation_id: String,
    /// The id of the session.
    pub session: String,
    /// The id of the conversation.
    pub thread_id: String,
    /// The name that the client has given itself in `initialize`.
    #[serde(default)]
    pub client: Option<String>,
    /// The name of the agent, when a bridge has asked for one that does not know hooksd.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The name of the event.
    pub event: String,
    /// The name of the tool that the event is about; null when it is about none.
    #[serde(default)]
    pub tool: Option<String>,
    /// The id of the snapshot against which it ran.
    pub snapshot_id: String,
    /// The path of the event's working directory.
    pub cwd: String,
    /// What the event has come to.
    pub outcome: EventOutcome,
    /// Why it has come to that, in the words of the handler that has decided.
    #[serde(default)]
    pub reason: Option<String>,
    /// The id of the handler that has decided; null when none has.
    #[serde(default)]
    pub winner: Option<String>,
    /// From the request to the answer. Microseconds.
    pub duration_us: u64,
    /// The handlers that were chosen for the event, in configuration order.
    #[serde(default)]
    pub handlers: Vec<JournalHandler>,
    /// What did not count, and why not.
    #[serde(default)]
    pub diagnostics: Vec<Diagnostic>,
    /// What the handlers have read, when the journal keeps payloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
}

/// One handler's run as the journal keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JournalHandler {
    /// The id of the handler: `EVENT:group:handler`.
    pub id: String,
    /// The document from which it comes.
    pub source: String,
    /// What was run.
    pub command: String,
    /// How the run went.
    pub status: HandlerStatus,
    /// The exit status, if the process has exited by itself.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// The number of the signal that has killed the process, if one has.
    #[serde(default)]
    pub signal: Option<i32>,
    /// How long it took from the arrival of the event until the run was asked for. Microseconds.
    #[serde(default)]
    pub start_us: u64,
    /// How long the run waited for its turn before the spawn. Microseconds.
    pub queue_us: u64,
    /// How long it took from the spawn to the end, until the last of the output was read. Microseconds.
    pub run_us: u64,
    /// The part of `run_us` in which the process was started. Microseconds; zero for one that was there before the
    /// event.
    #[serde(default)]
    pub spawn_us: u64,
    /// The part of `run_us` in which the process had ended, and something else still held its output. Microseconds.
    #[serde(default)]
    pub drain_us: u64,
    /// How much the process has written to stdout. Bytes.
    pub stdout_bytes: u64,
    /// How much the process has written to stderr. Bytes.
    pub stderr_bytes: u64,
    /// Whether anything of stdout or stderr was not kept.
    #[serde(default)]
    pub truncated: bool,
    /// Whether the process was there before the event.
    #[serde(default)]
    pub warm: bool,
    /// What the process has written to stdout, when the journal keeps payloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// What the process has written to stderr, when the journal keeps payloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
}

/// The state of the journal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JournalState {
    /// Whether events are written to the journal.
    pub enabled: bool,
    /// Whether the database of the journal is open.
    #[serde(default)]
    pub ready: bool,
    /// The path of the database; null when the journal is off.
    pub path: Option<String>,
    /// How many records were written since the start of the daemon.
    pub written: u64,
    /// How many records were lost since the start of the daemon, because the queue was full or the database could not
    /// be written.
    pub lost: u64,
    /// How many records wait to be written.
    pub waiting: usize,
    /// What is wrong with the journal; null when nothing is.
    pub problem: Option<String>,
}
