//! Where the journal is, and how it is kept to its owner alone.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use rusqlite::{Connection, OpenFlags};

use crate::error::JournalError;
use crate::schema::database;

/// The path of the journal that belongs to a config dir.
#[must_use]
pub fn path(config_dir: &Path) -> PathBuf {
    config_dir.join(".state").join("hooksd").join("journal.db")
}

/// Makes the file and its folders, or checks that the file which is there belongs to this user alone. The config dir
/// itself is not made, because somebody may have removed it on purpose.
pub(crate) fn prepare(path: &Path) -> Result<(), JournalError> {
    let system = |source| JournalError::System { path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("/"));
    if let Some(config_dir) = folder.ancestors().nth(2) {
        fs::metadata(config_dir).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => system(io::Error::new(
                error.kind(),
                format!("the folder {} is not there; `hooksctl init` makes it", config_dir.display()),
            )),
            _ => system(error),
        })?;
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(system)?;
    fs::set_permissions(folder, Permissions::from_mode(0o700)).map_err(system)?;
    let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits();
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags)
        .open(path)
        .map_err(system)?;
    let found = file.metadata().map_err(system)?;
    if !found.is_file() || found.uid() != nix::unistd::geteuid().as_raw() || found.nlink() != 1 {
        let reason = "it is not a file of ours alone".to_owned();
        return Err(JournalError::NotOurs { path: path.to_owned(), reason });
    }
    file.set_permissions(Permissions::from_mode(0o600)).map_err(system)
}

/// Opens the database. Its folders may be links, as they are for people who keep their configuration elsewhere. The
/// file may not be one, so that nobody can have another file written to.
pub(crate) fn connect(path: &Path, access: OpenFlags) -> Result<Connection, JournalError> {
    // SQLite's flag refuses links in every part of the path, so that the folder is resolved before.
    let real = path.parent().and_then(|folder| Some(fs::canonicalize(folder).ok()?.join(path.file_name()?)));
    let flags = access | OpenFlags::SQLITE_OPEN_NOFOLLOW | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(real.as_deref().unwrap_or(path), flags).map_err(database(path))
}

/// The paths of the database and of the two files that SQLite keeps beside it: the log and the shared memory.
pub(crate) fn files(path: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|end| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    })
}

/// Moves the database out of the way, to its path with `kind` at the end. It replaces what was moved there before, so
/// that one of each kind is kept.
pub(crate) fn move_aside(path: &Path, kind: &str) -> io::Result<PathBuf> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{kind}"));
    let aside = PathBuf::from(name);
    for (from, to) in files(path).iter().zip(files(&aside)) {
        match fs::rename(from, to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(aside)
}

/// What tells one file from another: its device and its inode. `None` when there is no file.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn folders_may_be_links_and_the_file_may_not() {
        let top = tempfile::tempdir().unwrap();
        let at = |name: &str| top.path().join(name);
        fs::create_dir(at("real")).unwrap();
        symlink(at("real"), at("linked")).unwrap();
        let linked = path(&at("linked"));
        prepare(&linked).unwrap();
        for access in [OpenFlags::SQLITE_OPEN_READ_WRITE, OpenFlags::SQLITE_OPEN_READ_ONLY] {
            connect(&linked, access).unwrap().execute_batch("PRAGMA user_version").unwrap();
        }
        symlink(&linked, at("journal.db")).unwrap();
        assert!(connect(&at("journal.db"), OpenFlags::SQLITE_OPEN_READ_ONLY).is_err());
    }
}
