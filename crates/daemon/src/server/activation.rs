//! A socket that the service manager made and passed on: systemd by LISTEN_FDS, launchd when it is asked. It belongs to
//! the service manager: the daemon neither made the file nor removes it.

use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use listenfd::ListenFd;

/// The socket's name in the agent's plist (launchd.plist(5), Sockets).
#[cfg(target_os = "macos")]
const LAUNCHD_SOCKET: &str = "Listener";

/// Takes the socket that was passed to this process, and its path. To be called once, before there are threads: the
/// variables that speak of it are removed.
///
/// # Errors
/// When what was passed is not exactly one listening Unix socket with a path.
pub fn take() -> Result<Option<(PathBuf, UnixListener)>> {
    let passed = match by_systemd()? {
        None => by_launchd()?,
        passed => passed,
    };
    let Some(listener) = passed else { return Ok(None) };
    let address = listener.local_addr().context("the socket that was passed has no address")?;
    let path = address.as_pathname().context("the socket that was passed has no path in the file system")?;
    let path = path.to_owned();
    listener.set_nonblocking(true).context("cannot use the socket that was passed")?;
    Ok(Some((path, listener)))
}

fn by_systemd() -> Result<Option<UnixListener>> {
    // Without it the variables were meant for another process, and the descriptors are somebody's.
    let own = std::process::id().to_string();
    if std::env::var_os("LISTEN_PID").is_none_or(|pid| pid != own.as_str()) {
        return Ok(None);
    }
    let mut passed = ListenFd::from_env();
    match passed.len() {
        0 => return Ok(None),
        1 => {}
        count => bail!("the service manager has passed {count} sockets; hooksd serves one (ListenStream=)"),
    }
    passed.take_unix_listener(0).context("what the service manager has passed is no Unix socket")
}

#[cfg(target_os = "macos")]
fn by_launchd() -> Result<Option<UnixListener>> {
    let mut passed =
        hooksd_system::launchd_sockets(LAUNCHD_SOCKET).context("launchd does not pass its socket")?;
    if passed.len() > 1 {
        bail!("launchd has passed {} sockets; hooksd serves one (SockPathName)", passed.len());
    }
    Ok(passed.pop().map(UnixListener::from))
}

#[cfg(not(target_os = "macos"))]
fn by_launchd() -> Result<Option<UnixListener>> {
    Ok(None)
}
