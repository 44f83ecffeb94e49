//! Trust that is granted for good: lists, shows, grants and revokes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::HandlerInfo;
use super::legacy::LegacyCommand;
use crate::diagnostic::Diagnostic;

/// One trusted project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrustEntry {
    /// The canonical path of the project's root.
    pub root: String,
    /// Since when it is trusted, spelled as by the program that has granted it.
    pub trusted_at: String,
    /// SHA-256 of the document for which the grant is. Null when another program has granted it, for whatever the
    /// document holds (D13).
    pub fingerprint: Option<String>,
}

/// Result of `trust/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrustListed {
    /// The path of the trust store.
    pub store: String,
    /// Why the store cannot be used. Then nothing is trusted, and the store is not changed. Null when it can be used.
    pub problem: Option<String>,
    /// The trusted projects, in the order of their roots.
    pub projects: Vec<TrustEntry>,
}

/// Params of `trust/status` and `trust/revoke`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrustQuery {
    /// An absolute path inside of the project.
    pub cwd: String,
}

/// Params of `trust/grant`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrustGrant {
    /// An absolute path inside of the project.
    pub cwd: String,
    /// SHA-256 of the document that was looked at. The grant is refused when the document is another one now.
    pub fingerprint: String,
}

/// Result of `trust/status`: what a person has to know before trusting a project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrustStatus {
    /// The canonical path of the project's root.
    pub root: String,
    /// The path of the project's document.
    pub document: String,
    /// Whether the project has a document.
    pub hooks_present: bool,
    /// SHA-256 of the document's bytes; null when there is none, or it cannot be read.
    pub fingerprint: Option<String>,
    /// Whether a new interactive session would load the document.
    pub trusted: bool,
    /// What the trust store says about the project; null when it says nothing.
    pub entry: Option<TrustEntry>,
    /// Why the trust store cannot be used; null when it can.
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
    /// Whether the request has changed the trust store.
    pub changed: bool,
    /// The trust in the project as it is now.
    pub status: TrustStatus,
}
