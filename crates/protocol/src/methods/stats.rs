//! Counters and latencies.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::JournalState;

/// Result of `daemon/stats`. Everything since the start of the daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DaemonStats {
    /// The package version.
    pub version: String,
    /// Since its start.
    pub uptime_seconds: u64,
    /// Events by name; those that hooksd does not know together, as `other`.
    pub events: BTreeMap<String, Latency>,
    /// Handlers, by document and id. Those beyond the limit of 1,024 together, as `other`.
    pub handlers: Vec<HandlerStats>,
    /// Open connections.
    pub connections: usize,
    /// Connections refused because there were too many.
    pub connections_refused: u64,
    /// Open sessions.
    pub sessions: usize,
    /// Compiled snapshots in use.
    pub snapshots: usize,
    /// Handler processes now running.
    pub running_handlers: usize,
    /// Handlers that wait for their turn.
    pub queued_handlers: usize,
    /// Events that wait for their turn.
    pub queued_events: usize,
    /// Processes that wait for an event or stay between events.
    pub warm_processes: usize,
    /// Bytes of lines that have not ended yet.
    pub unfinished_line_bytes: usize,
    /// Subscriptions to the streams.
    pub subscribers: usize,
    /// Items that subscribers have lost.
    pub items_lost: u64,
    /// Subscriptions that were dropped.
    pub subscribers_dropped: u64,
    /// The journal.
    pub journal: JournalState,
    /// Open descriptors; null where the system does not tell.
    pub descriptors: Option<u64>,
    /// Memory in RAM. Bytes; null where the system does not tell.
    pub resident_bytes: Option<u64>,
}

/// How long something took. Microseconds; percentiles are at most an eighth too large.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// How often.
    pub count: u64,
    /// All of it together.
    pub sum_us: u64,
    /// Half took at most so long.
    pub p50_us: u64,
    /// 95 of 100 did.
    pub p95_us: u64,
    /// 99 of 100 did.
    pub p99_us: u64,
    /// The longest.
    pub max_us: u64,
    /// How they ended, by the name of the outcome or status; those that never did are left out.
    pub outcomes: BTreeMap<String, u64>,
}

/// One handler's runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HandlerStats {
    /// `EVENT:group:handler`.
    pub id: String,
    /// The document it comes from.
    pub source: String,
    /// From spawn to end.
    pub latency: Latency,
}
