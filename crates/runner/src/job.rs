//! What to run, and how: a program with its input, and what it shares with the other handlers of its event.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hooksd_protocol::outcome::End;
use tokio_util::sync::CancellationToken;

use crate::environment::Environment;
use crate::limits::OUTPUT_CAP;
use crate::rlimits::Rlimits;

/// What a handler runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// A command line for `/bin/sh -c`: never `$SHELL`, never a login shell.
    Shell(String),
    /// A program and its arguments, without a shell. A name without a slash is looked up in the `PATH` of the
    /// handler's environment; a relative path with a slash is relative to the handler's cwd.
    Argv(Vec<String>),
}

/// What all handlers of an event are run with.
#[derive(Debug, Clone)]
pub struct JobTemplate {
    /// The event's cwd, absolute.
    pub cwd: PathBuf,
    /// Folders to run in when `cwd` is gone (D3), best first: the first that can be entered is used, and
    /// [`crate::Outcome::ran_in_instead`] names it.
    pub fallback_cwds: Vec<PathBuf>,
    /// The environment that the handlers share. Nothing of the daemon's is added but the run's mark
    /// ([`crate::RUN_VARIABLE`]).
    pub env: Arc<Environment>,
    /// When the answer is no longer wanted: bounds waiting and running together (D22).
    pub deadline: Option<Instant>,
    /// Bytes kept of each output stream, usually [`crate::OUTPUT_CAP`].
    pub output_cap: usize,
    /// The file mode mask of the session (D14); none inherits the daemon's. Honoured on Linux only.
    pub umask: Option<u32>,
    /// The resource limits of the session (D14); those that are not named are the daemon's. Honoured on Linux only.
    pub rlimits: Rlimits,
    /// Whose handlers they are, usually a session's: lanes take turns when there are too many handlers.
    pub lane: Arc<str>,
    /// How many handlers deep they are asked for (D12): each level has places of its own.
    pub depth: u32,
}

impl JobTemplate {
    /// Handlers run in `cwd` with this environment and nothing special.
    #[must_use]
    pub fn new(cwd: PathBuf, env: Arc<Environment>) -> JobTemplate {
        JobTemplate {
            cwd,
            fallback_cwds: Vec::new(),
            env,
            deadline: None,
            output_cap: OUTPUT_CAP,
            umask: None,
            rlimits: Rlimits::default(),
            lane: Arc::default(),
            depth: 0,
        }
    }
}

/// One handler to run.
#[derive(Debug, Clone)]
pub struct Job {
    /// What it is run with, as the others of its event are.
    pub template: Arc<JobTemplate>,
    /// What to run.
    pub program: Program,
    /// Its own variables, instead of or beside those of the template.
    pub overlay: Vec<(OsString, OsString)>,
    /// What is written to its stdin, byte for byte, before stdin is closed.
    pub stdin: Arc<[u8]>,
    /// The handler's own time limit, counted from its spawn; more than [`crate::LONGEST_TIMEOUT`] is that.
    pub timeout: Duration,
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

impl Job {
    /// How a job without anything to run ends.
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
