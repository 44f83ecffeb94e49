//! The daemon's end: running events may finish, then they are cut; what handlers have left is cleaned up, connections
//! end, and the journal is written.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::task::TaskTracker;

use crate::state::Daemon;

/// How long killed events and closing connections may still take. Seconds. After that the process ends anyway, and
/// the kernel closes what is open.
const CLOSE_SECONDS: u64 = 3;

/// Goes through the steps of the end, each within its time.
pub(super) async fn stop(daemon: &Arc<Daemon>, connections: &TaskTracker) {
    let drain = daemon.stop.drain();
    tracing::info!(?drain, running = daemon.events.len(), "stopping");
    daemon.events.close();
    if !daemon.stop.drained(&daemon.events).await {
        tracing::warn!(running = daemon.events.len(), "cutting events that did not end in time");
        daemon.stop.killing.cancel();
        let _ = tokio::time::timeout(Duration::from_secs(CLOSE_SECONDS), daemon.events.wait()).await;
    }
    daemon.warm.stop().await;
    // What the killed handlers have left behind goes before the process that can find it does.
    daemon.runner.cleaned(Duration::from_secs(CLOSE_SECONDS)).await;
    daemon.stop.closing.cancel();
    connections.close();
    let _ = tokio::time::timeout(Duration::from_secs(CLOSE_SECONDS), connections.wait()).await;
    let journal = daemon.clone();
    let written = tokio::task::spawn_blocking(move || journal.journal.stop());
    let _ = tokio::time::timeout(Duration::from_secs(CLOSE_SECONDS), written).await;
    tracing::info!(children = daemon.runner.children(), "stopped");
}
