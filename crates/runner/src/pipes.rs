//! The three pipes of a handler. Both ends of each are closed on exec, so that handlers spawned side by side
//! never hold each other's pipes open; only the daemon's ends are non-blocking, so that a handler finds
//! ordinary blocking descriptors.

use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};

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
    let flags = OFlag::from_bits_retain(fcntl(&ours, FcntlArg::F_GETFL)?);
    fcntl(&ours, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(Ends { ours, theirs: above_standard(theirs)? })
}

/// A daemon without descriptors 0 to 2 gets them for its pipes; the redirection of one would overwrite the next. The
/// standard library keeps its copies above those three, and has them closed on exec.
fn above_standard(fd: OwnedFd) -> Result<OwnedFd, Errno> {
    if fd.as_raw_fd() >= FIRST_FREE {
        return Ok(fd);
    }
    let copy = fd.try_clone().map_err(|error| error.raw_os_error().map_or(Errno::EIO, Errno::from_raw))?;
    if copy.as_raw_fd() >= FIRST_FREE { Ok(copy) } else { Err(Errno::EBADF) }
}

#[cfg(not(target_vendor = "apple"))]
fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    nix::unistd::pipe2(OFlag::O_CLOEXEC)
}

/// Without `pipe2` there is a moment before the flag is set; POSIX_SPAWN_CLOEXEC_DEFAULT covers it.
#[cfg(target_vendor = "apple")]
fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    use nix::fcntl::FdFlag;
    let (read, write) = nix::unistd::pipe()?;
    fcntl(&read, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    fcntl(&write, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    Ok((read, write))
}
