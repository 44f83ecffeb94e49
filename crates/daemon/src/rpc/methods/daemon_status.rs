//! `daemon/status`: how the daemon is.

use std::sync::atomic::Ordering;

use hooksd_protocol::methods::{DaemonStatus, NoParams, PROTOCOL_VERSION};
use hooksd_protocol::rpc::{Frame, RpcError};

use crate::base::work::{Work, now};
use crate::rpc::params::params;
use crate::state::Daemon;

pub(crate) fn work(daemon: &Daemon, frame: &Frame<'_>) -> Result<Work, RpcError> {
    let _: NoParams = params(frame)?;
    let (sessions, sessions_without_environment) = daemon.sessions.count();
    now(DaemonStatus {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build: crate::BUILD.to_owned(),
        protocol_version: PROTOCOL_VERSION,
        pid: std::process::id(),
        uptime_seconds: daemon.started.elapsed().as_secs(),
        socket: daemon.settings.socket.as_ref().map(|path| path.display().to_string()),
        config_dir: daemon.settings.config_dir.display().to_string(),
        changes: daemon.watch_mode.describe(),
        connections: daemon.connections.load(Ordering::Acquire),
        sessions,
        sessions_without_environment,
        running_handlers: daemon.runner.children(),
        max_handlers: daemon.runner.places(),
        queued_handlers: daemon.runner.queued(),
        queued_events: daemon.runner.queued_events(),
        warm_processes: daemon.warm.processes(),
        events: daemon.answered.load(Ordering::Relaxed),
        journal: daemon.journal.state(),
    })
}
