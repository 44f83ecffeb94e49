//! The twelve events and what is fixed for each (contract section 2).

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs, reason = "the names are the contract; contract section 2 describes each")]
pub enum EventName {
    SessionStart,
    UserPromptSubmit,
    SessionEnd,
    PermissionRequest,
    Notification,
    PreToolUse,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    Stop,
    SubagentStart,
    SubagentStop,
}

/// Who originates an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The agent's front.
    Client,
    /// The agent's graph or server side. A session is told which of these events have handlers, so that it need not
    /// send the others.
    Server,
}

/// What stdout means that is not JSON, when the handler exits with 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainOutput {
    /// It is context for the agent.
    Context,
    /// It is diagnosed as `malformed_json` and has no effect.
    Ignored,
}

/// How long a handler may run by default. Seconds (contract section 2).
pub const DEFAULT_TIMEOUT_SECONDS: f64 = 600.0;

/// How long a handler of UserPromptSubmit may run by default, where a person is waiting. Seconds (contract section 2).
pub const PROMPT_TIMEOUT_SECONDS: f64 = 30.0;

impl EventName {
    /// All events, in the order of contract section 2.
    pub const ALL: [EventName; 12] = [
        EventName::SessionStart,
        EventName::UserPromptSubmit,
        EventName::SessionEnd,
        EventName::PermissionRequest,
        EventName::Notification,
        EventName::PreToolUse,
        EventName::PostToolUse,
        EventName::PostToolUseFailure,
        EventName::PreCompact,
        EventName::Stop,
        EventName::SubagentStart,
        EventName::SubagentStop,
    ];

    /// The name as it is written in hooks.json.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            EventName::SessionStart => "SessionStart",
            EventName::UserPromptSubmit => "UserPromptSubmit",
            EventName::SessionEnd => "SessionEnd",
            EventName::PermissionRequest => "PermissionRequest",
            EventName::Notification => "Notification",
            EventName::PreToolUse => "PreToolUse",
            EventName::PostToolUse => "PostToolUse",
            EventName::PostToolUseFailure => "PostToolUseFailure",
            EventName::PreCompact => "PreCompact",
            EventName::Stop => "Stop",
            EventName::SubagentStart => "SubagentStart",
            EventName::SubagentStop => "SubagentStop",
        }
    }

    /// Who originates the event.
    #[must_use]
    pub fn owner(self) -> Owner {
        match self {
            EventName::SessionStart
            | EventName::UserPromptSubmit
            | EventName::SessionEnd
            | EventName::PermissionRequest
            | EventName::Notification => Owner::Client,
            _ => Owner::Server,
        }
    }

    /// Whether a group of this event may have a matcher.
    #[must_use]
    pub fn has_matcher(self) -> bool {
        !matches!(self, EventName::Stop | EventName::UserPromptSubmit)
    }

    /// How long a handler may run that has no timeout of its own. Seconds.
    #[must_use]
    pub fn default_timeout_seconds(self) -> f64 {
        if self == EventName::UserPromptSubmit { PROMPT_TIMEOUT_SECONDS } else { DEFAULT_TIMEOUT_SECONDS }
    }

    /// What stdout that is not JSON means.
    #[must_use]
    pub fn plain_output(self) -> PlainOutput {
        match self {
            EventName::SessionStart | EventName::UserPromptSubmit => PlainOutput::Context,
            _ => PlainOutput::Ignored,
        }
    }

    /// Whether the event is a call of a tool, matched by the tool's name.
    #[must_use]
    pub fn is_tool_event(self) -> bool {
        matches!(
            self,
            EventName::PreToolUse
                | EventName::PostToolUse
                | EventName::PostToolUseFailure
                | EventName::PermissionRequest
        )
    }

    /// Whether handlers finish although the client has gone (D11). They do when the agent is about to exit anyway.
    #[must_use]
    pub fn outlives_client(self) -> bool {
        self == EventName::SessionEnd
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text is not the name of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the name of an event")]
pub struct UnknownEvent;

impl FromStr for EventName {
    type Err = UnknownEvent;

    fn from_str(text: &str) -> Result<EventName, UnknownEvent> {
        EventName::ALL.into_iter().find(|name| name.as_str() == text).ok_or(UnknownEvent)
    }
}
