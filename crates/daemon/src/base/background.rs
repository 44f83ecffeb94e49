//! Places for commands that nobody waits for, so that they stand before no handler that somebody does wait for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooksd_protocol::outcome::End;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// The part of the places for handlers that such commands may take: one in this many.
const PART: usize = 8;

/// The most such commands at once, however many places there are. Commands.
const MOST: usize = 32;

/// How many such commands may wait for a place. Commands. One more is not started, and its record says so.
const MAX_WAITING: usize = 4096;

/// The places, and how many commands wait for one.
pub(crate) struct BackgroundPlaces {
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl BackgroundPlaces {
    /// Places beside so many for handlers.
    pub(crate) fn beside(handlers: usize) -> BackgroundPlaces {
        let places = (handlers / PART).clamp(1, MOST);
        BackgroundPlaces { places: Arc::new(Semaphore::new(places)), waiting: AtomicUsize::new(0) }
    }

    /// Waits for a place until `cancel` says otherwise.
    ///
    /// # Errors
    /// How a command ends that gets none.
    pub(crate) async fn take(&self, cancel: &CancellationToken) -> Result<OwnedSemaphorePermit, End> {
        if self.waiting.fetch_add(1, Ordering::AcqRel) >= MAX_WAITING {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
            return Err(End::QueuedOut);
        }
        let taken = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(End::Cancelled),
            taken = self.places.clone().acquire_owned() => taken.map_err(|_| End::Cancelled),
        };
        self.waiting.fetch_sub(1, Ordering::AcqRel);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn commands_have_an_eighth_of_the_places_and_wait_for_each_other() {
        let (places, cancel) = (BackgroundPlaces::beside(16), CancellationToken::new());
        let first = places.take(&cancel).await.unwrap();
        let _second = places.take(&cancel).await.unwrap();
        let waiting = places.take(&cancel);
        tokio::pin!(waiting);
        tokio::select! {
            biased;
            _ = &mut waiting => panic!("there are two places"),
            () = tokio::task::yield_now() => {}
        }
        drop(first);
        let third = waiting.await.unwrap();
        cancel.cancel();
        assert_eq!(places.take(&cancel).await.unwrap_err(), End::Cancelled);
        drop(third);
        assert_eq!(places.waiting.load(Ordering::Acquire), 0);
    }
}
