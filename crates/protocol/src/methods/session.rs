//! Sessions: opens, reloads, attaches to, closes and lists them.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::diagnostic::Diagnostic;
use crate::event::EventName;
use hooksd_json::{ReadError, Reading, Text, Value, read};

/// Whether a person is there to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A person is there, so that trust counts which was granted for good.
    Interactive,
    /// Nobody is there, so that only a grant in the request counts (contract section 10).
    Headless,
}

/// The trust in the project's document that a session grants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Trust {
    /// The document is trusted, whatever it holds when it is loaded.
    Explicit(ExplicitTrust),
    /// The document is trusted if it has these bytes.
    Fingerprint(FingerprintTrust),
}

/// Read by hand: serde's own way reads a value of unknown depth by recursion, and one line could end the process.
impl<'de> Deserialize<'de> for Trust {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Trust, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Trust;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("\"explicit\" or {\"fingerprint\": \"<sha256>\"}")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Trust, E> {
                match word {
                    "explicit" => Ok(Trust::Explicit(ExplicitTrust::Explicit)),
                    _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
                }
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Trust, A::Error> {
                let grant = FingerprintTrust::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(Trust::Fingerprint(grant))
            }
        }
        deserializer.deserialize_any(Visit)
    }
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Plugins {
    /// A word says which: none, or those that are enabled.
    Word(PluginsWord),
    /// These plugins take part, in this order.
    Listed(Vec<PluginRoot>),
}

/// Read by hand, as [`Trust`] is.
impl<'de> Deserialize<'de> for Plugins {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Plugins, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Plugins;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("\"none\", \"discover\" or a list of {\"id\", \"root\"}")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Plugins, E> {
                match word {
                    "none" => Ok(Plugins::Word(PluginsWord::None)),
                    "discover" => Ok(Plugins::Word(PluginsWord::Discover)),
                    _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
                }
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<Plugins, A::Error> {
                Vec::deserialize(de::value::SeqAccessDeserializer::new(list)).map(Plugins::Listed)
            }
        }
        deserializer.deserialize_any(Visit)
    }
}

/// `"none"` or `"discover"`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PluginsWord {
    /// No plugin takes part.
    None,
    /// Those plugins take part that are enabled by the agent's plugin state in the config dir.
    Discover,
}

/// A plugin that a session names itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PluginRoot {
    /// The id of the plugin: `NAME@MARKETPLACE`.
    pub id: String,
    /// The absolute path of its folder.
    pub root: String,
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

/// Params of `session/open`. A request can carry them in place of a session's id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionOpen {
    /// The id of the conversation.
    pub thread_id: Text,
    /// The absolute path of the session's working directory.
    pub cwd: String,
    /// Whether a person is there.
    pub mode: Mode,
    /// The trust in the project's document that the session grants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// The environment of the session's handlers; without it they get the daemon's (D14).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// The file mode mask of the session's handlers, 0 to 511 (0o777); without it they get the daemon's (D14).
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "umask")]
    #[schemars(range(max = 0o777))]
    pub umask: Option<u32>,
    /// Soft resource limits of the session's handlers, in the units of setrlimit(2), never above the daemon's hard
    /// ones; what is not named is the daemon's (D14).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rlimits: Option<ResourceLimits>,
    /// Which plugins take part; none without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugins: Option<Plugins>,
    /// The output fields that the agent can apply. They come back in the decision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepts: Vec<Capability>,
    /// Whether changes of documents reach the session by themselves. If not, it is pinned to its snapshot until
    /// `session/reload`.
    #[serde(default)]
    pub follow: bool,
}

/// Soft limits of a session's handlers, in the units of setrlimit(2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ResourceLimits {
    /// How large the address space may be. Bytes.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub address_space: Option<u64>,
    /// How large a core file may be. Bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core: Option<u64>,
    /// How much processor time a process may take. Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u64>,
    /// How large the data segment may be. Bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<u64>,
    /// How large a file may be that is written. Bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fsize: Option<u64>,
    /// How many descriptors may be open. Descriptors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nofile: Option<u64>,
    /// How large the stack may be. Bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<u64>,
}

/// The largest file mode mask: all permissions, and nothing else.
const MAX_UMASK: u32 = 0o777;

fn umask<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let mask: Option<u32> = Option::deserialize(deserializer)?;
    match mask {
        Some(mask) if mask > MAX_UMASK => Err(serde::de::Error::custom(format_args!(
            "expected a file mode mask, an integer from 0 to {MAX_UMASK} (0o777), got {mask}"
        ))),
        mask => Ok(mask),
    }
}

/// One document of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceInfo {
    /// Whose document it is: `project`, `user` or `plugin`.
    pub scope: String,
    /// The real path of the document, or the id of the plugin.
    pub path: String,
    /// SHA-256 of its bytes; null when it could not be read.
    pub fingerprint: Option<String>,
    /// Whether the handlers in it take part.
    pub loaded: bool,
}

/// A session's snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SnapshotInfo {
    /// SHA-256 of the canonical configuration, lowercase hexadecimal.
    pub id: String,
    /// The events that have handlers.
    pub events: Vec<EventName>,
    /// Those of these events that the agent's server side originates.
    pub server_events: Vec<EventName>,
    /// The documents from which the snapshot was made.
    pub sources: Vec<SourceInfo>,
    /// What in the documents did not count.
    pub diagnostics: Vec<Diagnostic>,
}

/// What is known of the project's document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectInfo {
    /// The path of the project's root.
    pub root: String,
    /// Whether the project has a hooks.json.
    pub hooks_present: bool,
    /// Whether that document is trusted.
    pub trusted: bool,
    /// SHA-256 of the document's bytes, to be shown and granted; null when there is none, or it cannot be read.
    pub fingerprint: Option<String>,
}

/// Result of `session/open` and `session/reload`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionInfo {
    /// The id of the session.
    pub session: String,
    /// The snapshot against which its events run.
    pub snapshot: SnapshotInfo,
    /// What is known of the project's document.
    pub project: ProjectInfo,
    /// Whose environment handlers get: `session` or `daemon` (D14).
    pub environment: String,
}

/// Names a session by its id, or opens one for a single request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum SessionRef {
    /// The id that `session/open` has given.
    Id(String),
    /// The params of `session/open`, for a session of this request alone.
    Inline(Box<SessionOpen>),
}

impl SessionRef {
    /// Reads the `session` of a request's params, if they have one.
    ///
    /// # Errors
    /// When it is missing, neither a string nor an object, or an object that is no session.
    pub fn read(session: Option<&Value<'_>>) -> Result<SessionRef, ReadError> {
        let Some(value) = session else {
            return Err(ReadError {
                path: "session".to_owned(),
                message: "this field is required".to_owned(),
            });
        };
        if value.is_object() {
            return read(value, Reading::Strict)
                .map(|open| SessionRef::Inline(Box::new(open)))
                .map_err(|error| error.within("session"));
        }
        match value.as_str() {
            Some(id) => Ok(SessionRef::Id(id.into_owned())),
            None => Err(ReadError {
                path: "session".to_owned(),
                message: format!(
                    "expected a session id or session/open's params, got {}",
                    value.kind().noun()
                ),
            }),
        }
    }
}

/// Params of `session/reload`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionReload {
    /// The id of the session.
    pub session: String,
    /// A new working directory; without it the session keeps its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// New trust in the project's document; without it the session keeps its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// A new environment; without it the session keeps its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// Which plugins take part from now on; without it those of before do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugins: Option<Plugins>,
}

/// Params of `session/attach`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionAttach {
    /// The session's id.
    pub session: String,
}

/// Params of the notification `snapshot/changed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SnapshotChanged {
    /// The id of the session.
    pub session: String,
    /// The id of the snapshot against which its events ran.
    pub old_id: String,
    /// The id of the snapshot of the documents as they are now. It is the old one when only the diagnostics have
    /// changed.
    pub new_id: String,
    /// True when the session has moved to that snapshot (`follow`). False when it is pinned, so that `session/reload`
    /// would move it.
    pub applied: bool,
    /// All diagnostics about the documents as they are now.
    pub diagnostics: Vec<Diagnostic>,
}

/// Params of `session/close`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionClose {
    /// The session's id.
    pub session: String,
}

/// One row of `session/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRow {
    /// The session's id.
    pub session: String,
    /// The id of the conversation.
    pub thread_id: Text,
    /// The path of its working directory.
    pub cwd: String,
    /// Whether a person is there.
    pub mode: Mode,
    /// The id of its snapshot.
    pub snapshot_id: String,
    /// How many of its events run now.
    pub running: usize,
    /// How long ago its last request was. Seconds.
    pub idle_seconds: u64,
}

/// Result of `session/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionList {
    /// The open sessions, the oldest first.
    pub sessions: Vec<SessionRow>,
}
