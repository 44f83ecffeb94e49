//! Looking at one document without loading it: what would be used and what would not.

use std::path::Path;

use hooksd_protocol::diagnostic::{Diagnostic, code};
use hooksd_protocol::methods::{CheckResult, Scope};

use crate::document::{ListForm, parse_bytes};
use crate::model::{Source, groups};
use crate::read::{Found, MAX_DOCUMENT, bounded};
use crate::snapshot::Snapshot;

/// Checks the file at `path`.
#[must_use]
pub fn file(path: &Path, scope: Scope) -> CheckResult {
    let unusable = |path: &Path, reason: &str| {
        let location = path.display().to_string();
        let message = format!("{location} {reason}; none of its hooks would be loaded");
        CheckResult {
            usable: false,
            handlers: 0,
            diagnostics: vec![Diagnostic::warning(code::CONFIG_READ_FAILED, message).field(location)],
        }
    };
    match bounded(path, MAX_DOCUMENT) {
        Found::File(contents) => text(&contents.bytes, &contents.path.display().to_string(), scope),
        Found::Unreadable { path, reason, .. } => unusable(&path, &reason),
        Found::Absent => unusable(path, "is not there, or is not a regular file"),
    }
}

/// Checks a document's text; `location` names it in diagnostics.
#[must_use]
pub fn text(bytes: &[u8], location: &str, scope: Scope) -> CheckResult {
    let list_form = if scope == Scope::Plugin { ListForm::Refused } else { ListForm::Allowed };
    let parsed = parse_bytes(bytes, location, list_form);
    let usable = parsed.declarations.is_some();
    let source = match scope {
        Scope::User => Source::User(location.into()),
        Scope::Project => Source::Project(location.into()),
        Scope::Plugin => Source::Plugin(location.to_owned()),
    };
    let groups = groups(parsed.declarations.unwrap_or_default(), source);
    let snapshot = Snapshot::compile(groups, Vec::new(), parsed.diagnostics);
    CheckResult { usable, handlers: snapshot.handlers().len(), diagnostics: snapshot.diagnostics }
}
