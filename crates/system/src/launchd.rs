//! Sockets that launchd has made and hands over. Written by reading (launch_activate_socket(3)); it was not run.
#![allow(unsafe_code)]

use std::os::fd::{FromRawFd, OwnedFd};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};

/// Takes the sockets that the agent's plist lists under this name. None when launchd has not started this process, or
/// the plist lists none.
///
/// # Errors
/// When they were taken already, or launchd fails.
pub fn launchd_sockets(name: &str) -> std::io::Result<Vec<OwnedFd>> {
    let numbers = match raunch::activate_socket(name) {
        Ok(numbers) => numbers,
        Err(raunch::Error::NotManaged | raunch::Error::NotInPlist) => return Ok(Vec::new()),
        Err(error) => return Err(std::io::Error::other(error)),
    };
    let mut sockets = Vec::new();
    for number in numbers {
        // SAFETY: launchd gives each socket to a process once (a second call fails with EALREADY), and from then on it
        // is the caller's: nobody else here knows its number.
        let socket = unsafe { OwnedFd::from_raw_fd(number) };
        fcntl(&socket, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
        sockets.push(socket);
    }
    Ok(sockets)
}
