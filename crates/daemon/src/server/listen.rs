//! The socket file: exactly one daemon, only its user, a stale file replaced and a live one never stolen
//! (PROTOCOL "Where"; B69 to B72).

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::base::lock;
use hooksd_client::socket_folder::{Lock, SocketFolderError, prepare_folder};
use hooksd_protocol::socket::{SocketPathError, check_length};
use nix::sys::stat::{Mode, umask};

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

/// How long a daemon waits for its turn to start. Seconds. Another start takes milliseconds, unless the daemon before it
/// still drains (10 s) and cleans up behind what it has killed.
pub const TURN_SECONDS: u64 = 20;

/// Takes the path and listens on it.
///
/// # Errors
/// When another daemon serves it, when its folder is not safe, when something else stands there, or the system refuses.
pub fn listen(path: &Path) -> Result<(Socket, UnixListener), ListenError> {
    check_length(path)?;
    prepare_folder(path)?;
    let deadline = Instant::now() + Duration::from_secs(TURN_SECONDS);
    let turn = Lock::Start.take(path, Some(deadline)).map_err(|error| held(error, path))?;
    let lock = Lock::Life.take(path, None).map_err(|error| held(error, path))?;
    let listening = bind(path, lock);
    drop(turn);
    listening
}

/// The same for a daemon that is started on demand. Its starter holds the start lock, so nobody else is starting:
/// whoever holds the lock for life and does not answer is about to end, and waited for.
///
/// # Errors
/// As [`listen`].
pub fn listen_in_turn(path: &Path) -> Result<(Socket, UnixListener), ListenError> {
    check_length(path)?;
    prepare_folder(path)?;
    let lock = match Lock::Life.take(path, None) {
        Err(SocketFolderError::Held(_)) if UnixStream::connect(path).is_err() => {
            let deadline = Instant::now() + Duration::from_secs(TURN_SECONDS);
            Lock::Life.take(path, Some(deadline))
        }
        taken => taken,
    };
    bind(path, lock.map_err(|error| held(error, path))?)
}

/// Binds, under the lock.
fn bind(path: &Path, lock: File) -> Result<(Socket, UnixListener), ListenError> {
    remove_stale(path)?;
    let system = |action| move |source| ListenError::System { action, path: path.to_owned(), source };
    let listener = {
        let _one_at_a_time = lock::lock(&UMASK);
        let before = umask(Mode::from_bits_truncate(0o177));
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

/// A lock that somebody else holds is the lock of a running daemon.
fn held(error: SocketFolderError, socket: &Path) -> ListenError {
    match error {
        SocketFolderError::Held(_) => ListenError::AlreadyRunning(socket.to_owned()),
        other => ListenError::from(other),
    }
}

impl From<SocketFolderError> for ListenError {
    fn from(error: SocketFolderError) -> ListenError {
        match error {
            SocketFolderError::Folder { folder, reason } => ListenError::Folder { folder, reason },
            SocketFolderError::Held(path) => ListenError::AlreadyRunning(path),
            SocketFolderError::System { path, source } => {
                ListenError::System { action: "lock", path, source }
            }
        }
    }
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
