//! How whoever runs a server tells it to stop, and to look at its documents.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// How a server is told to stop, and to reload.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    /// Cancelled to stop the daemon: it takes nothing new, and running events may finish within the drain time.
    pub stop: CancellationToken,
    /// Cancelled to stop waiting for running events.
    pub cut: CancellationToken,
    /// Asks for a look at all documents.
    pub reload: Reload,
}

impl Shutdown {
    /// Stops the daemon; the second time, cuts what still runs.
    pub fn once_more(&self) {
        let told = if self.stop.is_cancelled() { &self.cut } else { &self.stop };
        told.cancel();
    }
}

/// How a server is told to look at all documents now.
#[derive(Debug, Clone, Default)]
pub struct Reload {
    pub(crate) asked: Arc<Notify>,
    pub(crate) done: Arc<Notify>,
}

impl Reload {
    /// Asks for it and waits until it was done; false when that takes longer.
    pub async fn within(&self, longest: Duration) -> bool {
        self.asked.notify_one();
        tokio::time::timeout(longest, self.done.notified()).await.is_ok()
    }
}
