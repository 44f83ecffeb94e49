//! What a caller asks for, and the runner that does it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hooksd_engine::outcome::{End, Outcome};
use tokio_util::sync::CancellationToken;

use crate::launch::launch;
use crate::{drive, spawn};

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
    /// The complete environment of the handler; nothing of the daemon's is added.
    pub env: Vec<(OsString, OsString)>,
    /// What is written to its stdin, byte for byte, before stdin is closed.
    pub payload: Arc<[u8]>,
    /// The handler's own time limit, counted from its spawn; more than [`crate::LONGEST_TIMEOUT`] is that.
    pub timeout: Duration,
    /// Bytes kept of each output stream, usually [`crate::OUTPUT_CAP`].
    pub output_cap: usize,
    /// The file mode mask of the session (D14); none inherits the daemon's. Honoured on Linux only.
    pub umask: Option<u32>,
}

/// Starts handlers and sees them to their end. Cheap to clone; clones share the count of children.
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
}

impl Default for Runner {
    fn default() -> Runner {
        Runner::new()
    }
}

impl Runner {
    /// A runner without children. Sees to it that the process does not ignore SIGCHLD, which would make the
    /// kernel throw exit statuses away.
    #[must_use]
    pub fn new() -> Runner {
        spawn::keep_exit_statuses();
        Runner { shared: Arc::new(Shared { children: Arc::default(), umask: spawn::own_umask() }) }
    }

    /// Children started and not yet reaped.
    #[must_use]
    pub fn children(&self) -> usize {
        self.shared.children.load(Ordering::Acquire)
    }

    /// Runs one handler to its end. Needs a tokio runtime with I/O and time.
    ///
    /// Dropping the future kills the process tree at once; the reaping goes on in a task of its own.
    pub async fn run(&self, run: Run, cancel: &CancellationToken) -> Outcome {
        let asked = Instant::now();
        let launched = match launch(&self.shared, &run, asked, cancel).await {
            Ok(launched) => launched,
            Err(end) => {
                tracing::debug!(?end, program = ?run.program, "handler not started");
                return Outcome { queued: asked.elapsed(), ..Outcome::without_process(end) };
            }
        };
        let queued = launched.started.saturating_duration_since(asked);
        let outcome = drive::drive(launched, run.timeout, cancel).await;
        Outcome { queued, ..outcome }
    }
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
