//! The system's processes, as `/proc` shows them. Where there is no `/proc`, nothing is seen and nothing is asserted.

use std::fs;
use std::io::Read;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Descriptors that SQLite keeps, and uses again, of those who have read the journal or written its log back: closing them
/// would give up the locks of the writer beside them.
pub const KEPT_BY_JOURNAL: usize = 2;

/// The variable that marks the handlers of one world, whatever they have become.
pub const MARK: &str = "WORLD_MARK";

fn ids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// A file of `/proc`; empty when its process has gone.
#[must_use]
pub fn read(path: &str) -> String {
    let mut bytes = Vec::new();
    if let Ok(mut file) = fs::File::open(path) {
        // A process that ends meanwhile has nothing more to show.
        let _ = file.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Living processes with this mark, except `but`: their ids and command lines.
#[must_use]
pub fn marked(mark: &str, but: Option<u32>) -> Vec<(u32, String)> {
    let pair = format!("{MARK}={mark}");
    let own = std::process::id();
    ids()
        .filter(|pid| *pid != own && Some(*pid) != but)
        .filter(|pid| read(&format!("/proc/{pid}/environ")).split('\0').any(|variable| variable == pair))
        .map(|pid| (pid, read(&format!("/proc/{pid}/cmdline")).replace('\0', " ").trim_end().to_owned()))
        .collect()
}

/// Living processes whose command lines have this text: their ids.
#[must_use]
pub fn naming(text: &str) -> Vec<u32> {
    ids().filter(|pid| read(&format!("/proc/{pid}/cmdline")).contains(text)).collect()
}

/// Children of a process, zombies included: their ids and states.
#[must_use]
pub fn children(parent: u32) -> Vec<(u32, String)> {
    let parent = parent.to_string();
    ids()
        .filter_map(|pid| {
            let stat = read(&format!("/proc/{pid}/stat"));
            let (_, fields) = stat.rsplit_once(')')?;
            let mut fields = fields.split_ascii_whitespace();
            let state = fields.next()?.to_owned();
            (fields.next()? == parent).then_some((pid, state))
        })
        .collect()
}

/// Open descriptors of a process.
#[must_use]
pub fn descriptors(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}

/// Memory of a process that is in RAM. Bytes.
#[must_use]
pub fn resident(pid: u32) -> usize {
    memory(pid, "VmRSS:")
}

/// The most memory a process has had in RAM. Bytes.
#[must_use]
pub fn peak(pid: u32) -> usize {
    memory(pid, "VmHWM:")
}

fn memory(pid: u32, field: &str) -> usize {
    let status = read(&format!("/proc/{pid}/status"));
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kilobytes: usize = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0);
    kilobytes * 1024
}

/// Sends a signal; a process that has gone is no error.
pub fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().filter(|pid| *pid > 0) {
        let _ = kill(Pid::from_raw(pid), signal);
    }
}
