//! What became of one handler run: plain data, made by the runner, read by the engine: both depend on this crate and not on each other.

use std::time::Duration;

/// How a handler run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The process exited by itself with this status, 0 to 255.
    Exited(i32),
    /// The process was killed by this signal, and not by us.
    Signaled(i32),
    /// Its time ran out; its process tree was killed.
    TimedOut,
    /// The request was cancelled; its process tree was killed.
    Cancelled,
    /// It never got its turn: too many handlers were running until the request's deadline.
    QueuedOut,
    /// The process could not be started.
    LaunchFailed {
        /// What happened, to which program or folder, and what to do; one line for people.
        message: String,
    },
    /// The handler has no command: nothing but white space (BEHAVIOUR section 6, `invalid_command`).
    InvalidCommand,
}

/// One output stream of a handler, kept up to the cap; the rest was read and thrown away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes, at most the cap.
    pub bytes: Vec<u8>,
    /// Bytes written in all, kept or not.
    pub total: u64,
}

impl Captured {
    /// Whether the stream held more than what was kept.
    #[must_use]
    pub fn truncated(&self) -> bool {
        self.total > self.bytes.len() as u64
    }
}

/// What became of one handler run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How the run ended.
    pub end: End,
    /// Standard output. Empty unless the process ran.
    pub stdout: Captured,
    /// Standard error. Empty unless the process ran.
    pub stderr: Captured,
    /// A descendant still held an output pipe when the grace after exit ended (D1).
    pub output_left_open: bool,
    /// The event's cwd was gone and the handler ran elsewhere (D3): the folder it ran in.
    pub ran_in_instead: Option<String>,
    /// From the spawn to the end of the run.
    pub duration: Duration,
    /// From asking for a run to the spawn.
    pub queued: Duration,
    /// The part of `duration` in which the process was started; zero for one that was there already.
    pub spawn: Duration,
    /// The part of `duration` in which the process had ended and its output had not.
    pub drain: Duration,
}

impl Outcome {
    /// An outcome of a run that never started a process.
    #[must_use]
    pub fn without_process(end: End) -> Outcome {
        Outcome {
            end,
            stdout: Captured::default(),
            stderr: Captured::default(),
            output_left_open: false,
            ran_in_instead: None,
            duration: Duration::ZERO,
            queued: Duration::ZERO,
            spawn: Duration::ZERO,
            drain: Duration::ZERO,
        }
    }
}
