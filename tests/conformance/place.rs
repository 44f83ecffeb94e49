//! A case's own folders, and the placeholders that stand for them in the vectors.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::json::quote;

/// A temporary tree, gone with the value.
#[derive(Debug)]
pub(crate) struct Place {
    _top: tempfile::TempDir,
    base: PathBuf,
    /// Placeholder and what it stands for.
    names: Vec<(&'static str, String)>,
}

impl Place {
    /// A tree in a canonical path. `folders` are made: placeholder and path below the top.
    pub(crate) fn new(folders: &[(&'static str, &str)]) -> Result<Place, String> {
        let top = folder()?;
        let base = fs::canonicalize(top.path()).map_err(|error| error.to_string())?;
        let mut place = Place { _top: top, base, names: Vec::new() };
        for (name, folder) in folders {
            let path = place.base.join(folder);
            fs::create_dir_all(&path).map_err(|error| error.to_string())?;
            place.name(name, &path);
        }
        let base = place.base.clone();
        place.name("<BASE>", &base);
        place.name("<ROOT>", &base);
        Ok(place)
    }

    /// Top of the tree.
    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    /// Lets a placeholder stand for a path.
    pub(crate) fn name(&mut self, name: &'static str, path: &Path) {
        self.stand_for(name, path.to_str().unwrap());
    }

    /// Lets a placeholder stand for a text.
    pub(crate) fn stand_for(&mut self, name: &'static str, text: &str) {
        self.names.push((name, text.to_owned()));
    }

    /// A plain text with real paths.
    pub(crate) fn real(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (name, real)| text.replace(name, real))
    }

    /// JSON text with real paths.
    pub(crate) fn real_json(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (name, real)| text.replace(name, inside(&quote(real))))
    }

    /// JSON text of a result with placeholders again: the longest path first, since one may begin another.
    pub(crate) fn placeholders(&self, json: &str) -> String {
        let mut names: Vec<(&str, String)> =
            self.names.iter().map(|(name, real)| (*name, inside(&quote(real)).to_owned())).collect();
        names.sort_by_key(|(_, real)| std::cmp::Reverse(real.len()));
        names.into_iter().fold(json.to_owned(), |json, (name, real)| json.replace(&real, name))
    }
}

/// A folder whose name has no capital letter: vectors count those in what handlers read, and that names the folder.
fn folder() -> Result<tempfile::TempDir, String> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let name = format!("conformance-{}-{since}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir().map_err(|error| error.to_string())
}

fn inside(token: &str) -> &str {
    &token[1..token.len() - 1]
}

/// Whether the temporary folder is in a git repository: then project roots would not be what the vectors say.
pub(crate) fn is_in_repository() -> bool {
    let folder = fs::canonicalize(std::env::temp_dir()).unwrap_or_default();
    folder.ancestors().any(|folder| folder.join(".git").exists())
}
