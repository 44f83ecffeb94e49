//! `daemon/stats`: counters and latencies since the start.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hooksd_protocol::methods::{DaemonStats, NoParams};
use hooksd_protocol::rpc::{Frame, RpcError};

use crate::base::caller::Call;
use crate::base::work::{Work, blocking, later};
use crate::rpc::params::params;
use crate::state::Daemon;

pub(crate) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>, call: &Call<'_>) -> Result<Work, RpcError> {
    let _: NoParams = params(frame)?;
    let daemon = daemon.clone();
    // Looks into /proc, and sums up what may be a thousand histograms.
    later(call, blocking(move || Ok(stats(&daemon))))
}

fn stats(daemon: &Daemon) -> DaemonStats {
    let (subscribers, items_lost, subscribers_dropped) = daemon.feed.counts();
    DaemonStats {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        uptime_seconds: daemon.started.elapsed().as_secs(),
        events: daemon.stats.events(),
        handlers: daemon.stats.handlers(),
        connections: daemon.connections.load(Ordering::Acquire),
        connections_refused: daemon.gate.refused(),
        sessions: daemon.sessions.count().0,
        snapshots: daemon.documents.snapshots(),
        running_handlers: daemon.runner.children(),
        queued_handlers: daemon.runner.queued(),
        queued_events: daemon.runner.queued_events(),
        warm_processes: daemon.warm.processes(),
        unfinished_line_bytes: daemon.partial_lines.held(),
        subscribers,
        items_lost,
        subscribers_dropped,
        journal: daemon.journal.state(),
        descriptors: descriptors(),
        resident_bytes: resident_bytes(),
    }
}

#[cfg(target_os = "linux")]
fn descriptors() -> Option<u64> {
    // One of them is that of the folder itself.
    let count = std::fs::read_dir("/proc/self/fd").ok()?.count();
    u64::try_from(count.saturating_sub(1)).ok()
}

#[cfg(target_os = "linux")]
fn resident_bytes() -> Option<u64> {
    use nix::unistd::{SysconfVar, sysconf};
    use std::io::Read;
    let mut text = String::new();
    let mut file = std::fs::File::open("/proc/self/statm").ok()?;
    file.read_to_string(&mut text).ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    pages.checked_mul(u64::try_from(sysconf(SysconfVar::PAGE_SIZE).ok()??).ok()?)
}

#[cfg(not(target_os = "linux"))]
fn descriptors() -> Option<u64> {
    None
}

#[cfg(not(target_os = "linux"))]
fn resident_bytes() -> Option<u64> {
    None
}
