//! The params and the result of every method, and the params of every notification (PROTOCOL). These are types on the
//! wire and nothing else.

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

pub use crate::ids::PROTOCOL_VERSION;
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

/// Result of methods that have nothing to return.
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
    /// The program that connects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientInfo>,
    /// The version of the protocol that the client speaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<u64>,
}

/// A program that connects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClientInfo {
    /// The name of the program.
    pub name: String,
    /// The version of the program.
    #[serde(default)]
    pub version: Option<String>,
    /// Whether the program only looks on. It may then read the texts of all sessions in the streams, and opens no
    /// session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub observer: bool,
}

/// Result of `initialize`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Initialized {
    /// The name of the daemon, which is always `hooksd`.
    pub name: String,
    /// The package version.
    pub version: String,
    /// Tells builds of one version apart; empty from a daemon that does not know its own.
    #[serde(default)]
    pub build: String,
    /// The version of the protocol that the daemon speaks.
    pub protocol_version: u32,
    /// The names of the methods that this daemon knows.
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
    /// The version of the protocol that the daemon speaks.
    pub protocol_version: u32,
    /// The id of the daemon's process.
    pub pid: u32,
    /// How long the daemon has been running. Seconds.
    pub uptime_seconds: u64,
    /// The path of the socket that the daemon listens on; null when it has no path.
    pub socket: Option<String>,
    /// The path of the folder with the user's hooks.json.
    pub config_dir: String,
    /// How the daemon notices changes of documents: `watching`, or `polling` with the reason.
    pub changes: String,
    /// How many connections are open.
    pub connections: usize,
    /// How many sessions are open.
    pub sessions: usize,
    /// How many of the sessions run handlers in the daemon's environment, because they have sent none (D14).
    pub sessions_without_environment: usize,
    /// How many handlers run now.
    pub running_handlers: usize,
    /// How many handlers may run at once, those of nested calls included.
    #[serde(default)]
    pub max_handlers: usize,
    /// How many handlers wait for their turn.
    #[serde(default)]
    pub queued_handlers: usize,
    /// How many events wait for their turn to have their handlers chosen.
    #[serde(default)]
    pub queued_events: usize,
    /// How many processes of handlers wait for an event, or stay between events.
    #[serde(default)]
    pub warm_processes: usize,
    /// How many events the daemon has answered since its start.
    pub events: u64,
    /// The state of the journal.
    #[serde(default)]
    pub journal: JournalState,
}

/// Params of `daemon/shutdown`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DaemonShutdown {
    /// How long events that run may still take. Milliseconds. Without it, that is what the daemon's settings say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_ms: Option<u64>,
}

/// Result of `daemon/reload`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reloaded {
    /// Whether any document has changed since the daemon looked at it last.
    pub changed: bool,
}
