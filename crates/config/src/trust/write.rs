//! Changing the store. Other programs do too: everybody holds the same lock while reading and replacing it, readers
//! see either the old file or the new one, and a store that cannot be read is never replaced (B68).

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use nix::fcntl::OFlag;

use super::store::{Entry, Store, store_path};
use super::time::isoformat;
use crate::project;

/// How long another program may hold the lock. Seconds. As long as the other programs wait.
const LOCK_SECONDS: u64 = 5;

/// How often the lock is tried meanwhile. Milliseconds.
const LOCK_RETRY_MS: u64 = 10;

/// Why the store was not changed. It is as it was.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// It cannot be understood, so it must not be replaced.
    #[error("the trust store {0}; it was left as it is: repair or remove it")]
    Unreadable(String),
    /// The folder is no path to be trusted by.
    #[error("{path} cannot be resolved to a canonical path in UTF-8; nothing was changed")]
    Unresolvable {
        /// The folder.
        path: PathBuf,
    },
    /// Somebody else held the lock all the time.
    #[error(
        "{path} was locked by another program for {LOCK_SECONDS} seconds; nothing was changed, try again"
    )]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("cannot {action} {path}: {source}; nothing was changed")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> WriteError {
    let path = path.to_owned();
    move |source| WriteError::Io { action, path, source }
}

/// Trusts `root` for good: with these bytes of its document, or, without a hash, whatever it holds. The canonical
/// root is returned.
///
/// # Errors
/// When the store was not changed.
pub fn grant(config_dir: &Path, root: &Path, fingerprint: Option<&str>) -> Result<String, WriteError> {
    let real = canonical(root)?;
    change(config_dir, |entries| {
        entries.retain(|entry| entry.root != real);
        entries.push(Entry::new(&real, isoformat(SystemTime::now()), fingerprint));
        true
    })?;
    Ok(real)
}

/// Trusts `root` no longer, in any of its spellings. Whether it was trusted.
///
/// # Errors
/// When the store was not changed.
pub fn revoke(config_dir: &Path, root: &Path) -> Result<bool, WriteError> {
    let real = canonical(root)?;
    change(config_dir, |entries| {
        let before = entries.len();
        entries.retain(|entry| entry.root != real && Path::new(&entry.root) != root);
        entries.len() < before
    })
}

fn canonical(root: &Path) -> Result<String, WriteError> {
    project::certain(root).ok_or_else(|| WriteError::Unresolvable { path: root.to_owned() })
}

/// Replaces the entries under the lock, if `edit` says that it has changed them; what `edit` said.
fn change(config_dir: &Path, edit: impl FnOnce(&mut Vec<Entry>) -> bool) -> Result<bool, WriteError> {
    let path = store_path(config_dir);
    let folder = path.parent().unwrap_or(config_dir);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(io("create", folder))?;
    let _lock = lock(&path.with_extension("json.lock"))?;
    let mut entries = match Store::read(config_dir) {
        Store::Absent => Vec::new(),
        Store::Entries(entries) => entries,
        Store::Unreadable(reason) | Store::Unknown(reason) => return Err(WriteError::Unreadable(reason)),
    };
    let changed = edit(&mut entries);
    if changed {
        fs::set_permissions(folder, Permissions::from_mode(0o700)).map_err(io("protect", folder))?;
        replace(folder, &path, &Store::text(&entries)).map_err(io("write", &path))?;
    }
    Ok(changed)
}

/// Puts a new file in the place of the old one at once; a reader sees one or the other, also after a crash.
fn replace(folder: &Path, path: &Path, text: &str) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(".hooks_trust-").suffix(".tmp").tempfile_in(folder)?;
    file.as_file().set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    #[cfg(feature = "failpoints")]
    fail::fail_point!("trust_rename", |_| Err(io::Error::other("failpoint")));
    file.persist(path)?;
    // The name is durable with its folder; where that cannot be asked for, the system does it in its own time.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// The lock, held until the file is dropped.
fn lock(path: &Path) -> Result<File, WriteError> {
    let deadline = Instant::now() + Duration::from_secs(LOCK_SECONDS);
    loop {
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
            .open(path);
        let file = opened.map_err(io("open", path))?;
        match file.try_lock() {
            // A lock on a file that somebody has removed meanwhile keeps nobody out.
            Ok(()) if is_still_there(&file, path) => return Ok(file),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(TryLockError::Error(error)) => return Err(io("lock", path)(error)),
        }
        if Instant::now() >= deadline {
            return Err(WriteError::Locked { path: path.to_owned() });
        }
        std::thread::sleep(Duration::from_millis(LOCK_RETRY_MS));
    }
}

fn is_still_there(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(held), Ok(named)) => (held.dev(), held.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}
