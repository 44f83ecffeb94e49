//! How much memory requests and unfinished lines may hold: one kind of budget, in bytes, so that nobody takes the memory
//! that everybody's daemon needs. A connection that asks for more than its own part is refused, as for too
//! many requests; one that finds everybody's budget taken waits, for what others do must not cost it a guard.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What requests of one connection hold at most. Bytes. Four of the longest.
pub(crate) const OF_A_CONNECTION: usize = 64 * 1024 * 1024;

/// What requests of all connections hold at most. Bytes.
const OF_ALL: usize = 256 * 1024 * 1024;

/// What a line holds without being counted, while it arrives and as a request. Bytes. Nearly all are shorter, and
/// their number is bounded.
pub(crate) const UNCOUNTED: usize = 64 * 1024;

/// The unit in which memory is counted. Bytes.
const UNIT: usize = 1024;

/// How long a line or a request waits for memory that others hold. Seconds. Then it is refused; its connection is not
/// read meanwhile.
pub(crate) const WAIT_SECONDS: u64 = 10;

/// There is not as much memory left.
#[derive(Debug)]
pub(crate) struct Exhausted;

/// A number of bytes that may be held at a time. Whoever waits is woken when bytes come back; nobody polls.
#[derive(Clone)]
pub(crate) struct MemoryBudget {
    units: Arc<Semaphore>,
    all: usize,
}

/// A part of a budget, given back when it is dropped.
pub(crate) struct Lease(OwnedSemaphorePermit);

impl Lease {
    /// Adds another part of the same budget.
    pub(crate) fn join(&mut self, other: Lease) {
        self.0.merge(other.0);
    }
}

fn units(bytes: usize) -> Result<u32, Exhausted> {
    u32::try_from(bytes.div_ceil(UNIT)).map_err(|_| Exhausted)
}

impl MemoryBudget {
    /// A budget of so many bytes.
    pub(crate) fn of(bytes: usize) -> MemoryBudget {
        let all = bytes / UNIT;
        MemoryBudget { units: Arc::new(Semaphore::new(all)), all }
    }

    /// The budget of all connections' requests together.
    pub(crate) fn of_all_requests() -> MemoryBudget {
        MemoryBudget::of(OF_ALL)
    }

    /// The budget of one connection's requests.
    pub(crate) fn of_one_connection() -> MemoryBudget {
        MemoryBudget::of(OF_A_CONNECTION)
    }

    /// Takes so many bytes if they are there now.
    pub(crate) fn try_take(&self, bytes: usize) -> Result<Lease, Exhausted> {
        self.units.clone().try_acquire_many_owned(units(bytes)?).map(Lease).map_err(|_| Exhausted)
    }

    /// Waits until so many bytes are there. The caller bounds the wait.
    pub(crate) async fn take(&self, bytes: usize) -> Result<Lease, Exhausted> {
        self.units.clone().acquire_many_owned(units(bytes)?).await.map(Lease).map_err(|_| Exhausted)
    }

    /// What is held now. Bytes.
    pub(crate) fn held(&self) -> usize {
        self.all.saturating_sub(self.units.available_permits()) * UNIT
    }
}

/// The memory of one request, given back when the last of what the request has begun is over. Cheap to clone.
#[derive(Clone)]
pub(crate) struct RequestPermit(#[expect(dead_code, reason = "held, never read")] Arc<[Lease; 2]>);

impl RequestPermit {
    /// Takes memory for a line of this length from its connection's budget and from everybody's; `None` for a line
    /// that is not counted. A connection that is over its own bound is refused at once, for it can wait for its own
    /// answers; everybody's budget is waited for.
    ///
    /// # Errors
    /// [`Exhausted`] when the connection holds too much, or the wait took too long.
    pub(crate) async fn take(
        own: &MemoryBudget,
        all: &MemoryBudget,
        bytes: usize,
    ) -> Result<Option<RequestPermit>, Exhausted> {
        if bytes <= UNCOUNTED {
            return Ok(None);
        }
        let own = own.try_take(bytes)?;
        let waited = tokio::time::timeout(Duration::from_secs(WAIT_SECONDS), all.take(bytes)).await;
        let of_all = waited.map_err(|_| Exhausted)??;
        Ok(Some(RequestPermit(Arc::new([own, of_all]))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn memory_is_counted_for_one_and_for_all_and_given_back_with_the_last_copy() {
        let all = MemoryBudget::of_all_requests();
        let long = OF_A_CONNECTION / 4;
        let mut held = Vec::new();
        for _ in 0..OF_ALL / OF_A_CONNECTION {
            let one = MemoryBudget::of_one_connection();
            for _ in 0..4 {
                held.push(RequestPermit::take(&one, &all, long).await.unwrap().unwrap());
            }
            assert!(RequestPermit::take(&one, &all, long).await.is_err(), "a connection has its part");
            assert!(
                RequestPermit::take(&one, &all, UNCOUNTED).await.unwrap().is_none(),
                "short ones need none"
            );
        }
        let other = MemoryBudget::of_one_connection();
        let waiting = RequestPermit::take(&other, &all, long);
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
