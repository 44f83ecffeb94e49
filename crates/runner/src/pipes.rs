//! The three pipes of a handler. Both ends of each are closed on exec, so that handlers spawned side by side
//! never hold each other's pipes open; only the daemon's ends are non-blocking, so that a handler finds
//! ordinary blocking descriptors.

use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, fcntl_dupfd_cloexec};

/// The lowest descriptor that the redirections of a child do not write to.
const FIRST_FREE: i32 = 3;

/// The ends of one pipe.
#[derive(Debug)]
pub(crate) struct Ends {
    /// The daemon's end, non-blocking.
    pub(crate) ours: OwnedFd,
    /// The handler's end, closed here after the spawn.
    pub(crate) theirs: OwnedFd,
}

/// A pipe that the daemon writes to.
pub(crate) fn to_child() -> Result<Ends, Errno> {
    let (read, write) = pipe()?;
    finish(write, read)
}

/// A pipe that the daemon reads from.
pub(crate) fn from_child() -> Result<Ends, Errno> {
    let (read, write) = pipe()?;
    finish(read, write)
}

fn finish(ours: OwnedFd, theirs: OwnedFd) -> Result<Ends, Errno> {
    let flags = fcntl_getfl(&ours)?;
    fcntl_setfl(&ours, flags | OFlags::NONBLOCK)?;
    Ok(Ends { ours, theirs: above_standard(theirs)? })
}

/// A daemon without descriptors 0 to 2 gets them for its pipes; the redirection of one would overwrite the next.
fn above_standard(fd: OwnedFd) -> Result<OwnedFd, Errno> {
    if fd.as_raw_fd() < FIRST_FREE { fcntl_dupfd_cloexec(&fd, FIRST_FREE) } else { Ok(fd) }
}

#[cfg(not(target_vendor = "apple"))]
fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
}

/// Without `pipe2` there is a moment before the flag is set; POSIX_SPAWN_CLOEXEC_DEFAULT covers it.
#[cfg(target_vendor = "apple")]
fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    let (read, write) = rustix::pipe::pipe()?;
    rustix::io::fcntl_setfd(&read, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::fcntl_setfd(&write, rustix::io::FdFlags::CLOEXEC)?;
    Ok((read, write))
}
