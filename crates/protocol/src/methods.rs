//! Params and results of every method, and notifications (PROTOCOL). Wire types only.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::deadline::Deadline;
use crate::decision::Decision;
use crate::diagnostic::Diagnostic;
use crate::event::EventName;
use crate::invocation::Invocation;
use crate::json::{RawJson, ReadError, Reading, Text, Value, read};

/// The protocol version this build speaks.
pub const PROTOCOL_VERSION: u32 = 1;

/// Whether a person is there to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A person is there: persisted trust counts.
    Interactive,
    /// Nobody is there: only a grant in the request counts (BEHAVIOUR section 10).
    Headless,
}

/// A session's grant of trust in the project's document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected \"explicit\" or {\"fingerprint\": \"<sha256>\"}")]
pub enum Trust {
    /// Whatever the document holds when it is loaded.
    Explicit(ExplicitTrust),
    /// Only these bytes.
    Fingerprint(FingerprintTrust),
}

/// `"explicit"`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExplicitTrust {
    /// The word itself.
    Explicit,
}

/// `{"fingerprint": sha256}`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FingerprintTrust {
    /// SHA-256 of the document's bytes, 64 lowercase hexadecimal digits.
    pub fingerprint: String,
}

/// Which plugins' documents take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Plugins {
    /// None. The only choice of this version.
    None,
}

/// An output field that an agent can apply (D10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of the output fields")]
pub enum Capability {
    UpdatedInput,
    UpdatedPermissions,
    UpdatedToolOutput,
    UpdatedMcpToolOutput,
    SessionTitle,
    InitialUserMessage,
    WatchPaths,
    ReloadSkills,
}

/// Params of `session/open`; also an inline session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionOpen {
    /// The conversation.
    pub thread_id: Text,
    /// The session's working directory, absolute.
    pub cwd: String,
    /// Whether a person is there.
    pub mode: Mode,
    /// Trust in the project's document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// The session's environment; without it handlers get the daemon's (D14).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// Which plugins take part; default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugins: Option<Plugins>,
    /// Output fields the agent can apply: they come back in the decision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepts: Vec<Capability>,
    /// Whether edits reach the session by themselves. Only false in this version: use `session/reload`.
    #[serde(default)]
    pub follow: bool,
}

/// One document of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceInfo {
    /// `project`, `user` or `plugin`.
    pub scope: String,
    /// Its real path, or the plugin's id.
    pub path: String,
    /// SHA-256 of its bytes; null when it could not be read.
    pub fingerprint: Option<String>,
    /// Whether its handlers take part.
    pub loaded: bool,
}

/// A session's snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SnapshotInfo {
    /// SHA-256 of the canonical configuration, lowercase hexadecimal.
    pub id: String,
    /// Events that have handlers.
    pub events: Vec<EventName>,
    /// Those of them that the agent's server side originates.
    pub server_events: Vec<EventName>,
    /// The documents.
    pub sources: Vec<SourceInfo>,
    /// What in them did not count.
    pub diagnostics: Vec<Diagnostic>,
}

/// What is known of the project's document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectInfo {
    /// The project root.
    pub root: String,
    /// Whether it has a hooks.json.
    pub hooks_present: bool,
    /// Whether that is trusted.
    pub trusted: bool,
    /// SHA-256 of its bytes, to show and grant.
    pub fingerprint: Option<String>,
}

/// Result of `session/open` and `session/reload`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionInfo {
    /// The id to name the session by.
    pub session: String,
    /// What its events run against.
    pub snapshot: SnapshotInfo,
    /// The project.
    pub project: ProjectInfo,
    /// `session` or `daemon`: whose environment handlers get (D14).
    pub environment: String,
}

/// Names a session: its id, or `session/open`'s params for one round trip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum SessionRef {
    /// An id from `session/open`.
    Id(String),
    /// Opened for this request only.
    Inline(Box<SessionOpen>),
}

impl SessionRef {
    /// Reads the `session` of a request's params.
    ///
    /// # Errors
    /// When it is missing, neither a string nor an object, or an object that is no session.
    pub fn read(params: &Value<'_>) -> Result<SessionRef, ReadError> {
        let Some(value) = params.get("session") else {
            return Err(ReadError { path: "session".to_owned(), message: "this field is required".to_owned() });
        };
        if value.is_object() {
            return read(&value, Reading::Strict)
                .map(|open| SessionRef::Inline(Box::new(open)))
                .map_err(|error| error.within("session"));
        }
        match value.as_str() {
            Some(id) => Ok(SessionRef::Id(id.into_owned())),
            None => Err(ReadError {
                path: "session".to_owned(),
                message: format!("expected a session id or session/open's params, got {}", value.kind().noun()),
            }),
        }
    }
}

/// Params of `session/reload`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionReload {
    /// The session's id.
    pub session: String,
    /// A new working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// A new grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// A new environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// Other plugins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugins: Option<Plugins>,
}

/// Params of `session/close`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionClose {
    /// The session's id.
    pub session: String,
}

/// Result of methods that have nothing to say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Done {}

/// One row of `session/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRow {
    /// The session's id.
    pub session: String,
    /// The conversation.
    pub thread_id: Text,
    /// Its working directory.
    pub cwd: String,
    /// Whether a person is there.
    pub mode: Mode,
    /// Its snapshot's id.
    pub snapshot_id: String,
    /// Events now running.
    pub running: usize,
    /// Seconds since its last request.
    pub idle_seconds: u64,
}

/// Result of `session/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionList {
    /// Open sessions, oldest first.
    pub sessions: Vec<SessionRow>,
}

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
    pub deadline: Option<Deadline>,
    /// The session's transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript_path: Option<String>,
    /// The subagent's transcript; SubagentStop cannot be projected without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_transcript_path: Option<String>,
    /// Whether to send `hook/progress` notifications.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub progress: bool,
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
        let version = crate::json::Integer::deserialize(deserializer)?;
        if version.as_str() == "1" {
            return Ok(ProtocolVersion);
        }
        Err(serde::de::Error::custom(format_args!("expected 1, the protocol version of this build, got {}", version.as_str())))
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
        let missing = || ReadError { path: "decision".to_owned(), message: "this field is required".to_owned() };
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
}

/// Params of `initialize`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Initialize {
    /// Who connects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientInfo>,
    /// The version the client speaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<u64>,
}

/// Who connects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClientInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    #[serde(default)]
    pub version: Option<String>,
}

/// Result of `initialize`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Initialized {
    /// Always `hooksd`.
    pub name: String,
    /// The package version.
    pub version: String,
    /// The protocol version that is spoken.
    pub protocol_version: u32,
    /// The methods this daemon knows.
    pub methods: Vec<String>,
}

/// Result of `daemon/status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DaemonStatus {
    /// The package version.
    pub version: String,
    /// The protocol version.
    pub protocol_version: u32,
    /// Its process.
    pub pid: u32,
    /// Since its start.
    pub uptime_seconds: u64,
    /// Its socket.
    pub socket: Option<String>,
    /// The folder of the user's hooks.json.
    pub config_dir: String,
    /// Open connections.
    pub connections: usize,
    /// Open sessions.
    pub sessions: usize,
    /// Of those, how many run handlers in the daemon's environment because they sent none (D14).
    pub sessions_without_environment: usize,
    /// Handler processes now running.
    pub running_handlers: usize,
    /// Events answered since the start.
    pub events: u64,
}

/// Params of `daemon/shutdown`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DaemonShutdown {
    /// How long running events may still take. Milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_ms: Option<u64>,
}
