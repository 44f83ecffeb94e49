//! Where a program is and where it runs: `execvp`'s search in the handler's own `PATH`, and D3's folders.
//!
//! Guarantees: the search never looks at the daemon's `PATH` or cwd, an entry without permission is
//! remembered while the search goes on, and nothing is ever run through a shell that was not asked for.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

use crate::job::Job;

/// Folders searched when the handler has no `PATH` at all: what the C library takes.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Where a program may be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Files to try in this order; the next one only if the kernel finds nothing to run at the one before.
    Here(Vec<PathBuf>),
    /// Only a file that may not be executed, or a folder.
    Denied(PathBuf),
    /// Nowhere in the search path.
    Nowhere,
}

/// Whether a handler can run in this folder.
pub(crate) fn can_enter(folder: &Path) -> bool {
    folder.is_dir() && access(folder, AccessFlags::X_OK).is_ok()
}

/// The folder that a run takes place in, and whether it is a fallback (D3).
pub(crate) fn choose_folder(job: &Job) -> Option<(&Path, bool)> {
    if can_enter(&job.template.cwd) {
        return Some((&job.template.cwd, false));
    }
    job.template.fallback_cwds.iter().find(|folder| can_enter(folder)).map(|folder| (folder.as_path(), true))
}

/// The files that `name` may mean for a process in `folder`.
pub(crate) fn program(name: &str, path: Option<&OsStr>, folder: &Path) -> Found {
    if name.is_empty() {
        return Found::Nowhere;
    }
    if name.contains('/') {
        return Found::Here(vec![as_given(Path::new(name), folder)]);
    }
    let path = path.unwrap_or(OsStr::new(DEFAULT_PATH));
    let mut here = Vec::new();
    let mut denied = None;
    for entry in path.as_bytes().split(|byte| *byte == b':') {
        // An empty entry is the handler's cwd, as it always was.
        let candidate = Path::new(OsStr::from_bytes(entry)).join(name);
        let seen_from_here = folder.join(&candidate);
        let Ok(metadata) = std::fs::metadata(&seen_from_here) else { continue };
        if metadata.is_file() && access(&seen_from_here, AccessFlags::X_OK).is_ok() {
            here.push(as_given(&candidate, folder));
        } else {
            denied.get_or_insert(candidate);
        }
    }
    match (here.is_empty(), denied) {
        (false, _) => Found::Here(here),
        (true, Some(denied)) => Found::Denied(denied),
        (true, None) => Found::Nowhere,
    }
}

/// A relative path stays relative, as `execvp` leaves it: a script sees it as its `$0`. macOS would take it
/// from the daemon's folder.
fn as_given(program: &Path, folder: &Path) -> PathBuf {
    if cfg!(target_vendor = "apple") { folder.join(program) } else { program.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn put(file: &Path, mode: u32) {
        fs::write(file, "#!/bin/sh\n").unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn search_keeps_order_and_remembers_what_it_may_not_run() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for folder in ["a", "b", "c", "d/tool"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        put(&at("a/tool"), 0o644);
        put(&at("b/tool"), 0o755);
        put(&at("c/tool"), 0o755);
        put(&at("here"), 0o755);
        let path = |entries: &[&str]| entries.iter().map(|e| at(e)).collect::<Vec<_>>();
        let search = |name: &str, entries: &[&str]| {
            let path = std::env::join_paths(path(entries)).unwrap();
            program(name, Some(&path), dir.path())
        };
        assert_eq!(search("tool", &["a", "nowhere", "b", "c"]), Found::Here(path(&["b/tool", "c/tool"])));
        assert_eq!(search("tool", &["d", "a"]), Found::Denied(at("d/tool")));
        assert_eq!(search("tool", &["nowhere"]), Found::Nowhere);
        assert_eq!(search("", &["b"]), Found::Nowhere);
        let empty_entry = program("here", Some(OsStr::new("/nowhere::")), dir.path());
        assert_eq!(empty_entry, Found::Here(vec![PathBuf::from("here"), PathBuf::from("here")]));
        assert_eq!(program("./x", Some(OsStr::new("")), dir.path()), Found::Here(vec![PathBuf::from("./x")]));
    }
}
