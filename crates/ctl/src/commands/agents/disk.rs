//! Other programs' files on disk. A file is replaced at once or not at all, keeps its mode, is written where its links
//! lead, and only if it still holds what the change was made from; what it held is kept beside it first.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use hooksd_config::read::{Found, MAX_DOCUMENT, bounded};

/// How many backups of a file are kept. Files. The oldest goes when there are more.
const BACKUPS: usize = 5;

/// What a backup's name has between the file's name and the time, and at its end: no agent reads files that end so.
const BACKUP_MARK: &str = ".hooksd-";
const BACKUP_END: &str = ".bak";

/// Links that are followed to where a file that is not there yet belongs.
const MAX_LINKS: usize = 16;

/// The mode of a new file of a user and of a project.
pub(crate) const PRIVATE: u32 = 0o600;
pub(crate) const SHARED: u32 = 0o644;

/// What a file holds; `None` when there is none.
///
/// # Errors
/// When it is there and cannot be read as text: why.
pub(crate) fn read(path: &Path) -> Result<Option<String>, String> {
    match bounded(path, MAX_DOCUMENT) {
        Found::File(contents) => match String::from_utf8(contents.bytes.to_vec()) {
            Ok(text) => Ok(Some(text)),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                Err(format!("{} is not UTF-8 (at byte {at})", path.display()))
            }
        },
        Found::Unreadable { path, reason, .. } => Err(format!("{} {reason}", path.display())),
        Found::Absent => match fs::metadata(path) {
            Ok(_) => Err(format!("{} is not a regular file", path.display())),
            Err(_) => Ok(None),
        },
    }
}

/// The backups of a file, the newest first.
pub(crate) fn backups(path: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Vec::new();
    };
    let prefix = format!("{name}{BACKUP_MARK}");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_backup = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with(&prefix) && name.ends_with(BACKUP_END)
    };
    let mut found: Vec<PathBuf> = entries.filter(is_backup).collect();
    found.sort_unstable();
    found.reverse();
    found
}

/// Keeps what a file holds beside it; where. If that is kept already, nothing is written.
///
/// # Errors
/// When it cannot be written: nothing may be changed then.
pub(crate) fn backup(path: &Path, text: &str) -> Result<PathBuf, String> {
    let existing = backups(path);
    if let Some(newest) = existing.first()
        && read(newest).ok().flatten().as_deref() == Some(text)
    {
        return Ok(newest.clone());
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Sorts as time does; nanoseconds keep two of one second apart.
    let stamp = format!("{:011}-{:09}", now.as_secs(), now.subsec_nanos());
    let to = path.with_file_name(format!("{name}{BACKUP_MARK}{stamp}{BACKUP_END}"));
    let mode = fs::metadata(path).map_or(PRIVATE, |metadata| metadata.permissions().mode());
    replace(&to, text, mode).map_err(|error| format!("cannot write the backup {}: {error}", to.display()))?;
    for old in existing.iter().skip(BACKUPS - 1) {
        // One too many is no reason to stop.
        let _ = fs::remove_file(old);
    }
    Ok(to)
}

/// Writes a file that held `before`, or was not there.
///
/// # Errors
/// When it holds something else by now, or cannot be written. It is as it was then.
pub(crate) fn write(path: &Path, before: Option<&str>, after: &str, mode: u32) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    let real = destination(path).map_err(failed)?;
    if let Some(folder) = real.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    unchanged(path, before)?;
    let mode = fs::metadata(&real).map_or(mode, |metadata| metadata.permissions().mode() & 0o7777);
    replace(&real, after, mode).map_err(failed)
}

/// Removes a file that held `before`.
///
/// # Errors
/// When it holds something else by now, or cannot be removed.
pub(crate) fn remove(path: &Path, before: &str) -> Result<(), String> {
    unchanged(path, Some(before))?;
    let real = destination(path).unwrap_or_else(|_| path.to_owned());
    fs::remove_file(&real).map_err(|error| format!("cannot remove {}: {error}", real.display()))
}

/// Removes a folder of ours and those in it, as far as they are empty.
pub(crate) fn remove_empty(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_empty(&entry.path());
        }
    }
    // Only an empty one goes, which is what is wanted.
    let _ = fs::remove_dir(folder);
}

fn unchanged(path: &Path, before: Option<&str>) -> Result<(), String> {
    match read(path)?.as_deref() == before {
        true => Ok(()),
        false => Err(format!(
            "{} was changed by somebody else meanwhile; it was left as it is: try again",
            path.display()
        )),
    }
}

/// Where a path leads, also when nothing is there yet.
fn destination(path: &Path) -> std::io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("/")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(std::io::Error::other("too many links"))
}

/// Puts a new file in the place of an old one; a reader sees one or the other, also after a crash.
fn replace(path: &Path, text: &str, mode: u32) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut file = tempfile::Builder::new().prefix(".hooksd-").suffix(".tmp").tempfile_in(folder)?;
    file.as_file().set_permissions(Permissions::from_mode(mode))?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    // The name is durable with its folder; where that cannot be asked for, the system does it in its own time.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_keeps_its_mode_and_its_links() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("dotfiles")).unwrap();
        fs::write(at("dotfiles/real"), "old").unwrap();
        fs::set_permissions(at("dotfiles/real"), Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("dotfiles/real", at("link")).unwrap();
        write(&at("link"), Some("old"), "new", PRIVATE).unwrap();
        assert_eq!(read(&at("dotfiles/real")).unwrap().as_deref(), Some("new"));
        assert_eq!(fs::read_link(at("link")).unwrap(), Path::new("dotfiles/real"));
        assert_eq!(fs::metadata(at("dotfiles/real")).unwrap().permissions().mode() & 0o777, 0o640);
        // A link to where nothing is yet.
        std::os::unix::fs::symlink("dotfiles/later", at("later")).unwrap();
        write(&at("later"), None, "first", PRIVATE).unwrap();
        assert_eq!(read(&at("dotfiles/later")).unwrap().as_deref(), Some("first"));
        assert_eq!(fs::metadata(at("dotfiles/later")).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_somebody_else_has_written_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "theirs").unwrap();
        for before in [None, Some("mine")] {
            let error = write(&path, before, "new", PRIVATE).unwrap_err();
            assert!(error.contains("changed by somebody else"), "{error}");
        }
        assert!(remove(&path, "mine").unwrap_err().contains("changed by somebody else"));
        assert_eq!(read(&path).unwrap().as_deref(), Some("theirs"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "a temporary file was left");
        assert!(read(folder.path()).unwrap_err().ends_with("is not a regular file"));
        fs::write(&path, b"a\xff").unwrap();
        assert!(read(&path).unwrap_err().ends_with("is not UTF-8 (at byte 1)"));
    }

    #[test]
    fn backups_are_bounded_and_the_newest_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.json");
        fs::write(&path, "x").unwrap();
        for round in 0..BACKUPS + 3 {
            let kept = backup(&path, &round.to_string()).unwrap();
            assert_eq!(backup(&path, &round.to_string()).unwrap(), kept);
        }
        let texts: Vec<String> = backups(&path).iter().filter_map(|path| read(path).unwrap()).collect();
        assert_eq!(texts, ["7", "6", "5", "4", "3"]);
    }
}
