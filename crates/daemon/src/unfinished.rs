//! Lines that have begun and not ended, of all connections together: what they hold is bounded (B77, B79).
//!
//! Guarantee: no more than [`MOST`] bytes are held. A line that needs more waits for room; who has stalled in the
//! middle of a line gives way first, and is told so.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

/// What unfinished lines hold together. Bytes. Four of the longest.
pub const MOST: usize = 64 * 1024 * 1024;

/// What a line holds without being counted. Bytes. Nearly all requests are shorter.
pub(crate) const FREE: usize = 64 * 1024;

/// How long a line must have stood still to give way. Milliseconds.
const STALLED_MS: u64 = 1000;

/// How long to wait before asking for room again. Milliseconds.
const AGAIN_MS: u64 = 20;

/// How long a line waits for room. Seconds. Then it is cut itself.
const WAIT_SECONDS: u64 = 10;

#[derive(Default)]
struct Held {
    total: usize,
    lines: HashMap<u64, Growing>,
}

struct Growing {
    bytes: usize,
    grew: Instant,
    cut: CancellationToken,
}

/// All unfinished lines.
#[derive(Default)]
pub struct Unfinished {
    held: Mutex<Held>,
    next: AtomicU64,
}

impl Unfinished {
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection's share.
    #[must_use]
    pub fn share(self: &Arc<Unfinished>) -> Share {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        Share { all: self.clone(), id, bytes: 0, cut: CancellationToken::new() }
    }

    /// What is held now. Bytes.
    pub(crate) fn held(&self) -> usize {
        self.lock().total
    }
}

/// What one connection's unfinished line holds.
pub struct Share {
    all: Arc<Unfinished>,
    id: u64,
    bytes: usize,
    /// Cancelled when the line must give way to others.
    pub(crate) cut: CancellationToken,
}

impl Share {
    /// Takes so many bytes in all, if there is room; else asks who has stood still longest to give way.
    fn take(&mut self, bytes: usize) -> bool {
        let mut held = self.all.lock();
        let total = held.total - self.bytes + bytes;
        if total > MOST {
            let stalled = Duration::from_millis(STALLED_MS);
            let others =
                held.lines.iter().filter(|(id, line)| **id != self.id && line.grew.elapsed() > stalled);
            if let Some((_, line)) = others.min_by_key(|(_, line)| line.grew) {
                line.cut.cancel();
            }
            return false;
        }
        held.total = total;
        self.bytes = bytes;
        held.lines.insert(self.id, Growing { bytes, grew: Instant::now(), cut: self.cut.clone() });
        true
    }

    /// Waits until the line may hold so many bytes; false when there is no room for it in time.
    pub(crate) async fn grow(&mut self, bytes: usize) -> bool {
        if bytes <= FREE {
            return true;
        }
        let deadline = Instant::now() + Duration::from_secs(WAIT_SECONDS);
        while !self.take(bytes) {
            if self.cut.is_cancelled() || Instant::now() >= deadline {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(AGAIN_MS)).await;
        }
        true
    }

    /// The line has ended, or was given up: it holds nothing.
    pub(crate) fn free(&mut self) {
        if self.bytes == 0 && !self.cut.is_cancelled() {
            return;
        }
        let mut held = self.all.lock();
        if let Some(line) = held.lines.remove(&self.id) {
            held.total = held.total.saturating_sub(line.bytes);
        }
        self.bytes = 0;
        if self.cut.is_cancelled() {
            self.cut = CancellationToken::new();
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.free();
    }
}
