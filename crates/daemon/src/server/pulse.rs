//! The sign of life that a service manager may ask for.

use std::future::{Future, pending};
use std::pin::Pin;
use std::time::Duration;

use tokio::time::Interval;

use crate::base::notify;

/// Tells the service manager that this loop still runs.
pub(super) struct Pulse {
    every: Option<Interval>,
}

impl Pulse {
    pub(super) fn new(every: Option<Duration>) -> Pulse {
        Pulse { every: every.map(tokio::time::interval) }
    }

    /// Waits for the next beat, and tells it; for ever when nobody asks for any.
    pub(super) async fn beat(&mut self) {
        match &mut self.every {
            Some(every) => {
                every.tick().await;
                notify::alive();
            }
            None => pending().await,
        }
    }

    /// Does work, and goes on telling meanwhile.
    pub(super) async fn beside(&mut self, mut work: Pin<&mut impl Future<Output = ()>>) {
        loop {
            tokio::select! {
                () = &mut work => return,
                () = self.beat() => {}
            }
        }
    }
}
