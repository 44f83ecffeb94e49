//! Events: `hook/invoke`, its progress, its cancellation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::PROTOCOL_VERSION;
use super::agent::AgentBehind;
use super::session::SessionRef;
use crate::decision::Decision;
use crate::event::EventName;
use crate::invocation::Invocation;
use crate::timestamp::Timestamp;
use hooksd_json::{RawJson, ReadError, Reading, Value, field_names, read};

/// Params of `hook/invoke`. Exactly one of `invocation` and `payload`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HookInvoke {
    /// The session.
    pub session: SessionRef,
    /// The event in its domain form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invocation: Option<Invocation>,
    /// The event as the JSON that agents hand to command hooks; passed on to handlers untouched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<RawJson>,
    /// Everything else.
    #[serde(flatten)]
    pub options: InvokeOptions,
}

/// The optional params of `hook/invoke`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InvokeOptions {
    /// 1 if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<ProtocolVersion>,
    /// Repeating an id gives the same answer and runs nothing again. One is made if absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_id")]
    pub invocation_id: Option<InvocationId>,
    /// The snapshot the caller believes in; another one is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot_id: Option<String>,
    /// The caller's run, for its own records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// When the answer is no longer wanted (D22).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// The session's transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript_path: Option<String>,
    /// The subagent's transcript; SubagentStop cannot be projected without.
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

/// The integer 1 (D23).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProtocolVersion;

impl Serialize for ProtocolVersion {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(PROTOCOL_VERSION)
    }
}

impl<'de> Deserialize<'de> for ProtocolVersion {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<ProtocolVersion, D::Error> {
        let version = hooksd_json::Integer::deserialize(deserializer)?;
        if version.as_str() == "1" {
            return Ok(ProtocolVersion);
        }
        Err(serde::de::Error::custom(format_args!(
            "expected 1, the protocol version of this build, got {}",
            version.as_str()
        )))
    }
}

impl JsonSchema for ProtocolVersion {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ProtocolVersion".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "const": 1 })
    }
}

/// A UUID in any usual spelling; what it means, and how it was spelled (D21 compares requests).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvocationId {
    /// What it means.
    pub uuid: Uuid,
    /// How it was spelled.
    pub spelling: String,
}

impl From<Uuid> for InvocationId {
    fn from(uuid: Uuid) -> InvocationId {
        InvocationId { uuid, spelling: uuid.to_string() }
    }
}

impl Serialize for InvocationId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.uuid.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for InvocationId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<InvocationId, D::Error> {
        let spelling = String::deserialize(deserializer)?;
        Ok(InvocationId { uuid: crate::invocation::uuid_from(&spelling)?, spelling })
    }
}

impl JsonSchema for InvocationId {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "InvocationId".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "uuid" })
    }
}

fn optional_id<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<InvocationId>, D::Error> {
    Option::deserialize(deserializer)
}

/// How one handler run went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HandlerStatus {
    /// It ran and did not block.
    Ok,
    /// It blocked: exit 2, a deny, `decision: block`, or a failure with `onFailure: "block"`.
    Blocked,
    /// It could not start, crashed, exited oddly or printed an invalid answer.
    Failed,
    /// Its time ran out.
    Timeout,
    /// The request's deadline came before its turn: too many handlers were running.
    QueuedOut,
    /// The request was cancelled.
    Cancelled,
    /// It did not run.
    Skipped,
}

/// One handler's part in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HandlerReport {
    /// `EVENT:group:handler`.
    pub id: String,
    /// The document it comes from.
    pub source: String,
    /// How it went.
    pub status: HandlerStatus,
    /// Its exit status, if it exited by itself.
    pub exit_code: Option<i32>,
    /// The signal that killed it, if one did.
    pub signal: Option<i32>,
    /// From spawn to end. Milliseconds.
    pub duration_ms: u64,
    /// Waiting before the spawn. Milliseconds.
    pub queue_ms: u64,
    /// Bytes it wrote to stdout, kept or not.
    pub stdout_bytes: u64,
    /// Bytes it wrote to stderr, kept or not.
    pub stderr_bytes: u64,
    /// Whether anything of that was cut.
    pub truncated: bool,
    /// Whether its process was there before the event.
    #[serde(default)]
    pub warm: bool,
}

/// Result of `hook/invoke`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InvokeResult {
    /// Always 1.
    pub protocol_version: ProtocolVersion,
    /// The invocation's id.
    pub invocation_id: Uuid,
    /// The snapshot it ran against.
    pub snapshot_id: String,
    /// The answer.
    pub decision: Decision,
    /// The handlers that matched, in configuration order.
    pub handlers: Vec<HandlerReport>,
    /// From the request to the answer. Milliseconds.
    pub duration_ms: u64,
}

impl InvokeResult {
    /// Reads a result as a client gets it. Strict: an answer that does not fit is no answer.
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
    /// The invocation.
    pub invocation_id: Uuid,
    /// The handler.
    pub handler_id: String,
    /// The event.
    pub event: EventName,
    /// True when it begins, false when it ends.
    pub active: bool,
    /// Its `statusMessage`, trimmed; empty if it has none.
    pub message: String,
}

/// Params of the notification `$/cancelRequest`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelRequest {
    /// The request's id, spelled as in the request.
    pub id: RawJson,
}

/// Params of `hook/cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookCancel {
    /// The invocation: its whole id, or a beginning of at least 4 characters that only one running event has.
    pub invocation_id: String,
}

/// Result of `hook/cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookCancelled {
    /// The invocation that was told to stop. Whoever waits for it is answered with -32800.
    pub invocation_id: Uuid,
    /// Its event.
    pub event: String,
    /// Its session.
    pub session: String,
}
