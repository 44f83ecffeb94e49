//! Whether a project's document counts (BEHAVIOUR section 10). Anything unresolvable is untrusted.
//!
//! The store is shared with other programs: `<config dir>/.state/hooks_trust.json`, version 1, a map of canonical
//! root to `{trusted_at}`. It is only read here.

use std::fs;
use std::path::{Path, PathBuf};

use hooksd_protocol::json::{Dialect, Kind, Value};

use crate::read::{Found, bounded};

/// The largest trust store that is read. Bytes.
const MAX_STORE: u64 = 4 * 1024 * 1024;

/// Where the store is.
#[must_use]
pub fn store_path(config_dir: &Path) -> PathBuf {
    config_dir.join(".state").join("hooks_trust.json")
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
    /// Its valid entries: canonical root, and the document's SHA-256 if the grant was bound to it (D13).
    Entries(Vec<(String, Option<String>)>),
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

    fn parse(bytes: &[u8]) -> Result<Store, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned())?;
        let value = Value::parse(text, Dialect::Python).map_err(|error| format!("is not JSON: {error}"))?;
        // The integer 1 and nothing else (D23).
        if value.get("version").map(|version| version.kind()) != Some(Kind::Number("1")) {
            return Err("is not a version 1 trust store".to_owned());
        }
        let Some(projects) = value.get("projects").filter(Value::is_object) else {
            return Err("has no \"projects\" object".to_owned());
        };
        let entries = projects.entries().into_iter().filter_map(|(root, entry)| {
            entry.get("trusted_at")?.as_str()?;
            // A hash that is no string cannot match any document.
            let fingerprint = entry.get("sha256").map(|hash| hash.as_str().unwrap_or_default().into_owned());
            Some((root.into_owned(), fingerprint))
        });
        Ok(Store::Entries(entries.collect()))
    }

    /// Whether the store trusts the document of `root` with these bytes. `root` is resolved first; a path that
    /// does not resolve, or is not spelled in UTF-8, is not trusted (B65).
    #[must_use]
    pub fn trusts(&self, root: &Path, fingerprint: &str) -> bool {
        let Store::Entries(entries) = self else { return false };
        let Ok(real) = fs::canonicalize(root) else { return false };
        let Some(real) = real.to_str() else { return false };
        entries
            .iter()
            .any(|(trusted, hash)| trusted == real && hash.as_deref().is_none_or(|hash| hash == fingerprint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
