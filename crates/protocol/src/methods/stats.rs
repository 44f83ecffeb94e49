//! What the daemon has counted and measured: `daemon/stats`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::JournalState;

/// Result of `daemon/stats`. Everything is counted since the start of the daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DaemonStats {
    /// The package version.
    pub version: String,
    /// How long the daemon has been running. Seconds.
    pub uptime_seconds: u64,
    /// The events, by name. Those that hooksd does not know are counted together, as `other`.
    pub events: BTreeMap<String, Latency>,
    /// The handlers, by document and id. Those beyond the limit of 1,024 are counted together, as `other`.
    pub handlers: Vec<HandlerStats>,
    /// How many connections are open.
    pub connections: usize,
    /// How many connections were refused because there were too many.
    pub connections_refused: u64,
    /// How many sessions are open.
    pub sessions: usize,
    /// How many snapshots are in use.
    pub snapshots: usize,
    /// How many handlers run now.
    pub running_handlers: usize,
    /// How many handlers wait for their turn.
    pub queued_handlers: usize,
    /// How many events wait for their turn.
    pub queued_events: usize,
    /// How many processes of handlers wait for an event, or stay between events.
    pub warm_processes: usize,
    /// How much has come of lines whose end has not come yet. Bytes.
    pub unfinished_line_bytes: usize,
    /// How many subscriptions to the streams there are.
    pub subscribers: usize,
    /// How many items subscribers have lost.
    pub items_lost: u64,
    /// How many subscriptions were dropped.
    pub subscribers_dropped: u64,
    /// The state of the journal.
    pub journal: JournalState,
    /// How many descriptors are open; null where the system does not tell.
    pub descriptors: Option<u64>,
    /// How much memory the daemon takes in RAM. Bytes; null where the system does not tell.
    pub resident_bytes: Option<u64>,
}

/// How long something took. Microseconds; percentiles are at most an eighth too large.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// How often it happened.
    pub count: u64,
    /// How long all of it took together. Microseconds.
    pub sum_us: u64,
    /// Half of it took at most so long. Microseconds.
    pub p50_us: u64,
    /// 95 of 100 took at most so long. Microseconds.
    pub p95_us: u64,
    /// 99 of 100 took at most so long. Microseconds.
    pub p99_us: u64,
    /// How long the longest took. Microseconds.
    pub max_us: u64,
    /// How often each outcome of an event, or each status of a handler, was there. Those that never were are left out.
    pub outcomes: BTreeMap<String, u64>,
}

/// One handler's runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HandlerStats {
    /// The id of the handler: `EVENT:group:handler`.
    pub id: String,
    /// The document from which it comes.
    pub source: String,
    /// How long its runs took, from the spawn to the end.
    pub latency: Latency,
}
