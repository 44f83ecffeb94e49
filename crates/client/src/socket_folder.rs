//! The folder of the socket and the locks in it. The daemon and whoever starts one follow the same rules.
//!
//! Guarantees: nothing is made or locked in a folder that others own or can write. A lock file that is a link is
//! refused. Every wait for a lock ends at its deadline.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Instant;

use nix::fcntl::OFlag;

/// Why the folder of the socket, or a lock in it, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SocketFolderError {
    /// The folder cannot be made, or others could write in it.
    #[error("the socket's folder {} {reason}", .folder.display())]
    Folder {
        /// The path of the folder.
        folder: PathBuf,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// Another process holds the lock of this path, and the time to wait for it is over.
    #[error("{} is held by another process", .0.display())]
    Held(PathBuf),
    /// The system refused to open or lock the file.
    #[error("cannot lock {}: {source}", .path.display())]
    System {
        /// The path of the lock file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// One of the two locks of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// `<socket>.lock`, which a daemon holds as long as it lives.
    Life,
    /// `<socket>.start`, which is held while a daemon is being started, so that only one program starts one at a time.
    Start,
}

impl Lock {
    /// The path of the lock file.
    #[must_use]
    pub fn path(self, socket: &Path) -> PathBuf {
        let mut name = socket.as_os_str().to_owned();
        name.push(match self {
            Lock::Life => ".lock",
            Lock::Start => ".start",
        });
        PathBuf::from(name)
    }

    /// Takes the lock, and waits for it until the deadline. Without a deadline it does not wait. The lock is given
    /// back when the file and all its copies are closed.
    ///
    /// # Errors
    /// When another process holds the lock at the deadline, or when the file cannot be opened.
    pub fn take(self, socket: &Path, deadline: Option<Instant>) -> Result<File, SocketFolderError> {
        let path = self.path(socket);
        let system = |source| SocketFolderError::System { path: path.clone(), source };
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .custom_flags(OFlag::O_NOFOLLOW.bits())
            .open(&path)
            .map_err(system)?;
        match (file.try_lock(), deadline) {
            (Ok(()), _) => Ok(file),
            (Err(TryLockError::WouldBlock), None) => Err(SocketFolderError::Held(path)),
            (Err(TryLockError::WouldBlock), Some(deadline)) => wait(file, deadline, path),
            (Err(TryLockError::Error(error)), _) => Err(system(error)),
        }
    }
}

/// Waits for a lock until the deadline. The kernel cannot do that, so that a thread waits. When nobody waits for the
/// thread any more, it gives the lock back as soon as it has it.
fn wait(file: File, deadline: Instant, path: PathBuf) -> Result<File, SocketFolderError> {
    let (sender, taken) = mpsc::sync_channel(1);
    let builder = std::thread::Builder::new().name("hooksd-lock".to_owned());
    let started = builder.spawn(move || {
        let locked = file.lock().map(|()| file);
        // When nobody waits any more, the file is closed with the message.
        let _ = sender.send(locked);
    });
    if let Err(source) = started {
        return Err(SocketFolderError::System { path, source });
    }
    match taken.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(Ok(file)) => Ok(file),
        Ok(Err(source)) => Err(SocketFolderError::System { path, source }),
        Err(_) => Err(SocketFolderError::Held(path)),
    }
}

/// Makes the folder of the socket if it is not there, and checks that it belongs to this user and that nobody else
/// can write in it (B72).
///
/// # Errors
/// When the folder cannot be made or is not safe, with what to do about it.
pub fn prepare_folder(socket: &Path) -> Result<(), SocketFolderError> {
    let folder = socket.parent().unwrap_or(Path::new("/"));
    let fail = |reason: String| SocketFolderError::Folder { folder: folder.to_owned(), reason };
    if let Err(error) = DirBuilder::new().recursive(true).mode(0o700).create(folder) {
        return Err(fail(format!("cannot be made: {error}")));
    }
    let metadata = fs::metadata(folder).map_err(|error| fail(format!("cannot be looked at: {error}")))?;
    if metadata.uid() != nix::unistd::geteuid().as_raw() {
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
