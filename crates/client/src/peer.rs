//! Who serves the socket. In a folder that others can write, somebody else may have made the socket first. What an
//! agent asks and shows must not go there, and what is answered there is no verdict.

use std::io;
use std::os::fd::AsFd;

/// Returns the connection if it leads to a daemon of this user, or of the superuser, who can read everything anyway.
///
/// # Errors
/// `PermissionDenied` when it leads to a process of another user.
#[cfg(target_os = "linux")]
pub(crate) fn own<S: AsFd>(stream: S) -> io::Result<S> {
    use nix::sys::socket::getsockopt;
    use nix::sys::socket::sockopt::PeerCredentials;
    use nix::unistd::{Uid, geteuid};

    let peer = Uid::from_raw(getsockopt(&stream, PeerCredentials)?.uid());
    if peer == geteuid() || peer.is_root() {
        return Ok(stream);
    }
    let reason = format!(
        "it is served by user {}, not by you: choose another socket with HOOKSD_SOCKET",
        peer.as_raw()
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, reason))
}

/// Returns the connection. Other systems do not tell for every kind of stream whose it is; there the mode of the
/// socket's folder alone keeps others out.
#[cfg(not(target_os = "linux"))]
pub(crate) fn own<S: AsFd>(stream: S) -> io::Result<S> {
    Ok(stream)
}
