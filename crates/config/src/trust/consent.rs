//! Trusting a project as a person does it: see what its document would run, read by the parser that runs it, and
//! agree to exactly those bytes (D13, B64).

use std::path::{Path, PathBuf};

use hooksd_protocol::diagnostic::{Diagnostic, code};
use hooksd_protocol::methods::{HandlerInfo, TrustChanged, TrustEntry, TrustListed, TrustStatus};

use super::store::{Entry, Store, store_path};
use super::write::{self, WriteError};
use crate::contents::Contents;
use crate::document::parsed;
use crate::model::{Handler, Source, groups};
use crate::project;
use crate::read::{Found, MAX_DOCUMENT, bounded};
use crate::snapshot::Snapshot;

/// Why trust was not changed. It is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ConsentError {
    /// The folder is no absolute path.
    #[error("{0} is not an absolute path")]
    Relative(PathBuf),
    /// There is nothing to trust.
    #[error("{0} is not there or cannot be read: there is nothing to trust")]
    NoDocument(String),
    /// The document is not the one that was looked at.
    #[error("{document} now has the SHA-256 {got}, not {expected}: look at it again before trusting it")]
    OtherBytes {
        /// Which document.
        document: String,
        /// What was looked at.
        expected: String,
        /// What is there.
        got: String,
    },
    /// The store was not changed.
    #[error(transparent)]
    Store(#[from] WriteError),
}

/// What is trusted for good.
#[must_use]
pub fn list(config_dir: &Path) -> TrustListed {
    let store = Store::read(config_dir);
    let mut projects: Vec<TrustEntry> = store.entries().iter().map(entry).collect();
    projects.sort_by(|a, b| a.root.cmp(&b.root));
    TrustListed { store: store_path(config_dir).display().to_string(), problem: problem(&store), projects }
}

/// What is known of the project around `cwd`.
///
/// # Errors
/// When `cwd` is not an absolute path.
pub fn status(config_dir: &Path, cwd: &Path) -> Result<TrustStatus, ConsentError> {
    let root = project::root(cwd).ok_or_else(|| ConsentError::Relative(cwd.to_owned()))?;
    let store = Store::read(config_dir);
    let path = project::document(&root);
    let mut status = TrustStatus {
        root: root.display().to_string(),
        document: path.display().to_string(),
        hooks_present: false,
        fingerprint: None,
        trusted: false,
        entry: project::certain(&root)
            .and_then(|real| store.entries().iter().find(|entry| entry.root == real).map(entry)),
        problem: problem(&store),
        handlers: Vec::new(),
        legacy: Vec::new(),
        diagnostics: Vec::new(),
    };
    match bounded(&path, MAX_DOCUMENT) {
        Found::Absent => {}
        Found::Unreadable { path, reason, .. } => {
            status.hooks_present = true;
            let message = format!("{} {reason}; none of its hooks is loaded", path.display());
            status.diagnostics.push(Diagnostic::warning(code::CONFIG_READ_FAILED, message));
        }
        Found::File(contents) => {
            let fingerprint = contents.fingerprint();
            // The user's own file needs no trust (B36).
            let own = bounded(&config_dir.join(project::HOOKS_FILE), MAX_DOCUMENT);
            let is_own = matches!(own, Found::File(own) if own.path == contents.path);
            status.hooks_present = true;
            status.trusted = is_own || store.trusts(&root, &fingerprint);
            status.fingerprint = Some(fingerprint);
            let snapshot = alone(&contents);
            status.handlers = snapshot.handlers().iter().map(handler_info).collect();
            status.legacy = snapshot.legacy;
            status.diagnostics = snapshot.diagnostics;
        }
    }
    Ok(status)
}

/// Trusts the document of the project around `cwd` if it has this SHA-256.
///
/// # Errors
/// When there is no such document, or the store was not changed.
pub fn grant(config_dir: &Path, cwd: &Path, fingerprint: &str) -> Result<TrustChanged, ConsentError> {
    let before = status(config_dir, cwd)?;
    match before.fingerprint {
        None => return Err(ConsentError::NoDocument(before.document)),
        Some(got) if got != fingerprint => {
            let expected = fingerprint.to_owned();
            return Err(ConsentError::OtherBytes { document: before.document, expected, got });
        }
        Some(_) => {}
    }
    let root = project::root(cwd).ok_or_else(|| ConsentError::Relative(cwd.to_owned()))?;
    write::grant(config_dir, &root, Some(fingerprint))?;
    Ok(TrustChanged { changed: true, status: status(config_dir, cwd)? })
}

/// Trusts the project around `cwd` no longer.
///
/// # Errors
/// When `cwd` is not an absolute path, or the store was not changed.
pub fn revoke(config_dir: &Path, cwd: &Path) -> Result<TrustChanged, ConsentError> {
    let root = project::root(cwd).ok_or_else(|| ConsentError::Relative(cwd.to_owned()))?;
    let changed = write::revoke(config_dir, &root)?;
    Ok(TrustChanged { changed, status: status(config_dir, cwd)? })
}

/// A handler as people and clients see it.
#[must_use]
pub fn handler_info(handler: &Handler) -> HandlerInfo {
    HandlerInfo {
        id: handler.id.clone(),
        event: handler.event,
        matcher: handler.matcher_text.clone(),
        command: handler.command.clone(),
        argv: handler.argv.clone(),
        timeout: handler.timeout,
        status_message: handler.status_message.clone(),
        on_failure: handler.on_failure.as_str().to_owned(),
        lifecycle: handler.lifecycle.as_str().to_owned(),
        workers: handler.workers,
        source: handler.source.label(),
    }
}

/// The document compiled by itself.
fn alone(contents: &Contents) -> Snapshot {
    let parsed = parsed(contents).clone();
    let groups = groups(parsed.declarations.unwrap_or_default(), Source::Project(contents.path.clone()));
    Snapshot::compile(groups, Vec::new(), parsed.diagnostics).with_legacy(parsed.legacy)
}

fn entry(entry: &Entry) -> TrustEntry {
    TrustEntry {
        root: entry.root.clone(),
        trusted_at: entry.trusted_at.clone(),
        fingerprint: entry.fingerprint.clone(),
    }
}

fn problem(store: &Store) -> Option<String> {
    match store {
        Store::Unreadable(reason) | Store::Unknown(reason) => {
            Some(format!("the trust store {reason}; no project is trusted"))
        }
        Store::Absent | Store::Entries(_) => None,
    }
}
