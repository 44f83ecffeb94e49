//! Processes that are there before their event (D9): persistent ones, which answer many, and prewarmed ones, which
//! wait for one.
//!
//! What a caller may rely on:
//! 1. An event gets the answer to its own payload or none: a process that prints anything that answers no payload is
//!    killed, and nothing of it is used again.
//! 2. Whatever keeps a warm process from serving (none can be started, too many are alive, too many events wait) makes
//!    the event [`Went::Cold`]: the caller runs it per event. Nothing is dropped.
//! 3. A process ends after the event in flight when what it was started for is over ([`Warm::release`],
//!    [`Warm::retire_unowned`]), when it was idle too long, and at [`Warm::stop`]. When the daemon dies, stdin ends.
//! 4. Never more than [`MOST_PERSISTENT`] and [`MOST_PREWARMED`] are alive; the one idle longest makes room.

mod exchange;
mod health;
mod key;
mod limits;
mod line;
mod persistent;
mod prewarmed;
mod shelf;
mod worker;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hooksd_protocol::outcome::Outcome;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use key::{Key, Purpose, Variables};
pub use limits::{
    FAILURES_MOST, IDLE_PERSISTENT, IDLE_PREWARMED, LINGER, Limits, MOST_PERSISTENT, MOST_PREWARMED,
    RETIRE_GRACE,
};
pub use persistent::Ask;

use crate::bounds::Bounds;
use crate::launch::Launcher;
use crate::limits::KILL_WAIT;
use health::Health;
use limits::SWEEP;
use prewarmed::Waiting;
use shelf::Shelf;
use worker::Worker;

/// What became of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Went {
    /// It ran.
    Ran(Outcome),
    /// No warm process can serve it now: run it per event.
    Cold,
}

/// What is to be said beside the outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// A process printed something that answers no payload; the text says what.
    OutOfStep(String),
    /// The handler runs per event from now on; the text says why.
    FellBack(String),
}

/// An event's way through a warm process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What became of it.
    pub went: Went,
    /// Whether the process was there before the event.
    pub warm: bool,
    /// In the order in which they were noticed.
    pub remarks: Vec<Remark>,
}

/// The warm processes. Cheap to clone; clones share them.
#[derive(Debug, Clone)]
pub struct Warm {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Counts warm processes apart from handlers that run.
    launcher: Launcher,
    limits: Limits,
    workers: Mutex<Shelf<Worker>>,
    worker_places: Arc<Semaphore>,
    waiting: Mutex<Shelf<Waiting>>,
    waiting_places: Arc<Semaphore>,
    sweeping: AtomicBool,
    stopping: CancellationToken,
    tasks: TaskTracker,
}

impl Default for Warm {
    fn default() -> Warm {
        Warm::new(Limits::default())
    }
}

/// A held lock; a panic elsewhere does not make the shelf unusable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Warm {
    /// No process yet; never more than the limits of this process leave room for, two of three of them persistent.
    #[must_use]
    pub fn new(limits: Limits) -> Warm {
        let room = Bounds::warm_processes();
        let prewarmed = room / 3;
        let limits = Limits {
            most_persistent: limits.most_persistent.min(room - prewarmed),
            most_prewarmed: limits.most_prewarmed.min(prewarmed),
            ..limits
        };
        let inner = Inner {
            launcher: Launcher::new(),
            workers: Mutex::default(),
            worker_places: Arc::new(Semaphore::new(limits.most_persistent)),
            waiting: Mutex::default(),
            waiting_places: Arc::new(Semaphore::new(limits.most_prewarmed)),
            sweeping: AtomicBool::new(false),
            stopping: CancellationToken::new(),
            tasks: TaskTracker::new(),
            limits,
        };
        Warm { inner: Arc::new(inner) }
    }

    /// Processes that are alive, idle or not.
    #[must_use]
    pub fn processes(&self) -> usize {
        self.inner.launcher.children()
    }

    /// This owner (a session) no longer needs what it has used: processes without another owner end after the event in
    /// flight.
    pub fn release(&self, owner: &str) {
        let workers = lock(&self.inner.workers).release(owner);
        let waiting = lock(&self.inner.waiting).release(owner);
        self.end(workers, waiting);
    }

    /// Processes that no owner holds end after the event in flight: what they were started for may have changed.
    pub fn retire_unowned(&self) {
        let workers = lock(&self.inner.workers).take_unowned();
        let waiting = lock(&self.inner.waiting).take_unowned();
        self.end(workers, waiting);
    }

    /// Ends all processes and waits for that, at most a little over [`RETIRE_GRACE`]. Later events are cold.
    pub async fn stop(&self) {
        self.inner.stopping.cancel();
        let workers = lock(&self.inner.workers).drain();
        let waiting = lock(&self.inner.waiting).drain();
        self.end(workers, waiting);
        self.inner.tasks.close();
        let most = self.inner.limits.retire_grace + KILL_WAIT + Duration::from_secs(1);
        if tokio::time::timeout(most, self.inner.tasks.wait()).await.is_err() {
            tracing::warn!(left = self.processes(), "warm processes are left");
        }
    }

    fn end(&self, workers: Vec<Worker>, waiting: Vec<Waiting>) {
        for worker in workers {
            self.retire(worker);
        }
        // Nothing was given to them: they are killed with their trees.
        for waiting in waiting {
            self.inner.tasks.spawn(waiting.kill());
        }
    }

    /// Lets a process that serves nobody end.
    fn retire(&self, worker: Worker) {
        self.inner.tasks.spawn(worker.retire(self.inner.limits.retire_grace));
    }

    fn is_stopping(&self) -> bool {
        self.inner.stopping.is_cancelled()
    }

    /// Looks after idle processes from the first one on.
    fn begin_sweeping(&self) {
        if self.inner.sweeping.swap(true, Ordering::AcqRel) {
            return;
        }
        let warm = self.clone();
        let every = SWEEP.min(self.inner.limits.idle_persistent).min(self.inner.limits.idle_prewarmed);
        self.inner.tasks.spawn(async move {
            loop {
                tokio::select! {
                    () = warm.inner.stopping.cancelled() => return,
                    () = tokio::time::sleep(every) => warm.sweep(Instant::now()),
                }
            }
        });
    }

    /// Ends what was idle too long, and reaps what has ended by itself.
    fn sweep(&self, now: Instant) {
        let limits = &self.inner.limits;
        // Whoever has answered may go; whoever should wait for its event may not.
        let gone = |worker: &mut Worker, _: &mut Health| worker.has_ended();
        let ran_away = |waiting: &mut Waiting, health: &mut Health| {
            let ended = waiting.has_ended();
            if ended {
                health.failed(now);
            }
            ended
        };
        let workers = lock(&self.inner.workers).sweep(now, limits.idle_persistent, gone);
        let waiting = lock(&self.inner.waiting).sweep(now, limits.idle_prewarmed, ran_away);
        self.end(workers, waiting);
    }
}

/// A place for one process: a free one, or that of the process that was idle longest. `None` when all are busy.
fn place<T>(
    places: &Arc<Semaphore>,
    shelf: &Mutex<Shelf<T>>,
    take_place: impl FnOnce(&mut T) -> Option<OwnedSemaphorePermit>,
) -> Option<(OwnedSemaphorePermit, Option<T>)> {
    if let Ok(place) = places.clone().try_acquire_owned() {
        return Some((place, None));
    }
    let mut evicted = lock(shelf).take_idlest()?;
    let place = take_place(&mut evicted)?;
    Some((place, Some(evicted)))
}
