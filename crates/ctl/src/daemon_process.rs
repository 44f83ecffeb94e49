//! The daemon's process, and how it is stopped, whatever version it is (B73).

use std::fs::File;
use std::io::Read;

use hooksd_client::blocking::Client;
use hooksd_protocol::methods::{DaemonShutdown, Done, NoParams};
use serde_json::Value;

use crate::failure::Failure;

/// Programs that hold sockets for others: never to be stopped in a daemon's place.
const SOCKET_HOLDERS: [&str; 3] = ["systemd", "launchd", "init"];

/// A process that cannot be mistaken for a later one with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DaemonProcess {
    pub(crate) pid: u32,
    /// Clock ticks between the system's start and the process's.
    started: u64,
}

impl DaemonProcess {
    /// The daemon's: as it says itself, else the one that listens.
    pub(crate) fn of(client: &mut Client) -> Option<DaemonProcess> {
        let said = client
            .call_raw("daemon/status", &NoParams {})
            .ok()
            .and_then(|raw| serde_json::from_str::<Value>(&raw).ok()?.get("pid")?.as_u64())
            .and_then(|pid| u32::try_from(pid).ok());
        let (name, process) = DaemonProcess::look(said.or_else(|| client.peer())?)?;
        let holds_for_others = SOCKET_HOLDERS.contains(&name.as_str()) || process.pid <= 1;
        (!holds_for_others && process.pid != std::process::id()).then_some(process)
    }

    /// A process as it is now, with its name.
    fn look(pid: u32) -> Option<(String, DaemonProcess)> {
        let mut stat = String::new();
        File::open(format!("/proc/{pid}/stat")).ok()?.take(4096).read_to_string(&mut stat).ok()?;
        let (_, rest) = stat.split_once('(')?;
        let (name, fields) = rest.rsplit_once(')')?;
        // The state is the third field of proc(5), the start time the 22nd.
        let started = fields.split_ascii_whitespace().nth(19)?.parse().ok()?;
        Some((name.to_owned(), DaemonProcess { pid, started }))
    }

    /// Tells it to stop (TERM), if it is still that process.
    #[cfg(target_os = "linux")]
    fn stop(&self) -> Result<(), String> {
        use hooksd_system::{pidfd_open, pidfd_send_signal};
        use nix::errno::Errno;
        use nix::sys::signal::Signal;
        use nix::unistd::Pid;

        let pid = i32::try_from(self.pid).ok().filter(|pid| *pid > 0).ok_or("it is gone")?;
        let error = |errno: Errno| {
            format!("process {} cannot be told to stop: {}", self.pid, std::io::Error::from(errno))
        };
        // Whatever becomes of the number, this stays the process that is looked at next.
        let fd = pidfd_open(Pid::from_raw(pid)).map_err(error)?;
        match DaemonProcess::look(self.pid) {
            Some((_, now)) if now == *self => pidfd_send_signal(fd, Signal::SIGTERM).map_err(error),
            _ => Err("it is gone".to_owned()),
        }
    }

    /// Nothing else holds on to a process while it is looked at.
    #[cfg(not(target_os = "linux"))]
    fn stop(&self) -> Result<(), String> {
        Err(format!("this system has no safe way; `kill {}` if that is hooksd", self.pid))
    }
}

/// Stops a daemon of any version: by its own method, and by a signal when it does not understand that. Says how.
pub(crate) fn stop(client: &mut Client, drain: Option<u64>) -> Result<String, Failure> {
    // Before it is told: afterwards its number may be somebody else's.
    let process = DaemonProcess::of(client);
    let params = DaemonShutdown { drain_ms: drain.map(|seconds| seconds.saturating_mul(1000)) };
    let error = match client.call::<_, Done>("daemon/shutdown", &params) {
        Ok(Done {}) => return Ok("the daemon is stopping".to_owned()),
        Err(error) => error,
    };
    let Some(process) = process else { return Err(error.into()) };
    match process.stop() {
        Ok(()) => Ok(format!(
            "the daemon did not understand (`{error}`), so process {} was told to stop by a signal",
            process.pid
        )),
        Err(reason) => Err(Failure::Foreign(format!("{error}; by a signal: {reason}"))),
    }
}
