//! What the requests in flight hold, in bytes: bounded for each connection and for all of them together, so that nobody
//! takes the memory that everybody's daemon needs. Who asks for more is refused, as for too many requests.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What requests of one connection hold at most. Bytes. Four of the longest.
pub(crate) const SHARE: usize = 64 * 1024 * 1024;

/// What requests of all connections hold at most. Bytes.
const MOST: usize = 256 * 1024 * 1024;

/// What a request holds without being counted. Bytes. Nearly all are shorter, and their number is bounded.
const FREE: usize = 64 * 1024;

/// The unit they are counted in. Bytes.
const UNIT: usize = 1024;

/// Room for requests: a connection's or everybody's.
#[derive(Clone)]
pub(crate) struct Room(Arc<Semaphore>);

/// A request's part of it, given back when it is dropped.
pub(crate) type Held = [OwnedSemaphorePermit; 2];

impl Room {
    /// Everybody's.
    pub(crate) fn of_all() -> Room {
        Room(Arc::new(Semaphore::new(MOST / UNIT)))
    }

    /// A connection's.
    pub(crate) fn of_one() -> Room {
        Room(Arc::new(Semaphore::new(SHARE / UNIT)))
    }

    /// Takes room for a line of this length from both. `None` inside when it needs none; an error when there is none.
    pub(crate) fn take(&self, all: &Room, bytes: usize) -> Result<Option<Held>, ()> {
        if bytes <= FREE {
            return Ok(None);
        }
        let units = u32::try_from(bytes.div_ceil(UNIT)).map_err(|_| ())?;
        let take = |room: &Room| room.0.clone().try_acquire_many_owned(units).map_err(|_| ());
        Ok(Some([take(self)?, take(all)?]))
    }
}
