//! The machine, in one line.

use std::fs::File;
use std::io::Read;

fn file(path: &str) -> String {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(64 * 1024).read_to_string(&mut text));
    if read.is_ok() { text } else { String::new() }
}

/// Processor, cores, kernel, and how busy it is now.
pub(crate) fn line() -> String {
    let cpu = file("/proc/cpuinfo");
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown processor", |(_, model)| model);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let kernel = file("/proc/sys/kernel/osrelease");
    let load = file("/proc/loadavg");
    let load = load.split(' ').next().unwrap_or("unknown");
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    format!("{model}, {cores} cores, Linux {}, {profile} build, load at the start {load}", kernel.trim())
}

/// Memory of a process that is in RAM. Bytes.
pub(crate) fn resident(pid: u32) -> usize {
    let status = file(&format!("/proc/{pid}/status"));
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes: usize = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0);
    kilobytes * 1024
}
