//! What a caller asks for, and the runner that does it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hooksd_protocol::outcome::{End, Outcome};
use tokio_util::sync::CancellationToken;

use crate::bounds::{Bounds, LEVELS};
use crate::environment::Environment;
use crate::launch::launch;
use crate::limits::{CLEAN_POLL, EVENTS_LEAST, LONGEST_TIMEOUT, QUEUE_LONGEST, YOUTH};
use crate::rlimits::Rlimits;
use crate::slots::{Place, Slots};
use crate::{clean, drive, spawn};

/// What a handler runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// A command line for `/bin/sh -c`: never `$SHELL`, never a login shell.
    Shell(String),
    /// A program and its arguments, without a shell. A name without a slash is looked up in the `PATH` of the
    /// handler's environment; a relative path with a slash is relative to the handler's cwd.
    Argv(Vec<String>),
}

/// One handler run.
#[derive(Debug, Clone)]
pub struct Run {
    /// What to run.
    pub program: Program,
    /// The event's cwd, absolute.
    pub cwd: PathBuf,
    /// Folders to run in when `cwd` is gone (D3), best first: the first that can be entered is used, and
    /// [`Outcome::ran_in_instead`] names it.
    pub fallback_cwds: Vec<PathBuf>,
    /// The environment that it shares with others. Nothing of the daemon's is added but the run's mark
    /// ([`crate::RUN_VARIABLE`]).
    pub env: Arc<Environment>,
    /// Its own variables, instead of or beside those.
    pub overlay: Vec<(OsString, OsString)>,
    /// What is written to its stdin, byte for byte, before stdin is closed.
    pub payload: Arc<[u8]>,
    /// The handler's own time limit, counted from its spawn; more than [`crate::LONGEST_TIMEOUT`] is that.
    pub timeout: Duration,
    /// When the answer is no longer wanted: bounds waiting and running together (D22).
    pub deadline: Option<Instant>,
    /// Bytes kept of each output stream, usually [`crate::OUTPUT_CAP`].
    pub output_cap: usize,
    /// The file mode mask of the session (D14); none inherits the daemon's. Honoured on Linux only.
    pub umask: Option<u32>,
    /// The resource limits of the session (D14); those that are not named are the daemon's. Honoured on Linux only.
    pub rlimits: Rlimits,
    /// Whose run it is, usually a session's: lanes take turns when there are too many handlers.
    pub lane: Arc<str>,
    /// How many handlers deep it is asked for (D12): each level has places of its own.
    pub depth: u32,
}

/// Starts handlers and sees them to their end. Cheap to clone; clones share children, places and queues.
#[derive(Debug, Clone)]
pub struct Runner {
    pub(crate) shared: Arc<Shared>,
}

/// What all runs of a runner share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Children started and not yet reaped.
    pub(crate) children: Arc<AtomicUsize>,
    /// The daemon's own mask, if the system says: a run that asks for it needs nothing special.
    pub(crate) umask: Option<u32>,
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
    fn new(handlers: usize, young: usize) -> Level {
        Level {
            handlers: Arc::new(Slots::new(handlers, young)),
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
        hooksd_system::keep_exit_statuses();
        clean::start();
        let levels = [bounds.handlers, bounds.nested, bounds.nested];
        Runner {
            shared: Arc::new(Shared {
                children: Arc::default(),
                umask: spawn::own_umask(),
                levels: levels.map(|handlers| Level::new(handlers, bounds.young)),
            }),
        }
    }

    /// Children started and not yet reaped.
    #[must_use]
    pub fn children(&self) -> usize {
        self.shared.children.load(Ordering::Acquire)
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
    pub async fn run(&self, run: Run, cancel: &CancellationToken) -> Outcome {
        match self.admit(&run, cancel).await {
            Ok(admission) => self.run_admitted(run, admission, cancel).await,
            Err(outcome) => outcome,
        }
    }

    /// Waits for a place. The longest wait is until the run's deadline, without one [`crate::QUEUE_LONGEST`].
    ///
    /// # Errors
    /// The outcome of a run that got none: it has no command, was cancelled, or waited until its deadline.
    pub async fn admit(&self, run: &Run, cancel: &CancellationToken) -> Result<Admission, Outcome> {
        let asked = Instant::now();
        let refused = |end| Outcome { queued: asked.elapsed(), ..Outcome::without_process(end) };
        if let Some(end) = run.refusal(cancel) {
            return Err(refused(end));
        }
        let handlers = &self.level(run.depth).handlers;
        match handlers.take(&run.lane, latest(asked, run.deadline), cancel).await {
            Ok(place) => Ok(Admission { place: Arc::new(place), asked }),
            Err(end) => Err(refused(end)),
        }
    }

    /// Runs a handler that has its place.
    pub async fn run_admitted(&self, run: Run, admission: Admission, cancel: &CancellationToken) -> Outcome {
        let Admission { place, asked } = admission;
        let launched = match launch(&self.shared, &run, &place, cancel).await {
            Ok(launched) => launched,
            Err(end) => {
                tracing::debug!(?end, program = ?run.program, "handler not started");
                return Outcome { queued: asked.elapsed(), ..Outcome::without_process(end) };
            }
        };
        let queued = launched.started.saturating_duration_since(asked);
        let end = launched.started + run.timeout.min(LONGEST_TIMEOUT);
        let driving = drive::drive(launched, run.deadline.map_or(end, |deadline| deadline.min(end)), cancel);
        tokio::pin!(driving);
        let outcome = tokio::select! {
            biased;
            outcome = &mut driving => outcome,
            () = tokio::time::sleep(YOUTH) => {
                place.settle();
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

impl Program {
    /// Whether there is nothing to run: a shell line of nothing but white space, or no argument at all.
    pub(crate) fn is_blank(&self) -> bool {
        match self {
            // The reference strips as Python does: Unicode white space and the four separators.
            Program::Shell(line) => {
                line.chars().all(|c| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
            }
            Program::Argv(argv) => argv.is_empty(),
        }
    }
}

impl Run {
    /// How a run without anything to run ends.
    pub(crate) fn refusal(&self, cancel: &CancellationToken) -> Option<End> {
        if self.program.is_blank() {
            return Some(End::InvalidCommand);
        }
        cancel.is_cancelled().then_some(End::Cancelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_is_what_python_strips() {
        for line in ["", " ", "\t\n\r\x0b\x0c", "\u{1c}\u{1d}\u{1e}\u{1f}", "\u{85}\u{a0}\u{2003}\u{3000}"] {
            assert!(Program::Shell(line.to_owned()).is_blank(), "{line:?}");
        }
        // Neither is white space to Python.
        for line in ["#", "\u{200b}", "\u{feff}", " x "] {
            assert!(!Program::Shell(line.to_owned()).is_blank(), "{line:?}");
        }
        assert!(Program::Argv(Vec::new()).is_blank());
        assert!(!Program::Argv(vec![String::new()]).is_blank());
    }
}
