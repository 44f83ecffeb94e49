//! The life of one handler as a pure state machine: what happened goes in, what to do comes out. No process,
//! no clock, no descriptor.
//!
//! ```text
//!             Exited, pipes open           EOFs, GraceOver, Deadline, Cancelled
//!   Running ---------------------> Draining ------------------------------------> Done (the exit status)
//!      |  \____ Exited, pipes closed _________________________________________/
//!      | Deadline, Cancelled                Exited, KillWaitOver
//!      +---------------------> Killed ------------------------------------------> Done (TimedOut, Cancelled)
//! ```
//!
//! Guarantees: the exit status of a handler that ended by itself always counts (D1); a tree is killed only
//! while its leader is not reaped; every state has an input that ends it and that does not depend on the
//! handler or on the end of a stream.

use hooksd_protocol::outcome::End;

use crate::exit::Status;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// The payload is written, or nobody reads it.
    Fed,
    /// stdout ended.
    StdoutEof,
    /// stderr ended.
    StderrEof,
    /// The process ended and is reaped.
    Exited(Status),
    /// The handler's time is over, and the process had not ended.
    Deadline,
    /// The time that the pipes have after an exit is over.
    GraceOver,
    /// The time that a killed process has to die is over.
    KillWaitOver,
    /// Nobody wants the answer any more.
    Cancelled,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing but wait for the next input.
    Wait,
    /// Stop feeding, start the grace, wait.
    Drain,
    /// Stop feeding, kill the tree, start the kill wait, wait.
    Kill,
    /// Answer.
    Finish(Verdict),
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// For the outcome.
    pub(crate) end: End,
    /// Somebody else still had an output pipe.
    pub(crate) output_left_open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Draining(Status),
    Killed(Reason),
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    TimedOut,
    Cancelled,
}

/// One handler from its spawn to its answer.
#[derive(Debug)]
pub(crate) struct Supervision {
    state: State,
    stdout_open: bool,
    stderr_open: bool,
}

impl Supervision {
    /// A handler just spawned.
    pub(crate) fn new() -> Supervision {
        Supervision { state: State::Running, stdout_open: true, stderr_open: true }
    }

    /// Takes in what happened and says what to do. Whatever comes after the answer changes nothing.
    pub(crate) fn apply(&mut self, input: Input) -> Step {
        match input {
            Input::StdoutEof => self.stdout_open = false,
            Input::StderrEof => self.stderr_open = false,
            _ => {}
        }
        match (self.state, input) {
            (State::Running, Input::Exited(status)) if self.output_open() => {
                self.state = State::Draining(status);
                Step::Drain
            }
            (State::Running, Input::Exited(status)) => self.finish(end_of(status)),
            (State::Running, Input::Deadline) => self.kill(Reason::TimedOut),
            (State::Running, Input::Cancelled) => self.kill(Reason::Cancelled),

            (State::Draining(status), Input::StdoutEof | Input::StderrEof) if !self.output_open() => {
                self.finish(end_of(status))
            }
            (State::Draining(status), Input::GraceOver | Input::Deadline | Input::Cancelled) => {
                self.finish(end_of(status))
            }

            (State::Killed(reason), Input::Exited(_) | Input::KillWaitOver) => {
                // Whatever holds the pipes now has left the tree; nothing of its output is waited for.
                (self.stdout_open, self.stderr_open) = (false, false);
                self.finish(match reason {
                    Reason::TimedOut => End::TimedOut,
                    Reason::Cancelled => End::Cancelled,
                })
            }
            _ => Step::Wait,
        }
    }

    fn output_open(&self) -> bool {
        self.stdout_open || self.stderr_open
    }

    fn kill(&mut self, reason: Reason) -> Step {
        self.state = State::Killed(reason);
        Step::Kill
    }

    fn finish(&mut self, end: End) -> Step {
        self.state = State::Done;
        Step::Finish(Verdict { end, output_left_open: self.output_open() })
    }
}

fn end_of(status: Status) -> End {
    match status {
        Status::Code(code) => End::Exited(code),
        Status::Signal(signal) => End::Signaled(signal),
        Status::Lost => End::LaunchFailed {
            message:
                "the handler's exit status is lost: something else in the daemon reaped it; report this as \
                      a bug of hooksd"
                    .to_owned(),
        },
    }
}

#[cfg(test)]
#[path = "supervise_tests.rs"]
mod tests;
