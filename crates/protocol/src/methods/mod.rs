//! Params and results of every method, and notifications (PROTOCOL). Wire types only.

mod agent;
mod config;
mod events;
mod explain;
mod hook;
mod journal;
mod legacy;
mod session;
mod settings;
mod stats;
mod transcript;
mod trust;

pub use agent::*;
pub use config::*;
pub use events::*;
pub use explain::*;
pub use hook::*;
pub use journal::*;
pub use legacy::*;
pub use session::*;
pub use settings::*;
pub use stats::*;
pub use transcript::*;
pub use trust::*;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The protocol version this build speaks.
pub const PROTOCOL_VERSION: u32 = 1;

/// Result of methods that have nothing to say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Done {}

/// Params of methods that take none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoParams {}

/// Params of `initialize`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Initialize {
    /// Who connects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientInfo>,
    /// The version the client speaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<u64>,
}

/// Who connects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClientInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    #[serde(default)]
    pub version: Option<String>,
    /// Whether it only looks on: it may read the texts of all sessions in the streams, and opens none of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub observer: bool,
}

/// Result of `initialize`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Initialized {
    /// Always `hooksd`.
    pub name: String,
    /// The package version.
    pub version: String,
    /// Tells builds of one version apart; empty from a daemon that does not know its own.
    #[serde(default)]
    pub build: String,
    /// The protocol version that is spoken.
    pub protocol_version: u32,
    /// The methods this daemon knows.
    pub methods: Vec<String>,
}

/// Result of `daemon/status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DaemonStatus {
    /// The package version.
    pub version: String,
    /// Tells builds of one version apart; empty from a daemon that does not know its own.
    #[serde(default)]
    pub build: String,
    /// The protocol version.
    pub protocol_version: u32,
    /// Its process.
    pub pid: u32,
    /// Since its start.
    pub uptime_seconds: u64,
    /// Its socket.
    pub socket: Option<String>,
    /// The folder of the user's hooks.json.
    pub config_dir: String,
    /// How changes of documents are noticed: `watching`, or `polling` and why.
    pub changes: String,
    /// Open connections.
    pub connections: usize,
    /// Open sessions.
    pub sessions: usize,
    /// Of those, how many run handlers in the daemon's environment because they sent none (D14).
    pub sessions_without_environment: usize,
    /// Handler processes now running.
    pub running_handlers: usize,
    /// Handlers that may run at once, those of nested calls included.
    #[serde(default)]
    pub max_handlers: usize,
    /// Handlers that wait for their turn.
    #[serde(default)]
    pub queued_handlers: usize,
    /// Events that wait for their turn to have their handlers selected.
    #[serde(default)]
    pub queued_events: usize,
    /// Processes that wait for an event or stay between events.
    #[serde(default)]
    pub warm_processes: usize,
    /// Events answered since the start.
    pub events: u64,
    /// The journal: where it is and what became of it.
    #[serde(default)]
    pub journal: JournalState,
}

/// Params of `daemon/shutdown`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DaemonShutdown {
    /// How long running events may still take. Milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_ms: Option<u64>,
}

/// Result of `daemon/reload`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reloaded {
    /// Whether any document has changed since it was looked at last.
    pub changed: bool,
}
