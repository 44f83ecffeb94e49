//! What the requests in flight hold, in bytes: bounded for each connection and for all of them together, so that nobody
//! takes the memory that everybody's daemon needs. Who asks for more than his share is refused, as for too many requests;
//! who finds everybody's room taken waits, for what others do must not cost him a guard.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What requests of one connection hold at most. Bytes. Four of the longest.
pub(crate) const SHARE: usize = 64 * 1024 * 1024;

/// What requests of all connections hold at most. Bytes.
const MOST: usize = 256 * 1024 * 1024;

/// What a request holds without being counted. Bytes. Nearly all are shorter, and their number is bounded.
const FREE: usize = 64 * 1024;

/// The unit they are counted in. Bytes.
const UNIT: usize = 1024;

/// How long a request waits for everybody's room. Seconds. Then it is refused; its connection is not read meanwhile.
const WAIT_SECONDS: u64 = 10;

/// There is no room.
#[derive(Debug)]
pub(crate) struct Full;

/// Room for requests: a connection's or everybody's.
#[derive(Clone)]
pub(crate) struct Room(Arc<Semaphore>);

/// A request's part of it, given back when the last of what the request has begun is over.
pub(crate) type Held = Arc<[OwnedSemaphorePermit; 2]>;

impl Room {
    /// Everybody's.
    pub(crate) fn of_all() -> Room {
        Room(Arc::new(Semaphore::new(MOST / UNIT)))
    }

    /// A connection's.
    pub(crate) fn of_one() -> Room {
        Room(Arc::new(Semaphore::new(SHARE / UNIT)))
    }

    /// Takes room for a line of this length from both. `None` inside when it needs none.
    pub(crate) async fn take(&self, all: &Room, bytes: usize) -> Result<Option<Held>, Full> {
        if bytes <= FREE {
            return Ok(None);
        }
        let units = u32::try_from(bytes.div_ceil(UNIT)).map_err(|_| Full)?;
        let own = self.0.clone().try_acquire_many_owned(units).map_err(|_| Full)?;
        let waiting = all.0.clone().acquire_many_owned(units);
        let waited = tokio::time::timeout(Duration::from_secs(WAIT_SECONDS), waiting).await;
        let of_all = waited.map_err(|_| Full)?.map_err(|_| Full)?;
        Ok(Some(Arc::new([own, of_all])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn room_is_counted_for_one_and_for_all_and_given_back_with_the_last_copy() {
        let all = Room::of_all();
        let long = SHARE / 4;
        let mut held = Vec::new();
        for _ in 0..MOST / SHARE {
            let one = Room::of_one();
            for _ in 0..4 {
                held.push(one.take(&all, long).await.unwrap().unwrap());
            }
            assert!(one.take(&all, long).await.is_err(), "a connection has its share");
            assert!(one.take(&all, FREE).await.unwrap().is_none(), "short ones need no room");
        }
        let other = Room::of_one();
        let waiting = other.take(&all, long);
        tokio::pin!(waiting);
        let copy = held.pop().unwrap();
        let last = copy.clone();
        drop(copy);
        let soon = tokio::time::timeout(Duration::from_millis(10), &mut waiting).await;
        assert!(soon.is_err(), "something of it still runs");
        drop(last);
        assert!(waiting.await.unwrap().is_some(), "who waited has it");
    }
}
