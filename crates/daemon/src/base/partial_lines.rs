//! Lines that have begun and not ended, of all connections together: what they hold is bounded (B77, B79).
//!
//! Guarantee: no more than [`MOST`] bytes are held. A line that needs more waits for memory; the line that has stood
//! still longest gives way first, and its sender is told so.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::base::budget::{Lease, MemoryBudget, UNCOUNTED, WAIT_SECONDS};
use crate::base::lock::lock;

/// What unfinished lines hold together. Bytes. Four of the longest.
pub const MOST: usize = 64 * 1024 * 1024;

/// How long a line must have stood still to give way. Milliseconds.
const STALLED_MS: u64 = 1000;

/// One line that holds memory.
struct Growing {
    /// When it grew last.
    grew: Instant,
    /// Tells it to give way.
    cut: CancellationToken,
}

/// The memory of all unfinished lines.
pub struct PartialLineBudget {
    memory: MemoryBudget,
    growing: Mutex<HashMap<u64, Growing>>,
    next: AtomicU64,
}

impl Default for PartialLineBudget {
    fn default() -> PartialLineBudget {
        PartialLineBudget {
            memory: MemoryBudget::of(MOST),
            growing: Mutex::default(),
            next: AtomicU64::new(0),
        }
    }
}

impl PartialLineBudget {
    /// The part of one connection, which holds nothing yet.
    #[must_use]
    pub fn lease(self: &Arc<PartialLineBudget>) -> PartialLineLease {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        PartialLineLease { all: self.clone(), id, bytes: 0, lease: None, cut: CancellationToken::new() }
    }

    /// What is held now. Bytes.
    pub(crate) fn held(&self) -> usize {
        self.memory.held()
    }

    /// Asks the line that has stood still longest, other than this one, to give way. When none has stood still for long
    /// enough yet, says how long the first of them still has.
    fn ask_the_stalled(&self, asking: u64) -> Duration {
        let stalled = Duration::from_millis(STALLED_MS);
        let growing = lock(&self.growing);
        let others = growing.iter().filter(|(id, line)| **id != asking && !line.cut.is_cancelled());
        let Some((_, line)) = others.min_by_key(|(_, line)| line.grew) else { return stalled };
        match stalled.checked_sub(line.grew.elapsed()) {
            Some(left) if !left.is_zero() => left,
            _ => {
                line.cut.cancel();
                stalled
            }
        }
    }
}

/// What the unfinished line of one connection holds.
pub struct PartialLineLease {
    all: Arc<PartialLineBudget>,
    id: u64,
    /// How long the line may be with what is held. Bytes.
    bytes: usize,
    lease: Option<Lease>,
    /// Cancelled when the line must give way to others.
    pub(crate) cut: CancellationToken,
}

impl PartialLineLease {
    /// Waits until the line may hold so many bytes in all; false when it must give way, or waited in vain.
    pub(crate) async fn grow(&mut self, bytes: usize) -> bool {
        if bytes <= UNCOUNTED {
            return true;
        }
        let more = bytes.saturating_sub(self.bytes);
        let taken = match self.all.memory.try_take(more) {
            Ok(lease) => Some(lease),
            Err(_) => self.wait_for(more).await,
        };
        let Some(lease) = taken else { return false };
        match &mut self.lease {
            Some(held) => held.join(lease),
            None => self.lease = Some(lease),
        }
        self.bytes = self.bytes.max(bytes);
        let line = Growing { grew: Instant::now(), cut: self.cut.clone() };
        lock(&self.all.growing).insert(self.id, line);
        true
    }

    /// Waits for memory, and has those who stand still give way meanwhile.
    async fn wait_for(&self, more: usize) -> Option<Lease> {
        let memory = self.all.memory.clone();
        let mut waiting = std::pin::pin!(memory.take(more));
        let deadline = tokio::time::sleep(Duration::from_secs(WAIT_SECONDS));
        let mut deadline = std::pin::pin!(deadline);
        loop {
            let next = self.all.ask_the_stalled(self.id);
            tokio::select! {
                biased;
                taken = &mut waiting => return taken.ok(),
                () = self.cut.cancelled() => return None,
                () = &mut deadline => return None,
                () = tokio::time::sleep(next) => {}
            }
        }
    }

    /// The line has ended, or was given up: it holds nothing.
    pub(crate) fn free(&mut self) {
        if self.lease.is_none() && !self.cut.is_cancelled() {
            return;
        }
        lock(&self.all.growing).remove(&self.id);
        self.lease = None;
        self.bytes = 0;
        if self.cut.is_cancelled() {
            self.cut = CancellationToken::new();
        }
    }
}

impl Drop for PartialLineLease {
    fn drop(&mut self) {
        self.free();
    }
}
