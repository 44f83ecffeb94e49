//! Who serves the socket. In a folder that others can write somebody else may have taken the place first: what an agent
//! asks and shows must not go there, and what is answered there is no verdict.

use std::io;
use std::os::fd::AsFd;

/// Passes on a connection to a daemon of this user, or of the superuser, who may do as he likes anyway.
///
/// # Errors
/// `PermissionDenied` for anybody else's.
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

/// Other systems do not tell every kind of stream; there the folder's mode alone keeps others out.
#[cfg(not(target_os = "linux"))]
pub(crate) fn own<S: AsFd>(stream: S) -> io::Result<S> {
    Ok(stream)
}
