//! Trust for good: list, status, grant, revoke.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::HandlerInfo;
use super::legacy::LegacyCommand;
use crate::diagnostic::Diagnostic;

/// One trusted project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrustEntry {
    /// Its canonical root.
    pub root: String,
    /// Since when, as whoever granted it spelled it.
    pub trusted_at: String,
    /// SHA-256 of the document the grant is for; null when another program granted it, for whatever the document
    /// holds (D13).
    pub fingerprint: Option<String>,
}

/// Result of `trust/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrustListed {
    /// The store's path.
    pub store: String,
    /// Why the store cannot be used; then nothing is trusted, and it is not changed either.
    pub problem: Option<String>,
    /// The trusted projects, by root.
    pub projects: Vec<TrustEntry>,
}

/// Params of `trust/status` and `trust/revoke`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrustQuery {
    /// An absolute path in the project.
    pub cwd: String,
}

/// Params of `trust/grant`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrustGrant {
    /// An absolute path in the project.
    pub cwd: String,
    /// SHA-256 of the document that was looked at; refused when the document is another one now.
    pub fingerprint: String,
}

/// Result of `trust/status`: what a person has to know before trusting a project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrustStatus {
    /// The canonical project root.
    pub root: String,
    /// The path of its document.
    pub document: String,
    /// Whether there is one.
    pub hooks_present: bool,
    /// SHA-256 of its bytes; null when there is none or it cannot be read.
    pub fingerprint: Option<String>,
    /// Whether it would be loaded in a new interactive session.
    pub trusted: bool,
    /// What the store says about the root.
    pub entry: Option<TrustEntry>,
    /// Why the store cannot be used.
    pub problem: Option<String>,
    /// The handlers in the document, read by the parser that runs them.
    pub handlers: Vec<HandlerInfo>,
    /// The commands of a list-shaped document, which also run on events of the older form.
    pub legacy: Vec<LegacyCommand>,
    /// What in the document does not count.
    pub diagnostics: Vec<Diagnostic>,
}

/// Result of `trust/grant` and `trust/revoke`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrustChanged {
    /// Whether the store is another one now.
    pub changed: bool,
    /// How it is now.
    pub status: TrustStatus,
}
