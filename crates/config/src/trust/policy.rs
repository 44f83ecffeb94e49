//! What one session trusts: grants made for it, each bound to the bytes of a document, and the store unless nobody is
//! there to have filled it (headless sessions; contract section 10).

use std::path::Path;

use super::store::Store;
use crate::project;
use crate::read::{Found, MAX_DOCUMENT, bounded};

/// What one session trusts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    store: Store,
    /// Canonical root and the document's SHA-256; one a root.
    grants: Vec<(String, String)>,
}

impl Policy {
    /// The store, and grants to come.
    #[must_use]
    pub fn with_store(store: Store) -> Policy {
        Policy { store, grants: Vec::new() }
    }

    /// Grants to come, and nothing else.
    #[must_use]
    pub fn explicit_only() -> Policy {
        Policy::with_store(Store::Absent)
    }

    /// The store that counts here.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Trusts the project around `cwd` with the bytes its document has now, instead of any grant before. Without a
    /// document there is nothing to trust.
    pub fn grant(&mut self, cwd: &Path) {
        self.revoke(cwd);
        let Some(root) = project::root(cwd) else { return };
        if let Some(fingerprint) = current(&root) {
            self.grant_bytes(&root, &fingerprint);
        }
    }

    /// Trusts `root` with these bytes, instead of any grant before.
    pub fn grant_bytes(&mut self, root: &Path, fingerprint: &str) {
        let Some(real) = project::certain(root) else { return };
        self.grants.retain(|(granted, _)| *granted != real);
        self.grants.push((real, fingerprint.to_owned()));
    }

    /// Takes a grant for the project around `cwd` back. The store is not touched.
    pub fn revoke(&mut self, cwd: &Path) {
        let real = project::root(cwd).and_then(|root| project::certain(&root));
        self.grants.retain(|(granted, _)| Some(granted) != real.as_ref());
    }

    /// Whether a grant of this session covers these bytes in `root`.
    #[must_use]
    pub fn granted(&self, root: &Path, fingerprint: &str) -> bool {
        let Some(real) = project::certain(root) else { return false };
        self.grants.iter().any(|(granted, bytes)| *granted == real && bytes == fingerprint)
    }

    /// Whether these bytes count in `root`.
    #[must_use]
    pub fn trusts(&self, root: &Path, fingerprint: &str) -> bool {
        self.granted(root, fingerprint) || self.store.trusts(root, fingerprint)
    }

    /// Whether the project around `cwd` counts: with these bytes, or with those its document has now.
    #[must_use]
    pub fn allows(&self, cwd: &Path, fingerprint: Option<&str>) -> bool {
        let Some(root) = project::root(cwd) else { return false };
        match fingerprint.map(str::to_owned).or_else(|| current(&root)) {
            Some(fingerprint) => self.trusts(&root, &fingerprint),
            // Nothing to load; what is asked is whether the folder is trusted as such.
            None => self.store.trusts(&root, ""),
        }
    }
}

/// SHA-256 of the document of `root` as it is now.
fn current(root: &Path) -> Option<String> {
    match bounded(&project::document(root), MAX_DOCUMENT) {
        Found::File(contents) => Some(contents.fingerprint()),
        Found::Absent | Found::Unreadable { .. } => None,
    }
}
