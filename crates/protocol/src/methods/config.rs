//! Configuration: check and show.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::legacy::LegacyCommand;
use super::session::{ProjectInfo, SnapshotInfo};
use crate::diagnostic::Diagnostic;
use crate::event::EventName;

/// Whose document `config/check` checks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The user's.
    #[default]
    User,
    /// A project's.
    Project,
    /// A plugin's.
    Plugin,
}

/// Params of `config/check`. Exactly one of `path` and `document`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigCheck {
    /// An absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The document's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// Whose document it would be.
    #[serde(default)]
    pub scope: Scope,
}

/// Result of `config/check`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    /// Whether the document would be used at all.
    pub usable: bool,
    /// Handlers that would run on something.
    pub handlers: usize,
    /// What would not count.
    pub diagnostics: Vec<Diagnostic>,
}

/// Params of `config/show`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigShow {
    /// An absolute path: what a new interactive session there would get.
    pub cwd: String,
}

/// One handler of `config/show`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HandlerInfo {
    /// `EVENT:group:handler`.
    pub id: String,
    /// The event.
    pub event: EventName,
    /// The group's matcher.
    pub matcher: Option<String>,
    /// The shell command.
    pub command: String,
    /// The program and its arguments, run directly instead.
    pub argv: Option<Vec<String>>,
    /// Its own time limit in seconds.
    pub timeout: Option<f64>,
    /// Shown while it runs.
    pub status_message: Option<String>,
    /// What its failure means: `ignore` or `block`.
    pub on_failure: String,
    /// How long its process lives: `per_event`, `prewarmed` or `persistent`.
    pub lifecycle: String,
    /// Processes at most, unless it is per event.
    pub workers: u8,
    /// The document it comes from.
    pub source: String,
}

/// Result of `config/show`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigShown {
    /// The snapshot.
    pub snapshot: SnapshotInfo,
    /// The project.
    pub project: ProjectInfo,
    /// The handlers, in configuration order.
    pub handlers: Vec<HandlerInfo>,
    /// The commands of list-shaped documents, which also run on events of the older form.
    pub legacy: Vec<LegacyCommand>,
}
