//! A service manager that owns the socket. Where there is one, it alone starts the daemon, and this module asks it to.
//!
//! Asking means to run two programs. It happens only when nobody answers, a user manager runs, and a unit is installed.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::program::{ask, command};

/// The name of the socket unit that `hooksctl service install` writes.
pub const SOCKET_UNIT: &str = "hooksd.socket";

/// How long the service manager may take to answer. Seconds. It answers in milliseconds unless it is stuck.
const ANSWER_SECONDS: u64 = 10;

/// Whether the user's systemd owns this socket: whether its unit names the socket, and is active or enabled.
pub(crate) fn owns(socket: &Path, deadline: Instant) -> bool {
    manager_runs() && unit_is_installed() && listens(socket, deadline)
}

/// Has the service manager listen on the socket.
///
/// # Errors
/// What systemctl said.
pub(crate) fn start(deadline: Instant) -> Result<(), String> {
    match systemctl(&["start", SOCKET_UNIT], deadline) {
        Ok((true, _)) => Ok(()),
        Ok((false, words)) => {
            let more = "see `systemctl --user status hooksd.socket hooksd.service`";
            Err(format!("systemd owns the socket and does not listen: {words} ({more})"))
        }
        Err(error) => Err(format!("systemd owns the socket and cannot be asked: {error}")),
    }
}

fn listens(socket: &Path, deadline: Instant) -> bool {
    let asked = ["show", "--property=ActiveState,UnitFileState,Listen", SOCKET_UNIT];
    let Ok((true, words)) = systemctl(&asked, deadline) else { return false };
    let here = words
        .lines()
        .filter_map(|line| line.strip_prefix("Listen=")?.strip_suffix(" (Stream)"))
        .any(|listen| Path::new(listen) == socket);
    let wanted = |line: &str| line == "ActiveState=active" || line.starts_with("UnitFileState=enabled");
    here && words.lines().any(wanted)
}

/// Runs `systemctl --user` with these arguments, and returns whether it succeeded and what it said.
///
/// # Errors
/// When there is no systemctl, or it does not answer in time.
pub fn systemctl(arguments: &[&str], deadline: Instant) -> std::io::Result<(bool, String)> {
    let mut systemctl = command("systemctl");
    systemctl.arg("--user").args(arguments).stdin(Stdio::null());
    let (status, words) = ask(systemctl, deadline.min(Instant::now() + Duration::from_secs(ANSWER_SECONDS)))?;
    let words = if words.is_empty() { format!("systemctl ended with {status}") } else { words };
    Ok((status.success(), words))
}

/// Whether the user's service manager runs. It does when its private socket is there, which systemctl asks without a
/// bus.
#[must_use]
pub fn manager_runs() -> bool {
    folder("XDG_RUNTIME_DIR").is_some_and(|runtime| runtime.join("systemd/private").exists())
}

fn unit_is_installed() -> bool {
    let config = folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config")));
    let data = folder("XDG_DATA_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/share")));
    let fixed = ["/etc", "/run", "/usr/local/lib", "/usr/lib"].map(PathBuf::from);
    let mut folders = [config, data, folder("XDG_RUNTIME_DIR")].into_iter().flatten().chain(fixed);
    folders.any(|folder| folder.join("systemd/user").join(SOCKET_UNIT).exists())
}

/// The folder that this variable names. `None` when it is not an absolute path.
#[must_use]
pub fn folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
