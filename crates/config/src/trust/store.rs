//! The store: `<config dir>/.state/hooks_trust.json`, version 1, a map of canonical root to `{trusted_at}`. Other
//! programs share it; an entry of ours has the document's `sha256` as well (D13).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hooksd_json::python::{ascii_string, ascii_token};
use hooksd_json::{Dialect, Kind, Value};

use crate::project;
use crate::read::{Found, bounded};

/// The largest trust store that is read. Bytes.
const MAX_STORE: u64 = 4 * 1024 * 1024;

/// The deepest nesting of a store. Levels. Other programs' readers give up there; what they cannot read is not replaced.
const MAX_DEPTH: usize = 1000;

/// Where the store is.
#[must_use]
pub fn store_path(config_dir: &Path) -> PathBuf {
    config_dir.join(".state").join("hooks_trust.json")
}

/// One trusted project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its canonical root; U+FFFD where another program wrote what no text can hold.
    pub root: String,
    /// Since when, as whoever granted it spelled it.
    pub trusted_at: String,
    /// SHA-256 of the document the grant is for; `None` when it is for whatever the document holds.
    pub fingerprint: Option<String>,
    /// Root and time as JSON tokens in ASCII: what is rewritten, exactly.
    tokens: (String, String),
}

impl Entry {
    pub(super) fn new(root: &str, trusted_at: String, fingerprint: Option<&str>) -> Entry {
        Entry {
            root: root.to_owned(),
            tokens: (ascii_string(root), ascii_string(&trusted_at)),
            trusted_at,
            fingerprint: fingerprint.map(str::to_owned),
        }
    }

    fn read(root: &Value<'_>, entry: &Value<'_>) -> Option<Entry> {
        let trusted_at = entry.get("trusted_at")?;
        Some(Entry {
            root: root.as_str()?.into_owned(),
            trusted_at: trusted_at.as_str()?.into_owned(),
            // A hash that is no string cannot match any document.
            fingerprint: entry.get("sha256").map(|hash| hash.as_str().unwrap_or_default().into_owned()),
            tokens: (ascii_token(root.raw()), ascii_token(trusted_at.raw())),
        })
    }

    /// Whether it trusts the document with these bytes in this canonical root.
    pub(super) fn trusts(&self, root: &str, fingerprint: &str) -> bool {
        self.root == root && self.fingerprint.as_deref().is_none_or(|hash| hash == fingerprint)
    }
}

/// What the store says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Store {
    /// There is none: nothing is trusted.
    Absent,
    /// It cannot be read or is not version 1: nothing is trusted, and it must not be overwritten.
    Unreadable(String),
    /// The system was short of something: nothing is known of it, and another try may read it.
    Unknown(String),
    /// Its valid entries.
    Entries(Vec<Entry>),
}

impl Store {
    /// Reads the store of a config dir.
    #[must_use]
    pub fn read(config_dir: &Path) -> Store {
        let path = store_path(config_dir);
        match bounded(&path, MAX_STORE) {
            Found::Absent if path.symlink_metadata().is_ok() => {
                Store::Unreadable(format!("{} is not a regular file", path.display()))
            }
            Found::Absent => Store::Absent,
            Found::Unreadable { path, reason, passing: true } => {
                Store::Unknown(format!("{} {reason}", path.display()))
            }
            Found::Unreadable { path, reason, .. } => {
                Store::Unreadable(format!("{} {reason}", path.display()))
            }
            Found::File(contents) => Store::parse(&contents.bytes)
                .unwrap_or_else(|reason| Store::Unreadable(format!("{} {reason}", path.display()))),
        }
    }

    /// Reads the bytes of a store.
    ///
    /// # Errors
    /// Why nothing of it counts, as the end of a sentence that begins with its path.
    pub fn parse(bytes: &[u8]) -> Result<Store, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned())?;
        let value = Value::parse(text, Dialect::Python).map_err(|error| format!("is not JSON: {error}"))?;
        if value.depth() > MAX_DEPTH {
            return Err(format!("is nested deeper than {MAX_DEPTH} levels"));
        }
        // The integer 1 and nothing else (D23).
        if value.get("version").map(|version| version.kind()) != Some(Kind::Number("1")) {
            return Err("is not a version 1 trust store".to_owned());
        }
        let projects = match value.get("projects").filter(|projects| !projects.is_null()) {
            None => return Ok(Store::Entries(Vec::new())),
            Some(projects) if projects.is_object() => projects,
            Some(_) => return Err("has \"projects\" that is no object".to_owned()),
        };
        // The last of several entries for a root counts, and if that is invalid, none does.
        let last: BTreeMap<String, (Value<'_>, Value<'_>)> = projects
            .pairs()
            .into_iter()
            .map(|(root, entry)| (ascii_token(root.raw()), (root, entry)))
            .collect();
        Ok(Store::Entries(last.values().filter_map(|(root, entry)| Entry::read(root, entry)).collect()))
    }

    /// Whether the store trusts the document of `root` with these bytes. `root` is resolved first; a path whose
    /// resolution is uncertain, or that is not spelled in UTF-8, is not trusted (B65).
    #[must_use]
    pub fn trusts(&self, root: &Path, fingerprint: &str) -> bool {
        let Some(real) = project::certain(root) else { return false };
        self.entries().iter().any(|entry| entry.trusts(&real, fingerprint))
    }

    /// The entries; none when the store is absent or cannot be read.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        match self {
            Store::Entries(entries) => entries,
            Store::Absent | Store::Unreadable(_) | Store::Unknown(_) => &[],
        }
    }

    /// The entries as the file has them: sorted, spelled as other programs spell them.
    #[must_use]
    pub fn text(entries: &[Entry]) -> String {
        let mut sorted: Vec<&Entry> = entries.iter().collect();
        sorted.sort_by(|a, b| (&a.root, &a.tokens).cmp(&(&b.root, &b.tokens)));
        let entries: Vec<String> = sorted
            .into_iter()
            .map(|entry| {
                let hash = match &entry.fingerprint {
                    Some(hash) => format!("\"sha256\": {}, ", ascii_string(hash)),
                    None => String::new(),
                };
                format!("{}: {{{hash}\"trusted_at\": {}}}", entry.tokens.0, entry.tokens.1)
            })
            .collect();
        format!("{{\"projects\": {{{}}}, \"version\": 1}}\n", entries.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn store_with(text: &str) -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let text = text.replace("<ROOT>", fs::canonicalize(folder.path()).unwrap().to_str().unwrap());
        fs::create_dir_all(folder.path().join(".state")).unwrap();
        fs::create_dir_all(folder.path().join("a/sub")).unwrap();
        fs::create_dir_all(folder.path().join("ab")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("a"), folder.path().join("ln")).unwrap();
        fs::write(store_path(folder.path()), text).unwrap();
        let store = Store::read(folder.path());
        (folder, store)
    }

    #[test]
    fn b65_exactly_the_canonical_folder_is_trusted() {
        let (folder, store) = store_with(r#"{"version":1,"projects":{"<ROOT>/a":{"trusted_at":"t"}}}"#);
        let trusted = |path: &str| store.trusts(&folder.path().join(path), "any");
        assert_eq!(
            ["a", "a/", "ln", "ab", "a/sub", "A", "gone"].map(trusted),
            [true, true, true, false, false, false, false]
        );
        assert!(!store.trusts(Path::new(""), "any"));
    }

    #[test]
    fn d13_an_entry_with_a_hash_is_bound_to_the_bytes() {
        let (folder, store) =
            store_with(r#"{"version":1,"projects":{"<ROOT>/a":{"trusted_at":"t","sha256":"aa"}}}"#);
        assert!(store.trusts(&folder.path().join("a"), "aa"));
        assert!(!store.trusts(&folder.path().join("a"), "bb"));
    }

    #[test]
    fn anything_else_trusts_nothing() {
        for text in [
            "",
            "[]",
            "{}",
            r#"{"version":2,"projects":{"<ROOT>/a":{"trusted_at":"t"}}}"#,
            r#"{"version":1.0,"projects":{"<ROOT>/a":{"trusted_at":"t"}}}"#,
            r#"{"version":true,"projects":{"<ROOT>/a":{"trusted_at":"t"}}}"#,
            r#"{"version":1,"projects":{"<ROOT>/a":{}}}"#,
            r#"{"version":1,"projects":{"<ROOT>/a":true}}"#,
            r#"{"version":1,"projects":{"<ROOT>/a":{"trusted_at":5}}}"#,
            r#"{"version":1,"projects":[]}"#,
        ] {
            let (folder, store) = store_with(text);
            assert!(!store.trusts(&folder.path().join("a"), "any"), "{text}");
        }
    }
}
