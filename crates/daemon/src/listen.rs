//! The socket file: exactly one daemon, only its user, a stale file replaced and a live one never stolen
//! (PROTOCOL "Where"; B69 to B72).

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hooksd_protocol::socket::{SocketPathError, check_length};
use rustix::fs::{Mode, OFlags};
use rustix::process::umask;

/// Why the daemon does not listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The path does not fit a socket address.
    #[error(transparent)]
    Path(#[from] SocketPathError),
    /// Another daemon serves this path.
    #[error("a daemon is already running on {}", .0.display())]
    AlreadyRunning(PathBuf),
    /// The folder is not safe.
    #[error("the socket's folder {} {reason}", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What is wrong and what to do.
        reason: String,
    },
    /// Something else stands at the path.
    #[error("{} {reason}; it was left untouched", .path.display())]
    Occupied {
        /// The path.
        path: PathBuf,
        /// What stands there.
        reason: String,
    },
    /// The system refused.
    #[error("cannot {action} {}: {source}", .path.display())]
    System {
        /// What was tried.
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// A socket this process serves. Dropping it removes the file, if it is still the one that was made.
#[derive(Debug)]
pub struct Socket {
    path: PathBuf,
    /// Device and inode of the file that was made.
    made: (u64, u64),
    /// Held for life: one daemon per path.
    _lock: File,
}

/// The mode mask belongs to the process: one bind at a time may change it.
static UMASK: Mutex<()> = Mutex::new(());

/// Takes the path and listens on it.
///
/// # Errors
/// When another daemon serves it, when its folder is not safe, when something else stands there, or the system refuses.
pub fn listen(path: &Path) -> Result<(Socket, UnixListener), ListenError> {
    check_length(path)?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    prepare_folder(folder)?;
    let lock = take_lock(path)?;
    remove_stale(path)?;
    let system = |action| move |source| ListenError::System { action, path: path.to_owned(), source };
    let listener = {
        let _one_at_a_time = UMASK.lock().unwrap_or_else(PoisonError::into_inner);
        let before = umask(Mode::from(0o177));
        let bound = UnixListener::bind(path);
        umask(before);
        bound.map_err(system("listen on"))?
    };
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(system("restrict"))?;
    let metadata = fs::symlink_metadata(path).map_err(system("look at"))?;
    let made = (metadata.dev(), metadata.ino());
    listener.set_nonblocking(true).map_err(system("listen on"))?;
    Ok((Socket { path: path.to_owned(), made, _lock: lock }, listener))
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Somebody may have moved our file aside and put another one there: that one is not ours (B69).
        let still_ours =
            fs::symlink_metadata(&self.path).is_ok_and(|file| (file.dev(), file.ino()) == self.made);
        if still_ours && let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "cannot remove the socket");
        }
    }
}

fn prepare_folder(folder: &Path) -> Result<(), ListenError> {
    let fail = |reason: String| ListenError::Folder { folder: folder.to_owned(), reason };
    if let Err(error) = DirBuilder::new().recursive(true).mode(0o700).create(folder) {
        return Err(fail(format!("cannot be made: {error}")));
    }
    let metadata = fs::metadata(folder).map_err(|error| fail(format!("cannot be looked at: {error}")))?;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(fail(format!(
            "belongs to user {}, not to you: choose another with HOOKSD_SOCKET",
            metadata.uid()
        )));
    }
    if metadata.mode() & 0o022 != 0 {
        let mode = metadata.mode() & 0o7777;
        return Err(fail(format!(
            "can be written by others (mode {mode:o}): chmod 700 it, or choose another with HOOKSD_SOCKET"
        )));
    }
    Ok(())
}

fn take_lock(path: &Path) -> Result<File, ListenError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let lock_path = PathBuf::from(name);
    let system = |source| ListenError::System { action: "lock", path: lock_path.clone(), source };
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits() as i32)
        .open(&lock_path)
        .map_err(system)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ListenError::AlreadyRunning(path.to_owned())),
        Err(TryLockError::Error(error)) => Err(system(error)),
    }
}

/// Removes the socket file of a dead daemon. The lock is held, so no daemon of ours is starting; a refused connection
/// is the only proof that nobody serves the file (B70).
fn remove_stale(path: &Path) -> Result<(), ListenError> {
    let occupied = |reason: String| ListenError::Occupied { path: path.to_owned(), reason };
    let before = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(ListenError::System { action: "look at", path: path.to_owned(), source }),
        Ok(metadata) => metadata,
    };
    if !before.file_type().is_socket() {
        return Err(occupied("is not a socket".to_owned()));
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(ListenError::AlreadyRunning(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            let same = fs::symlink_metadata(path)
                .is_ok_and(|now| (now.dev(), now.ino()) == (before.dev(), before.ino()));
            if !same {
                return Err(occupied("was replaced by somebody else just now".to_owned()));
            }
            fs::remove_file(path).map_err(|source| ListenError::System {
                action: "remove the stale socket",
                path: path.to_owned(),
                source,
            })
        }
        Err(error) => Err(occupied(format!("does not answer, but is not known to be dead: {error}"))),
    }
}
