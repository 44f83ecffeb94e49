//! The daemon that answers: which version it is, which process, and how to stop it, whatever version that is (B73).

use std::fs::File;
use std::io::Read;

use hooksd_client::ClientError;
use hooksd_client::blocking::Client;
use hooksd_protocol::methods::{ClientInfo, DaemonShutdown, Done, Initialize, NoParams, PROTOCOL_VERSION};
use serde_json::Value;

use crate::failure::Failure;

/// This program's version.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What this program's daemon calls its build.
const BUILD: &str = env!("HOOKSD_BUILD_ID");

/// Programs that hold sockets for others: never to be stopped in a daemon's place.
const SOCKET_HOLDERS: [&str; 3] = ["systemd", "launchd", "init"];

/// What a daemon says of itself. Any of it may be missing, from a version that does not say it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Met {
    pub(crate) version: Option<String>,
    build: Option<String>,
    protocol: Option<u64>,
}

impl Met {
    /// Asks the daemon who it is. One that does not know the question is of an unknown version, and no error.
    pub(crate) fn greet(client: &mut Client) -> Result<Met, ClientError> {
        let own =
            ClientInfo { name: "hooksctl".to_owned(), version: Some(VERSION.to_owned()), observer: false };
        let greeting = Initialize { client: Some(own), protocol_version: None };
        match client.call_raw("initialize", &greeting) {
            Ok(raw) => Ok(Met::read(&serde_json::from_str(&raw).unwrap_or_default())),
            Err(ClientError::Refused(_) | ClientError::BadAnswer(_)) => Ok(Met::default()),
            Err(error) => Err(error),
        }
    }

    /// From the answer to `initialize` or `daemon/status`.
    pub(crate) fn read(answer: &Value) -> Met {
        let text = |key: &str| answer.get(key).and_then(Value::as_str).map(str::to_owned);
        Met {
            version: text("version"),
            build: text("build"),
            protocol: answer.get("protocol_version").and_then(Value::as_u64),
        }
    }

    /// Whether it speaks this program's protocol.
    pub(crate) fn speaks_ours(&self) -> bool {
        self.protocol == Some(u64::from(PROTOCOL_VERSION))
    }

    /// `hooksd 0.1.0 (protocol 1)`
    pub(crate) fn name(&self) -> String {
        let version = self.version.as_deref().unwrap_or("of an unknown version");
        let protocol = match self.protocol {
            Some(protocol) => format!("protocol {protocol}"),
            None => "an unknown protocol".to_owned(),
        };
        format!("hooksd {version} ({protocol})")
    }

    /// How it differs from the daemon that this program came with, and what to do; `None` when it is that one.
    pub(crate) fn difference(&self) -> Option<String> {
        let same_version = self.version.as_deref() == Some(VERSION);
        if same_version && self.speaks_ours() && self.build.as_deref() == Some(BUILD) {
            return None;
        }
        let build = match (same_version, &self.build) {
            (true, Some(build)) => format!(", build {build} instead of {BUILD}"),
            _ => String::new(),
        };
        Some(format!(
            "{} is running, this is hooksctl {VERSION} (protocol {PROTOCOL_VERSION}){build}: `hooksctl restart` \
             replaces it by the one beside hooksctl",
            self.name()
        ))
    }
}

/// A process that cannot be mistaken for a later one with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    /// Clock ticks between the system's start and the process's.
    started: u64,
}

impl Process {
    /// The daemon's: as it says itself, else the one that listens.
    pub(crate) fn of(client: &mut Client) -> Option<Process> {
        let said = client
            .call_raw("daemon/status", &NoParams {})
            .ok()
            .and_then(|raw| serde_json::from_str::<Value>(&raw).ok()?.get("pid")?.as_u64())
            .and_then(|pid| u32::try_from(pid).ok());
        let (name, process) = Process::look(said.or_else(|| client.peer())?)?;
        let holds_for_others = SOCKET_HOLDERS.contains(&name.as_str()) || process.pid <= 1;
        (!holds_for_others && process.pid != std::process::id()).then_some(process)
    }

    /// A process as it is now, with its name.
    fn look(pid: u32) -> Option<(String, Process)> {
        let mut stat = String::new();
        File::open(format!("/proc/{pid}/stat")).ok()?.take(4096).read_to_string(&mut stat).ok()?;
        let (_, rest) = stat.split_once('(')?;
        let (name, fields) = rest.rsplit_once(')')?;
        // The state is the third field of proc(5), the start time the 22nd.
        let started = fields.split_ascii_whitespace().nth(19)?.parse().ok()?;
        Some((name.to_owned(), Process { pid, started }))
    }

    /// Tells it to stop (TERM), if it is still that process.
    #[cfg(target_os = "linux")]
    fn stop(&self) -> Result<(), String> {
        use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw).ok_or("it is gone")?;
        let error =
            |error: rustix::io::Errno| format!("process {} cannot be told to stop: {error}", self.pid);
        // Whatever becomes of the number, this stays the process that is looked at next.
        let fd = pidfd_open(pid, PidfdFlags::empty()).map_err(error)?;
        match Process::look(self.pid) {
            Some((_, now)) if now == *self => pidfd_send_signal(fd, Signal::TERM).map_err(error),
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
    let process = Process::of(client);
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
