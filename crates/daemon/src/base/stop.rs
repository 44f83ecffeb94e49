//! How the daemon ends: what its parts watch, each for its own step of the end.

use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The steps of the daemon's end, in the order in which they come.
pub(crate) struct StopSignals {
    /// Cancelled when the daemon was told to stop: no new events are taken, running ones may finish.
    pub(crate) stopping: CancellationToken,
    /// Cancelled when the time for that is over: running events are cut.
    pub(crate) killing: CancellationToken,
    /// Cancelled when everything is answered: connections should end.
    pub(crate) closing: CancellationToken,
    /// How long running events may take from the moment the daemon was told to stop.
    drain: watch::Sender<Duration>,
}

impl StopSignals {
    /// Signals whose first two steps others may begin as well; `drain` is how long running events may take.
    pub(crate) fn new(
        stopping: CancellationToken,
        killing: CancellationToken,
        drain: Duration,
    ) -> StopSignals {
        let (drain, _) = watch::channel(drain);
        StopSignals { stopping, killing, closing: CancellationToken::new(), drain }
    }

    /// Stops the daemon. Running events may take as long as this, or as the settings say.
    pub(crate) fn stop(&self, drain: Option<Duration>) {
        if let Some(drain) = drain {
            self.drain.send_replace(drain);
        }
        self.stopping.cancel();
    }

    /// How long running events may take.
    pub(crate) fn drain(&self) -> Duration {
        *self.drain.borrow()
    }

    /// Waits for running events. False when the time for that is over, which may be made shorter or longer meanwhile.
    pub(crate) async fn drained(&self, events: &TaskTracker) -> bool {
        let begun = Instant::now();
        let mut drain = self.drain.subscribe();
        loop {
            let until = begun + *drain.borrow_and_update();
            tokio::select! {
                () = events.wait() => return true,
                () = tokio::time::sleep_until(until.into()) => return false,
                () = self.killing.cancelled() => return false,
                _ = drain.changed() => {}
            }
        }
    }
}
