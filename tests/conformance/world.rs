//! What all cases share: the runner, and a mark in every handler's environment by which the processes that outlive
//! their handler are found again.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooksd_runner::Runner;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The variable that marks a handler.
const MARK: &str = "HOOKSD_CONFORMANCE";

/// What all cases share.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) runner: Runner,
    cases: AtomicUsize,
}

/// One case's mark.
#[derive(Debug, Clone)]
pub(crate) struct Mark(String);

impl World {
    pub(crate) fn new() -> World {
        World { runner: Runner::new(), cases: AtomicUsize::new(0) }
    }

    /// A mark that no other case has.
    pub(crate) fn mark(&self) -> Mark {
        let case = self.cases.fetch_add(1, Ordering::Relaxed);
        Mark(format!("{}-{case}", std::process::id()))
    }

    /// Kills what is left of any case; how many there were.
    pub(crate) fn clean_up(&self) -> usize {
        let left = processes(&format!("{MARK}={}-", std::process::id()), true);
        for pid in &left {
            // One that has just ended is no fault.
            let _ = kill(*pid, Signal::SIGKILL);
        }
        left.len()
    }
}

impl Mark {
    /// The environment of the case's handlers: as a session would have it, with the mark.
    pub(crate) fn environment(&self, home: &str) -> Vec<(OsString, OsString)> {
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        vec![("PATH".into(), path), ("HOME".into(), home.into()), (MARK.into(), self.0.clone().into())]
    }

    /// How many of the case's processes live. `None` where that cannot be seen.
    pub(crate) fn alive(&self) -> Option<usize> {
        let mark = format!("{MARK}={}", self.0);
        cfg!(target_os = "linux").then(|| processes(&mark, false).len())
    }
}

/// Other processes with this variable; its beginning suffices if `prefix`.
fn processes(pair: &str, prefix: bool) -> Vec<Pid> {
    let own = std::process::id().to_string();
    let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
    names
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()) && *name != own)
        .filter(|name| {
            let mut environment = Vec::new();
            let read = File::open(format!("/proc/{name}/environ"))
                .and_then(|mut file| file.read_to_end(&mut environment));
            let found =
                |found: &[u8]| found == pair.as_bytes() || (prefix && found.starts_with(pair.as_bytes()));
            read.is_ok() && environment.split(|byte| *byte == 0).any(found)
        })
        .filter_map(|name| name.parse().ok().map(Pid::from_raw))
        .collect()
}
