//! What has happened in a session: the domain form of an event, which agents send that know hooksd (contract section
//! 2). Unknown fields are an error. Code makes these events, and a typo in it must fail loudly.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use uuid::Uuid;

use crate::event::EventName;
use crate::ids::{InvocationId, ProtocolVersion, uuid_from};
use hooksd_json::{Integer, RawJson, ReadError, Reading, Text, Value, read};

/// How far the agent may act without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are the contract")]
pub enum ApprovalMode {
    Manual,
    Auto,
    Yolo,
}

/// How much the model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are the contract")]
pub enum Effort {
    None,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

/// An agent or a subagent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// The id of the agent.
    pub id: Text,
    /// The name of the agent; this is what matchers of SubagentStart and SubagentStop are compared with.
    pub name: Text,
}

/// What is the same for every event of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Context {
    /// The id of the conversation.
    pub thread_id: Text,
    /// The session's working directory, absolute (D20): handlers run in it.
    pub cwd: String,
    /// The id of the prompt that the agent is working on.
    #[serde(default, deserialize_with = "optional_uuid")]
    #[schemars(with = "Option<Uuid>")]
    pub prompt_id: Option<Uuid>,
    /// How far the agent may act without asking.
    pub approval_mode: ApprovalMode,
    /// How much the model thinks.
    #[serde(default)]
    pub effort: Option<Effort>,
    /// The subagent that is acting; null when the main agent is.
    #[serde(default)]
    pub agent: Option<Agent>,
    /// The revision of the transcript, which is accepted and not passed on.
    #[serde(default)]
    pub transcript_revision: Option<Text>,
}

/// Why a session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are the contract")]
pub enum StartCause {
    Startup,
    Resume,
    Clear,
    Compact,
}

/// Why a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are the contract")]
pub enum EndCause {
    Clear,
    Resume,
    PromptInputExit,
    Other,
}

/// Why the context is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are the contract")]
pub enum CompactTrigger {
    Manual,
    Auto,
}

macro_rules! wire_names {
    ($($kind:ident { $($variant:ident => $name:literal),+ $(,)? })+) => {$(
        impl $kind {
            /// The name on the wire.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $($kind::$variant => $name),+ }
            }
        }
    )+};
}

wire_names! {
    StartCause { Startup => "startup", Resume => "resume", Clear => "clear", Compact => "compact" }
    EndCause { Clear => "clear", Resume => "resume", PromptInputExit => "prompt_input_exit", Other => "other" }
    CompactTrigger { Manual => "manual", Auto => "auto" }
    Effort { None => "none", Low => "low", Medium => "medium", High => "high", Xhigh => "xhigh", Max => "max" }
}

/// A call of a tool, in the agent's own names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The id of the call.
    pub id: Text,
    /// The tool's native name: `execute`, `write_file`, ... or any other.
    pub name: Text,
    /// The tool's input, an object.
    #[serde(deserialize_with = "object")]
    pub args: RawJson,
    /// The MCP server that offers the tool, if one does.
    #[serde(default)]
    pub mcp_server: Option<Text>,
}

/// Something the person should see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Notice {
    /// The kind of notification; contract section 3 lists those that handlers know.
    #[serde(rename = "type")]
    pub kind: Text,
    /// The text of the notification.
    pub message: Text,
    /// The title of the notification.
    #[serde(default)]
    pub title: Option<Text>,
}

/// Work that still runs in the background when the agent stops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "passed on as it came")]
pub struct BackgroundTask {
    pub id: Text,
    #[serde(rename = "type")]
    pub kind: Text,
    pub status: Text,
    pub description: Text,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Text>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<Text>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Text>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Text>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Text>,
}

/// A prompt the session has scheduled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "passed on as it came")]
pub struct SessionCron {
    pub id: Text,
    pub schedule: Text,
    pub recurring: bool,
    pub prompt: Text,
}

macro_rules! events {
    ($($(#[$about:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident : $type:ty),* $(,)? })+) => {
        $(
            $(#[$about])*
            #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
            #[serde(deny_unknown_fields)]
            #[allow(missing_docs, reason = "contract section 2 lists the fields")]
            pub struct $name {
                /// Always this event's name.
                pub event: EventName,
                $($(#[$field_meta])* pub $field: $type),*
            }
        )+

        /// What happened, with what belongs to it.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
        #[serde(untagged)]
        #[allow(missing_docs, reason = "one variant an event")]
        pub enum Event {
            $($name($name)),+
        }

        impl Event {
            /// The name of the event.
            #[must_use]
            pub fn name(&self) -> EventName {
                match self { $(Event::$name(_) => EventName::$name),+ }
            }

            /// Reads an event object by its `event` field.
            ///
            /// # Errors
            /// The path and reason of the first field that does not fit.
            pub fn read(value: &Value<'_>, reading: Reading) -> Result<Event, ReadError> {
                match read::<EventTag>(value, reading)?.event {
                    $(EventName::$name => read(value, reading).map(Event::$name)),+
                }
            }
        }
    };
}

events! {
    /// The session began.
    SessionStart { cause: StartCause, #[serde(default)] model: Option<Text> }
    /// The person sent a prompt.
    UserPromptSubmit { prompt: Text }
    /// The session ended.
    SessionEnd { cause: EndCause }
    /// The agent is about to ask the person for permission.
    PermissionRequest { call: Call }
    /// The agent tells the person something.
    Notification { notification: Notice }
    /// A tool is about to be called.
    PreToolUse { call: Call }
    /// A tool was called and answered.
    PostToolUse { call: Call, result: RawJson, #[serde(default)] duration_ms: Option<Integer> }
    /// A tool was called and failed.
    PostToolUseFailure {
        call: Call,
        error: Text,
        #[serde(default)] is_interrupt: bool,
        #[serde(default)] duration_ms: Option<Integer>,
    }
    /// The context is about to be compacted.
    PreCompact { trigger: CompactTrigger, #[serde(default)] custom_instructions: Text }
    /// The agent is about to stop.
    Stop {
        continuation_count: Integer,
        last_assistant_message: Text,
        #[serde(default)] background_tasks: Vec<BackgroundTask>,
        #[serde(default)] session_crons: Vec<SessionCron>,
    }
    /// A subagent begins.
    SubagentStart { agent: Agent }
    /// A subagent is about to stop.
    SubagentStop {
        agent: Agent,
        continuation_count: Integer,
        last_assistant_message: Text,
        #[serde(default)] transcript_revision: Option<Text>,
        #[serde(default)] background_tasks: Vec<BackgroundTask>,
        #[serde(default)] session_crons: Vec<SessionCron>,
    }
}

#[derive(Deserialize)]
struct EventTag {
    event: EventName,
}

/// An event with its context: what `hook/invoke` carries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Invocation {
    /// What is the same for every event of the session.
    pub context: Context,
    /// What happened.
    pub event: Event,
}

impl Invocation {
    /// Reads `{context, event}`.
    ///
    /// # Errors
    /// The path and the reason of the first field that does not fit.
    pub fn read(value: &Value<'_>, reading: Reading) -> Result<Invocation, ReadError> {
        if !value.is_object() {
            let message = format!("expected an object, got {}", value.kind().noun());
            return Err(ReadError { path: String::new(), message });
        }
        if let Some((key, _)) =
            value.entries().into_iter().find(|(key, _)| key != "context" && key != "event")
        {
            let message = "unknown field; known here: context, event".to_owned();
            return Err(ReadError { path: key.into_owned(), message });
        }
        let missing =
            |field: &str| ReadError { path: field.to_owned(), message: "this field is required".to_owned() };
        let context = value.get("context").ok_or_else(|| missing("context"))?;
        let event = value.get("event").ok_or_else(|| missing("event"))?;
        Ok(Invocation {
            context: read(&context, reading).map_err(|error| error.within("context"))?,
            event: Event::read(&event, reading).map_err(|error| error.within("event"))?,
        })
    }
}

fn optional_uuid<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Uuid>, D::Error> {
    Option::<String>::deserialize(deserializer)?.map(|text| uuid_from(&text)).transpose()
}

fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RawJson, D::Error> {
    let value = RawJson::deserialize(deserializer)?;
    if value.get().starts_with('{') { Ok(value) } else { Err(serde::de::Error::custom("expected an object")) }
}

/// A hook request that the server side of an agent makes (contract section 10). Every field is required.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ServerRequest {
    /// Always 1.
    pub protocol_version: ProtocolVersion,
    /// The id of the event. A request with the id of an earlier one gets the same answer.
    pub invocation_id: InvocationId,
    /// The id of the snapshot that the caller believes in.
    pub snapshot_id: String,
    /// The id of the caller's run, for its own records.
    pub run_id: String,
    /// The event.
    pub invocation: Invocation,
    /// From when on the answer is no longer wanted.
    pub deadline: crate::timestamp::Timestamp,
}

impl ServerRequest {
    /// Reads a request.
    ///
    /// # Errors
    /// The path and the reason of the first field that does not fit. A cwd that is not absolute does not fit (D20).
    pub fn read(value: &Value<'_>) -> Result<ServerRequest, ReadError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Wire {
            protocol_version: ProtocolVersion,
            invocation_id: InvocationId,
            snapshot_id: String,
            run_id: String,
            #[serde(rename = "invocation")]
            _invocation: serde::de::IgnoredAny,
            deadline: crate::timestamp::Timestamp,
        }
        let wire: Wire = read(value, Reading::Strict)?;
        let missing =
            || ReadError { path: "invocation".to_owned(), message: "this field is required".to_owned() };
        let invocation = value.get("invocation").ok_or_else(missing)?;
        let invocation =
            Invocation::read(&invocation, Reading::Strict).map_err(|error| error.within("invocation"))?;
        check_cwd(&invocation.context.cwd).map_err(|error| error.within("invocation.context"))?;
        Ok(ServerRequest {
            protocol_version: wire.protocol_version,
            invocation_id: wire.invocation_id,
            snapshot_id: wire.snapshot_id,
            run_id: wire.run_id,
            invocation,
            deadline: wire.deadline,
        })
    }

    /// Reads a request in the wrapper with which the graph of an agent interrupts itself:
    /// `{"type": "hook_invocation", "request": ...}`.
    ///
    /// # Errors
    /// The errors of [`ServerRequest::read`], and one when the wrapper is another one.
    pub fn read_interrupt(value: &Value<'_>) -> Result<ServerRequest, ReadError> {
        let fail =
            |path: &str, message: &str| ReadError { path: path.to_owned(), message: message.to_owned() };
        if !ServerRequest::is_interrupt(value) {
            return Err(fail("type", "expected \"hook_invocation\""));
        }
        if let Some((key, _)) = value.entries().into_iter().find(|(key, _)| key != "type" && key != "request")
        {
            return Err(fail(&key, "unknown field; known here: type, request"));
        }
        let request = value.get("request").ok_or_else(|| fail("request", "this field is required"))?;
        ServerRequest::read(&request).map_err(|error| error.within("request"))
    }

    /// Whether an interrupt of an agent's graph is a hook request.
    #[must_use]
    pub fn is_interrupt(value: &Value<'_>) -> bool {
        value.get("type").and_then(|kind| kind.as_str()).as_deref() == Some("hook_invocation")
    }
}

/// Checks that a working directory is an absolute path without NUL (D20).
///
/// # Errors
/// An error with the path `cwd` when it is not.
pub fn check_cwd(cwd: &str) -> Result<(), ReadError> {
    let fail = |message: &str| Err(ReadError { path: "cwd".to_owned(), message: message.to_owned() });
    if !cwd.starts_with('/') {
        return fail("expected an absolute path: there is no \"own directory\" in a daemon");
    }
    if cwd.contains('\0') {
        return fail("a path cannot contain NUL");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
