//! `config/explain`: for every handler of an event, whether it would run, and if not which rule excluded it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::session::SessionRef;
use crate::diagnostic::Diagnostic;
use crate::invocation::Invocation;
use hooksd_json::RawJson;

/// Params of `config/explain`. Exactly one of `invocation` and `payload` is given. Nothing is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConfigExplain {
    /// The session whose handlers are asked about.
    pub session: SessionRef,
    /// The event in its domain form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invocation: Option<Invocation>,
    /// The event as the JSON that agents hand to command hooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<RawJson>,
}

/// The rule that decides whether a handler runs on an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// It runs: its matcher is for the event, or it has none.
    Runs,
    /// Its matcher is not for the event.
    Matcher,
    /// Its matcher took too many steps (D7).
    MatcherBound,
    /// Its matcher is no expression, or one that is not supported.
    InvalidMatcher,
    /// Its event has nothing that a matcher could be compared with.
    UnsupportedMatcher,
    /// It, its group or its event is not valid.
    InvalidConfig,
    /// Its event is misspelled.
    UnknownEvent,
    /// Its project is not trusted.
    Untrusted,
    /// Its document was changed after the session was pinned, or is broken now.
    SnapshotOlder,
    /// It calls hooksd itself (D15).
    SelfReference,
    /// Its plugin is not enabled, or the session takes no plugins.
    PluginDisabled,
    /// The agent reports events of the older form itself (D17).
    LegacyShadowed,
    /// The event cannot be put into the names that handlers know.
    ProjectionFailed,
    /// Hooks have started agents that have hooks, so deep that none runs any more (D12).
    RecursionLimit,
}

/// One handler, and what becomes of it on the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedHandler {
    /// The id of the handler, `EVENT:group:handler`; null when it is not part of the snapshot.
    pub id: Option<String>,
    /// Whose document it is in: `project`, `user` or `plugin`.
    pub scope: String,
    /// The path of the document, or the id of the plugin.
    pub source: String,
    /// Where it stands: `PATH:LINE:COLUMN`, both counted from 1, and columns in characters. Null when the document is
    /// another one now.
    pub place: Option<String>,
    /// The matcher of its group; null when it has none.
    pub matcher: Option<String>,
    /// What it runs.
    pub command: String,
    /// Whether it would run.
    pub runs: bool,
    /// The rule that decides.
    pub rule: Rule,
    /// The reason for people, with what was compared with what.
    pub why: String,
    /// What to do to have it run; null when it runs, or when nothing can be done.
    pub fix: Option<String>,
}

/// Result of `config/explain`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigExplained {
    /// The name of the event, as it was given.
    pub event: String,
    /// What matchers are compared with; null on events that have nothing to compare.
    pub subject: Option<String>,
    /// The agent's own name for the tool, when handlers know it by another name.
    pub native: Option<String>,
    /// The id of the snapshot against which the event would run.
    pub snapshot_id: String,
    /// Every handler of the event: those of the snapshot in configuration order, then those that are not part of it.
    pub handlers: Vec<ExplainedHandler>,
    /// What is to be said about the documents.
    pub diagnostics: Vec<Diagnostic>,
}
