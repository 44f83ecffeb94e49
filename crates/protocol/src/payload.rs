//! What a handler reads on stdin: one compact JSON object for each event (contract section 3). Nulls are left out.
//! The engine makes these from [`crate::invocation`], and nobody else does.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::event::EventName;
use crate::invocation::{BackgroundTask, SessionCron};
use hooksd_json::{Integer, RawJson, Text};

/// The value of `effort`: `{"level": ...}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EffortLevel {
    /// How much the model thinks.
    pub level: &'static str,
}

/// The fields of every payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Common {
    /// The id of the conversation, which is the invocation's thread_id.
    pub session_id: Text,
    /// The path of the session's transcript, which has one JSON record on each line.
    pub transcript_path: String,
    /// The session's working directory.
    pub cwd: String,
    /// The name of the event.
    pub hook_event_name: EventName,
    /// The id of the prompt that the agent is working on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<Uuid>,
    /// How far the agent may act without asking: `default`, `auto` or `bypassPermissions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<&'static str>,
    /// How much the model thinks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<EffortLevel>,
    /// The id of the subagent that is acting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<Text>,
    /// The name of the subagent that is acting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<Text>,
}

/// A call of a tool, by the names that handlers know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tool {
    /// The name of the tool: `Bash`, `Write`, `mcp__SERVER__TOOL` and so on, or the agent's own name for any other
    /// tool.
    pub tool_name: Text,
    /// The input of the tool.
    pub tool_input: RawJson,
}

macro_rules! payloads {
    ($($(#[$about:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident : $type:ty),* $(,)? })+) => {
        $(
            $(#[$about])*
            #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
            #[allow(missing_docs, reason = "contract section 3 lists the fields")]
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
