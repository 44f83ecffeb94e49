//! Checks documents and shows what is configured: `config/check` and `config/show`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::legacy::LegacyCommand;
use super::session::{ProjectInfo, SnapshotInfo};
use crate::diagnostic::Diagnostic;
use crate::event::EventName;

/// Whose document it is that `config/check` checks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// It is the user's.
    #[default]
    User,
    /// It is a project's.
    Project,
    /// It is a plugin's.
    Plugin,
}

/// Params of `config/check`. Exactly one of `path` and `document` is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigCheck {
    /// The absolute path of the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The text of the document.
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
    /// How many of its handlers would run on some event.
    pub handlers: usize,
    /// What in the document would not count.
    pub diagnostics: Vec<Diagnostic>,
}

/// Params of `config/show`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigShow {
    /// The absolute path of a folder. Shown is what a new interactive session there would get.
    pub cwd: String,
}

/// One handler of `config/show`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HandlerInfo {
    /// The id of the handler: `EVENT:group:handler`.
    pub id: String,
    /// The event on which it runs.
    pub event: EventName,
    /// The matcher of its group; null when it has none.
    pub matcher: Option<String>,
    /// The shell command that it runs.
    pub command: String,
    /// The program that is run directly instead, with its arguments; null when the shell command is run.
    pub argv: Option<Vec<String>>,
    /// Its own time limit. Seconds; null when it has none.
    pub timeout: Option<f64>,
    /// The text that is shown while it runs.
    pub status_message: Option<String>,
    /// What its failure means: `ignore` or `block`.
    pub on_failure: String,
    /// How long its process lives: `per_event`, `prewarmed` or `persistent`.
    pub lifecycle: String,
    /// How many processes it has at most, unless its lifecycle is `per_event`.
    pub workers: u8,
    /// The document from which it comes.
    pub source: String,
}

/// Result of `config/show`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigShown {
    /// The snapshot that the session would get.
    pub snapshot: SnapshotInfo,
    /// What is known of the project's document.
    pub project: ProjectInfo,
    /// The handlers, in configuration order.
    pub handlers: Vec<HandlerInfo>,
    /// The commands of list-shaped documents, which also run on events of the older form.
    pub legacy: Vec<LegacyCommand>,
}
