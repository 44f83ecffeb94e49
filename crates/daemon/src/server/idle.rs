//! The end of a daemon that nobody needs: one that was started on demand stops when nobody has used it for long enough.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::state::Daemon;

/// How many times the daemon looks whether it is idle within the time after which it stops. Looks.
const IDLE_LOOKS: u32 = 8;

/// The shortest time between two such looks. Twenty milliseconds are enough for nobody to notice.
const IDLE_LOOK_LEAST: Duration = Duration::from_millis(20);

/// Whether anybody would miss the daemon: a client, an event, a handler.
fn is_in_use(daemon: &Daemon) -> bool {
    daemon.connections.load(Ordering::Acquire) > 0
        || !daemon.events.is_empty()
        || daemon.runner.children() > 0
}

/// Stops a daemon that was started on demand when nobody has needed it for long enough.
pub(super) async fn leave_when_idle(daemon: Arc<Daemon>) {
    let Some(longest) = daemon.settings.idle_exit else { return };
    let step = (longest / IDLE_LOOKS).max(IDLE_LOOK_LEAST);
    let (mut seen, mut since) = (0, Instant::now());
    loop {
        tokio::time::sleep(step).await;
        // Whoever came and went between two looks counts as well.
        let came = daemon.connections_begun.load(Ordering::Relaxed);
        if is_in_use(&daemon) || came != seen {
            (seen, since) = (came, Instant::now());
        } else if since.elapsed() >= longest {
            tracing::info!(idle = ?longest, "nobody has needed the daemon; the next who does starts one");
            return daemon.stop.stop(None);
        }
    }
}
