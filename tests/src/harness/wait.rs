//! Waiting for a condition instead of sleeping.

use std::time::{Duration, Instant};

/// How long a condition may take to come true. Seconds of a busy machine: nothing is measured by it.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Between two looks.
const STEP: Duration = Duration::from_millis(5);

/// Waits until `condition` holds.
///
/// # Panics
/// When it does not within [`PATIENCE`].
pub async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    eventually(what, async || condition().then_some(())).await;
}

/// Waits until `look` finds something.
///
/// # Panics
/// When it does not within [`PATIENCE`].
pub async fn eventually<T>(what: &str, look: impl AsyncFnMut() -> Option<T>) -> T {
    eventually_in(PATIENCE, what, look).await
}

/// The same for what takes longer than [`PATIENCE`] by its nature.
///
/// # Panics
/// When `look` finds nothing within `patience`.
pub async fn eventually_in<T>(patience: Duration, what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(start.elapsed() < patience, "waited in vain: {what}");
        tokio::time::sleep(STEP).await;
    }
}

/// Attempts of [`within`].
const ATTEMPTS: usize = 3;

/// Holds a promise about time: of three attempts, one takes less than `bound`. A machine may be busy with something
/// else once; a fault is slow every time.
///
/// # Panics
/// When none does.
pub async fn within(bound: Duration, mut attempt: impl AsyncFnMut()) {
    let mut took = Vec::new();
    while took.len() < ATTEMPTS {
        let start = Instant::now();
        attempt().await;
        took.push(start.elapsed());
        if start.elapsed() < bound {
            return;
        }
    }
    panic!("not within {bound:?}: {took:?}");
}
