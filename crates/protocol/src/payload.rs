//! What a handler reads on stdin: one compact JSON object an event (BEHAVIOUR section 3). Nulls are left out.
//! The engine's projection is the one conversion from [`crate::invocation`] to these.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::event::EventName;
use crate::invocation::{BackgroundTask, SessionCron};
use hooksd_json::{Integer, RawJson, Text};

/// `{"level": ...}`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EffortLevel {
    /// How much the model thinks.
    pub level: &'static str,
}

/// The fields of every payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Common {
    /// The conversation: the invocation's thread_id.
    pub session_id: Text,
    /// The session's transcript, one JSON record a line.
    pub transcript_path: String,
    /// The session's working directory.
    pub cwd: String,
    /// The event.
    pub hook_event_name: EventName,
    /// The prompt being worked on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<Uuid>,
    /// `default`, `auto` or `bypassPermissions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<&'static str>,
    /// How much the model thinks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<EffortLevel>,
    /// The acting agent's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<Text>,
    /// The acting agent's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<Text>,
}

/// A tool call, in the names handlers know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tool {
    /// `Bash`, `Write`, `mcp__SERVER__TOOL`, ... or the native name of any other tool.
    pub tool_name: Text,
    /// The tool's input.
    pub tool_input: RawJson,
}

macro_rules! payloads {
    ($($(#[$about:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident : $type:ty),* $(,)? })+) => {
        $(
            $(#[$about])*
            #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
            #[allow(missing_docs, reason = "BEHAVIOUR section 3 lists the fields")]
            pub struct $name {
                #[serde(flatten)]
                pub common: Common,
                $($(#[$field_meta])* pub $field: $type),*
            }
        )+

        /// The payload of any event.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
        #[serde(untagged)]
        #[allow(missing_docs, reason = "one variant an event")]
        pub enum Payload {
            $($name($name)),+
        }

        /// The JSON Schema of each payload, by event name.
        pub(crate) fn schemas(generator: &mut schemars::SchemaGenerator) -> Vec<(&'static str, schemars::Schema)> {
            vec![$((stringify!($name), generator.subschema_for::<$name>())),+]
        }
    };
}

payloads! {
    /// The session began.
    SessionStart { source: &'static str, #[serde(skip_serializing_if = "Option::is_none")] model: Option<Text> }
    /// The person sent a prompt.
    UserPromptSubmit { prompt: Text }
    /// The session ended.
    SessionEnd { reason: &'static str }
    /// The agent is about to ask the person for permission.
    PermissionRequest { #[serde(flatten)] tool: Tool, permission_suggestions: Vec<RawJson> }
    /// The agent tells the person something.
    Notification {
        message: Text,
        notification_type: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")] title: Option<Text>,
    }
    /// A tool is about to be called.
    PreToolUse { #[serde(flatten)] tool: Tool, tool_use_id: Text }
    /// A tool was called and answered.
    PostToolUse {
        #[serde(flatten)] tool: Tool,
        tool_response: RawJson,
        tool_use_id: Text,
        #[serde(skip_serializing_if = "Option::is_none")] duration_ms: Option<Integer>,
    }
    /// A tool was called and failed.
    PostToolUseFailure {
        #[serde(flatten)] tool: Tool,
        tool_use_id: Text,
        error: Text,
        is_interrupt: bool,
        #[serde(skip_serializing_if = "Option::is_none")] duration_ms: Option<Integer>,
    }
    /// The context is about to be compacted.
    PreCompact { trigger: &'static str, custom_instructions: Text }
    /// The agent is about to stop.
    Stop {
        stop_hook_active: bool,
        last_assistant_message: Text,
        background_tasks: Vec<BackgroundTask>,
        session_crons: Vec<SessionCron>,
    }
    /// A subagent begins.
    SubagentStart {}
    /// A subagent is about to stop.
    SubagentStop {
        stop_hook_active: bool,
        agent_transcript_path: String,
        last_assistant_message: Text,
        background_tasks: Vec<BackgroundTask>,
        session_crons: Vec<SessionCron>,
    }
}
