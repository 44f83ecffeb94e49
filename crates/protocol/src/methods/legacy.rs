//! Reports events of the older form: `legacy/emit`.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::session::SessionRef;
use hooksd_json::RawJson;

/// An event of the older form (contract section 11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs, reason = "the names say it; docs/hooks.md lists their fields")]
pub enum LegacyName {
    #[serde(rename = "session.start")]
    SessionStart,
    #[serde(rename = "session.end")]
    SessionEnd,
    #[serde(rename = "task.complete")]
    TaskComplete,
    #[serde(rename = "user.prompt")]
    UserPrompt,
    #[serde(rename = "input.required")]
    InputRequired,
    #[serde(rename = "context.compact")]
    ContextCompact,
    #[serde(rename = "context.offload")]
    ContextOffload,
    #[serde(rename = "permission.request")]
    PermissionRequest,
    #[serde(rename = "tool.error")]
    ToolError,
    #[serde(rename = "tool.use")]
    ToolUse,
    #[serde(rename = "tool.result")]
    ToolResult,
    #[serde(rename = "user.name.set")]
    UserNameSet,
}

impl LegacyName {
    /// All names, in the order in which the contract lists them.
    pub const ALL: [LegacyName; 12] = [
        LegacyName::SessionStart,
        LegacyName::SessionEnd,
        LegacyName::TaskComplete,
        LegacyName::UserPrompt,
        LegacyName::InputRequired,
        LegacyName::ContextCompact,
        LegacyName::ContextOffload,
        LegacyName::PermissionRequest,
        LegacyName::ToolError,
        LegacyName::ToolUse,
        LegacyName::ToolResult,
        LegacyName::UserNameSet,
    ];

    /// The name in documents, requests and handlers' stdin.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            LegacyName::SessionStart => "session.start",
            LegacyName::SessionEnd => "session.end",
            LegacyName::TaskComplete => "task.complete",
            LegacyName::UserPrompt => "user.prompt",
            LegacyName::InputRequired => "input.required",
            LegacyName::ContextCompact => "context.compact",
            LegacyName::ContextOffload => "context.offload",
            LegacyName::PermissionRequest => "permission.request",
            LegacyName::ToolError => "tool.error",
            LegacyName::ToolUse => "tool.use",
            LegacyName::ToolResult => "tool.result",
            LegacyName::UserNameSet => "user.name.set",
        }
    }
}

impl fmt::Display for LegacyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Params of `legacy/emit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LegacyEmit {
    /// The session in which the event has happened.
    pub session: SessionRef,
    /// The name of the event.
    pub event: LegacyName,
    /// The fields of the event, without `event`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<RawJson>,
}

/// Result of `legacy/emit`. It comes at once, while the commands run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LegacyEmitted {
    /// Whether the commands were started. They are not when hooks run too deep inside of hooks.
    pub accepted: bool,
    /// How many commands the event has.
    pub handlers: usize,
}

/// A command of a list-shaped document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LegacyCommand {
    /// The program that is run directly, with its arguments.
    pub argv: Vec<String>,
    /// The events on which it runs; null when it runs on all.
    pub events: Option<Vec<String>>,
    /// The document from which it comes.
    pub source: String,
}

impl LegacyCommand {
    /// Whether it runs on this event.
    #[must_use]
    pub fn wants(&self, event: LegacyName) -> bool {
        self.events.as_ref().is_none_or(|events| events.iter().any(|name| name == event.as_str()))
    }
}
