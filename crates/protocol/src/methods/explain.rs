//! `config/explain`: for every handler of an event, whether it would run, and if not which rule excluded it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::session::SessionRef;
use crate::diagnostic::Diagnostic;
use crate::invocation::Invocation;
use hooksd_json::RawJson;

/// Params of `config/explain`. Exactly one of `invocation` and `payload`. Nothing is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConfigExplain {
    /// The session.
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
    /// Its event has nothing to match.
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
    /// The event cannot be put into the handlers' terms.
    ProjectionFailed,
    /// Hooks that start agents that have hooks, too deep (D12).
    RecursionLimit,
}

/// One handler, and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedHandler {
    /// `EVENT:group:handler`; null when it is not part of the snapshot.
    pub id: Option<String>,
    /// `project`, `user` or `plugin`.
    pub scope: String,
    /// The document's path, or the plugin's id.
    pub source: String,
    /// `PATH:LINE:COLUMN`, both from 1, columns in characters; null when the document is another one now.
    pub place: Option<String>,
    /// The group's matcher.
    pub matcher: Option<String>,
    /// What it runs.
    pub command: String,
    /// Whether it would run.
    pub runs: bool,
    /// Why.
    pub rule: Rule,
    /// The same for people, with what was compared with what.
    pub why: String,
    /// What to do about it, when it does not run.
    pub fix: Option<String>,
}

/// Result of `config/explain`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigExplained {
    /// The event, as given.
    pub event: String,
    /// What matchers are compared with; null on events that have nothing to match.
    pub subject: Option<String>,
    /// The agent's own name of the tool, when handlers know it by another.
    pub native: Option<String>,
    /// What the event would run against.
    pub snapshot_id: String,
    /// Every handler of the event: those of the snapshot in configuration order, then those that are not part of it.
    pub handlers: Vec<ExplainedHandler>,
    /// What is to be said about the documents.
    pub diagnostics: Vec<Diagnostic>,
}
