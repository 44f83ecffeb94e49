//! Runs the handlers of an event: `hook/invoke`, its progress and its cancellation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::agent::AgentBehind;
use super::session::SessionRef;
use crate::decision::Decision;
use crate::event::EventName;
pub use crate::ids::{InvocationId, ProtocolVersion};
use crate::invocation::Invocation;
pub use crate::outcome::HandlerStatus;
use crate::timestamp::Timestamp;
use hooksd_json::{RawJson, ReadError, Reading, Value, field_names, read};

/// Params of `hook/invoke`. Exactly one of `invocation` and `payload` is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HookInvoke {
    /// The session in which the event has happened.
    pub session: SessionRef,
    /// The event in its domain form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invocation: Option<Invocation>,
    /// The event as the JSON that agents hand to command hooks. Handlers get it untouched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<RawJson>,
    /// The params that need not be given.
    #[serde(flatten)]
    pub options: InvokeOptions,
}

/// The optional params of `hook/invoke`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InvokeOptions {
    /// The version of the protocol, which is 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<ProtocolVersion>,
    /// The id of the event. A request with the id of an earlier one gets the same answer, and nothing runs again.
    /// Without it the daemon makes one.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_id")]
    pub invocation_id: Option<InvocationId>,
    /// The id of the snapshot that the caller believes in. The request is refused when the session has another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot_id: Option<String>,
    /// The id of the caller's run, for its own records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// From when on the answer is no longer wanted (D22).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// The path of the session's transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript_path: Option<String>,
    /// The path of the subagent's transcript. Handlers of SubagentStop cannot run without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_transcript_path: Option<String>,
    /// The agent, when a bridge asks for one that does not know hooksd.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentBehind>,
    /// Whether to send `hook/progress` notifications.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub progress: bool,
}

/// The params of `hook/invoke` that are no options.
const EVENT_PARAMS: [&str; 3] = ["session", "invocation", "payload"];

impl InvokeOptions {
    /// Reads the options among the params of `hook/invoke`, strictly (D23). Most requests have none.
    ///
    /// # Errors
    /// A param that is neither an option nor one that tells the event, and an option that does not fit its type.
    pub fn of(params: &Value<'_>) -> Result<InvokeOptions, ReadError> {
        if params.unknown_key(&EVENT_PARAMS).is_none() {
            return Ok(InvokeOptions::default());
        }
        let known = [&EVENT_PARAMS, field_names::<InvokeOptions>()].concat();
        if let Some(key) = params.unknown_key(&known) {
            return Err(ReadError::new(key, format!("unknown field; known here: {}", known.join(", "))));
        }
        read(params, Reading::Strict)
    }
}

fn optional_id<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<InvocationId>, D::Error> {
    Option::deserialize(deserializer)
}

/// One handler's part in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HandlerReport {
    /// The id of the handler: `EVENT:group:handler`.
    pub id: String,
    /// The document from which it comes.
    pub source: String,
    /// How its run went.
    pub status: HandlerStatus,
    /// The exit status, if the process has exited by itself.
    pub exit_code: Option<i32>,
    /// The number of the signal that has killed the process, if one has.
    pub signal: Option<i32>,
    /// How long it took from the spawn to the end. Milliseconds.
    pub duration_ms: u64,
    /// How long the run waited for its turn before the spawn. Milliseconds.
    pub queue_ms: u64,
    /// How much the process has written to stdout, kept or not. Bytes.
    pub stdout_bytes: u64,
    /// How much the process has written to stderr, kept or not. Bytes.
    pub stderr_bytes: u64,
    /// Whether anything of stdout or stderr was not kept.
    pub truncated: bool,
    /// Whether the process was there before the event.
    #[serde(default)]
    pub warm: bool,
}

/// Result of `hook/invoke`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InvokeResult {
    /// The version of the protocol, which is always 1.
    pub protocol_version: ProtocolVersion,
    /// The id of the event.
    pub invocation_id: Uuid,
    /// The id of the snapshot against which it ran.
    pub snapshot_id: String,
    /// The decision on the event.
    pub decision: Decision,
    /// The handlers that were chosen for the event, in configuration order.
    pub handlers: Vec<HandlerReport>,
    /// How long it took from the request to the answer. Milliseconds.
    pub duration_ms: u64,
}

impl InvokeResult {
    /// Reads a result as a client gets it. It is read strictly, for an answer that does not fit is no answer.
    ///
    /// # Errors
    /// The path and reason of the first field that does not fit.
    pub fn read(value: &Value<'_>) -> Result<InvokeResult, ReadError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Wire {
            protocol_version: ProtocolVersion,
            invocation_id: InvocationId,
            snapshot_id: String,
            #[serde(rename = "decision")]
            _decision: serde::de::IgnoredAny,
            #[serde(default)]
            handlers: Vec<HandlerReport>,
            #[serde(default)]
            duration_ms: u64,
        }
        let wire: Wire = read(value, Reading::Strict)?;
        let missing =
            || ReadError { path: "decision".to_owned(), message: "this field is required".to_owned() };
        let decision = Decision::read(&value.get("decision").ok_or_else(missing)?);
        Ok(InvokeResult {
            protocol_version: wire.protocol_version,
            invocation_id: wire.invocation_id.uuid,
            snapshot_id: wire.snapshot_id,
            decision: decision.map_err(|error| error.within("decision"))?,
            handlers: wire.handlers,
            duration_ms: wire.duration_ms,
        })
    }
}

/// Params of the notification `hook/progress`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookProgress {
    /// The id of the event.
    pub invocation_id: Uuid,
    /// The id of the handler.
    pub handler_id: String,
    /// The name of the event.
    pub event: EventName,
    /// True when the handler begins, false when it ends.
    pub active: bool,
    /// The `statusMessage` of the handler, without white space around it; empty when it has none.
    pub message: String,
}

/// Params of the notification `$/cancelRequest`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelRequest {
    /// The id of the request, spelled as in the request.
    pub id: RawJson,
}

/// Params of `hook/cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookCancel {
    /// The id of the event that is to be cancelled, or a beginning of it of at least 4 characters, which only one
    /// running event has.
    pub invocation_id: String,
}

/// Result of `hook/cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookCancelled {
    /// The id of the event that was cancelled. Whoever waits for its answer gets the error -32800.
    pub invocation_id: Uuid,
    /// The name of the event.
    pub event: String,
    /// The id of its session.
    pub session: String,
}
