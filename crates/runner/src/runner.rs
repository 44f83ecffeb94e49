//! The runner: places for jobs, and the way of each job to its outcome.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hooksd_protocol::outcome::Outcome;
use tokio_util::sync::CancellationToken;

use crate::bounds::{Bounds, LEVELS};
use crate::job::Job;
use crate::launch::Launcher;
use crate::limits::{CLEAN_POLL, EVENTS_LEAST, LONGEST_TIMEOUT, QUEUE_LONGEST, STARTUP_WINDOW};
use crate::slots::{Place, Slots};
use crate::{clean, drive};

/// Starts handlers and sees them to their end. Cheap to clone; clones share children, places and queues.
#[derive(Debug, Clone)]
pub struct Runner {
    shared: Arc<Shared>,
}

/// What the clones of a runner share.
#[derive(Debug)]
struct Shared {
    launcher: Launcher,
    /// The places of each level of nesting.
    levels: [Level; LEVELS],
}

/// The places of one level of nesting.
#[derive(Debug)]
struct Level {
    handlers: Arc<Slots>,
    events: Arc<Slots>,
}

impl Level {
    fn new(handlers: usize, starting: usize) -> Level {
        Level {
            handlers: Arc::new(Slots::new(handlers, starting)),
            events: Arc::new(Slots::new(handlers.max(EVENTS_LEAST), usize::MAX)),
        }
    }
}

/// An event's turn to have its handlers selected and run.
#[derive(Debug)]
pub struct Turn {
    _place: Place,
}

/// A place for one run, and when it was asked for.
#[derive(Debug)]
pub struct Admission {
    place: Arc<Place>,
    asked: Instant,
}

impl Default for Runner {
    fn default() -> Runner {
        Runner::new()
    }
}

impl Runner {
    /// A runner without children, with as many places as the limits of this process allow. Sees to it that the
    /// process does not ignore SIGCHLD, which would make the kernel throw exit statuses away.
    #[must_use]
    pub fn new() -> Runner {
        Runner::with_bounds(Bounds::of_this_process())
    }

    /// The same with this many places.
    #[must_use]
    pub fn with_bounds(bounds: Bounds) -> Runner {
        let levels = [bounds.handlers, bounds.nested, bounds.nested];
        Runner {
            shared: Arc::new(Shared {
                launcher: Launcher::new(),
                levels: levels.map(|handlers| Level::new(handlers, bounds.starting)),
            }),
        }
    }

    /// Children started and not yet reaped.
    #[must_use]
    pub fn children(&self) -> usize {
        self.shared.launcher.children()
    }

    /// Handlers that may run at once, nested ones included.
    #[must_use]
    pub fn places(&self) -> usize {
        self.shared.levels.iter().map(|level| level.handlers.places()).sum()
    }

    /// Handlers that wait for a place.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.shared.levels.iter().map(|level| level.handlers.queued()).sum()
    }

    /// Events that wait for their turn.
    #[must_use]
    pub fn queued_events(&self) -> usize {
        self.shared.levels.iter().map(|level| level.events.queued()).sum()
    }

    /// Waits until it is the turn of an event of this lane and depth, to be held while its handlers' input is made and
    /// they run. `None` when the deadline or the cancel comes first; then its handlers will not run either.
    pub async fn turn(
        &self,
        lane: &Arc<str>,
        depth: u32,
        deadline: Option<Instant>,
        cancel: &CancellationToken,
    ) -> Option<Turn> {
        let taken = self.level(depth).events.take(lane, latest(Instant::now(), deadline), cancel).await;
        taken.ok().map(|place| Turn { _place: place })
    }

    fn level(&self, depth: u32) -> &Level {
        let [first, second, third] = &self.shared.levels;
        match depth {
            0 => first,
            1 => second,
            _ => third,
        }
    }

    /// Waits, at most this long, until nothing is left of the runs that were killed: for the end of a program,
    /// which takes the thread that looks for them along.
    pub async fn cleaned(&self, most: Duration) {
        let until = Instant::now() + most;
        while (self.children() > 0 || clean::pending() > 0) && Instant::now() < until {
            tokio::time::sleep(CLEAN_POLL).await;
        }
    }

    /// Runs one handler to its end, as soon as there is a place for it. Needs a tokio runtime with I/O and time.
    ///
    /// Dropping the future kills the process tree at once; the reaping goes on in a task of its own.
    pub async fn run(&self, job: Job, cancel: &CancellationToken) -> Outcome {
        match self.admit(&job, cancel).await {
            Ok(admission) => self.run_admitted(job, admission, cancel).await,
            Err(outcome) => outcome,
        }
    }

    /// Waits for a place. The longest wait is until the run's deadline, without one [`crate::QUEUE_LONGEST`].
    ///
    /// # Errors
    /// The outcome of a run that got none: it has no command, was cancelled, or waited until its deadline.
    pub async fn admit(&self, job: &Job, cancel: &CancellationToken) -> Result<Admission, Outcome> {
        let asked = Instant::now();
        let refused = |end| Outcome { queued: asked.elapsed(), ..Outcome::without_process(end) };
        if let Some(end) = job.refusal(cancel) {
            return Err(refused(end));
        }
        let handlers = &self.level(job.template.depth).handlers;
        match handlers.take(&job.template.lane, latest(asked, job.template.deadline), cancel).await {
            Ok(place) => Ok(Admission { place: Arc::new(place), asked }),
            Err(end) => Err(refused(end)),
        }
    }

    /// Runs a handler that has its place.
    pub async fn run_admitted(&self, job: Job, admission: Admission, cancel: &CancellationToken) -> Outcome {
        let Admission { place, asked } = admission;
        let launched = match self.shared.launcher.launch(&job, &place, cancel).await {
            Ok(launched) => launched,
            Err(end) => {
                tracing::debug!(?end, program = ?job.program, "handler not started");
                return Outcome { queued: asked.elapsed(), ..Outcome::without_process(end) };
            }
        };
        let queued = launched.started.saturating_duration_since(asked);
        let end = launched.started + job.timeout.min(LONGEST_TIMEOUT);
        let driving =
            drive::drive(launched, job.template.deadline.map_or(end, |deadline| deadline.min(end)), cancel);
        tokio::pin!(driving);
        let outcome = tokio::select! {
            biased;
            outcome = &mut driving => outcome,
            () = tokio::time::sleep(STARTUP_WINDOW) => {
                place.mark_started();
                driving.await
            }
        };
        Outcome { queued, ..outcome }
    }
}

/// When waiting ends.
fn latest(asked: Instant, deadline: Option<Instant>) -> Instant {
    let longest = asked + QUEUE_LONGEST;
    deadline.map_or(longest, |deadline| deadline.min(longest))
}
