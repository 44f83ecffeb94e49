//! One payload to a persistent process and its answer back.
//!
//! Guarantees: cancel and deadline are looked at before the streams, and a line that is there at the deadline counts, as
//! an exit status does; whatever ends the exchange without a line kills
//! the process or finds it ended; a line that came before the payload was read is nobody's answer.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use hooksd_protocol::outcome::{Captured, End};
use nix::errno::Errno;
use tokio::io::unix::AsyncFd;
use tokio::task::coop::consume_budget;
use tokio_util::sync::CancellationToken;

use super::limits::LINGER;
use super::line::Heard;
use super::worker::Worker;
use crate::exit::Status;
use crate::limits::{KILL_WAIT, OUTPUT_GRACE};

/// How an exchange ended.
#[derive(Debug)]
pub(crate) enum Ending {
    /// With a line, and nothing else.
    Answered,
    /// With more than a line, or with a line before the payload was read: the process is not to be used again.
    OutOfStep,
    /// The process ended, was killed because time was up, or because nobody wants the answer.
    Ended(End),
}

/// What an exchange came to.
#[derive(Debug)]
pub(crate) struct Exchanged {
    pub(crate) ending: Ending,
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
    /// Not a byte of the payload was read: another process may have it.
    pub(crate) untouched: bool,
    /// Something still held the pipes of a process that ended (D1).
    pub(crate) left_open: bool,
}

/// What happened.
enum Input {
    Cancelled,
    Deadline,
    Said,
    Complained,
    Fed,
    Exited(Status),
}

impl Worker {
    /// Sends a line and waits for one.
    pub(crate) async fn exchange(
        &mut self,
        line: &[u8],
        deadline: Instant,
        cancel: &CancellationToken,
    ) -> Exchanged {
        let (mut said, mut complained) = (Heard::new(self.cap), Heard::new(self.cap));
        let mut written = 0;
        // All of most payloads fits into the pipe.
        let mut feeding = write_some(self.stdin.get_ref(), line, &mut written);
        let (mut stdout_open, mut stderr_open) = (true, true);
        let timer = tokio::time::sleep_until(deadline.into());
        tokio::pin!(timer);
        let status = loop {
            let input = tokio::select! {
                biased;
                () = cancel.cancelled() => Input::Cancelled,
                () = &mut timer => Input::Deadline,
                open = hear(&self.stdout, &mut said), if stdout_open => {
                    stdout_open = open;
                    Input::Said
                }
                open = hear(&self.stderr, &mut complained), if stderr_open => {
                    stderr_open = open;
                    Input::Complained
                }
                more = feed(&self.stdin, line, &mut written), if feeding => {
                    feeding = more;
                    Input::Fed
                }
                status = self.child.exited() => Input::Exited(status),
            };
            match input {
                Input::Said if said.has_line() => break None,
                Input::Said | Input::Complained | Input::Fed => {}
                Input::Exited(status) => break Some(end_of(status)),
                // It may have answered just before, while the daemon was too busy or stopped to hear it.
                Input::Deadline if answered_just_before(self.stdout.get_ref(), &mut said) => break None,
                // It may have ended just before: then its own status counts.
                Input::Cancelled | Input::Deadline => match self.child.try_reap() {
                    Some(status) => break Some(end_of(status)),
                    None => {
                        self.child.kill();
                        let _ = tokio::time::timeout(KILL_WAIT, self.child.exited()).await;
                        last_look(self.stdout.get_ref(), &mut said);
                        last_look(self.stderr.get_ref(), &mut complained);
                        let end =
                            if matches!(input, Input::Deadline) { End::TimedOut } else { End::Cancelled };
                        return Exchanged {
                            ending: Ending::Ended(end),
                            stdout: said.into_all(),
                            stderr: complained.into_all(),
                            untouched: false,
                            left_open: false,
                        };
                    }
                },
            }
        };
        let unread = hooksd_system::unread(self.stdin.get_ref()).unwrap_or(0);
        let untouched = unread >= written as u64;
        let Some(end) = status else {
            if self.served == 0 {
                self.linger(&mut said).await;
            }
            self.served += 1;
            last_look(self.stderr.get_ref(), &mut complained);
            let all_read = unread == 0 && written == line.len();
            let in_step = all_read && !said.has_more();
            // Out of step, all of it is its output, as it would be per event: nobody knows which line is meant.
            let stdout = if in_step { said.into_line() } else { said.into_all() };
            let ending = if in_step { Ending::Answered } else { Ending::OutOfStep };
            return Exchanged { ending, stdout, stderr: complained.into_all(), untouched, left_open: false };
        };
        let left_open = self.drain((&mut said, stdout_open), (&mut complained, stderr_open)).await;
        Exchanged {
            ending: if said.has_line() && !said.has_more() { Ending::Answered } else { Ending::Ended(end) },
            stdout: said.into_all(),
            stderr: complained.into_all(),
            untouched,
            left_open,
        }
    }

    /// Listens on after the first answer of a new process.
    async fn linger(&mut self, said: &mut Heard) {
        let listen = async { while !said.has_more() && hear(&self.stdout, said).await {} };
        // Silence is what is hoped for.
        let _ = tokio::time::timeout(LINGER, listen).await;
    }

    /// Reads what an ended process has left in its pipes. True when something still holds one of them (D1).
    async fn drain(&mut self, stdout: (&mut Heard, bool), stderr: (&mut Heard, bool)) -> bool {
        let ((said, mut stdout_open), (complained, mut stderr_open)) = (stdout, stderr);
        let grace = tokio::time::sleep(OUTPUT_GRACE);
        tokio::pin!(grace);
        while stdout_open || stderr_open {
            tokio::select! {
                open = hear(&self.stdout, said), if stdout_open => stdout_open = open,
                open = hear(&self.stderr, complained), if stderr_open => stderr_open = open,
                () = &mut grace => return true,
            }
        }
        false
    }
}

/// One read when there is something to read. False at the end of the stream.
async fn hear(pipe: &AsyncFd<OwnedFd>, heard: &mut Heard) -> bool {
    consume_budget().await;
    loop {
        let Ok(mut ready) = pipe.readable().await else { return false };
        match heard.read(pipe.get_ref()) {
            Ok(0) => return false,
            Ok(_) => return true,
            Err(Errno::EINTR) => {}
            Err(Errno::EAGAIN) => ready.clear_ready(),
            Err(_) => return false,
        }
    }
}

/// Writes on when there is room. False when all is written or nobody reads any more.
async fn feed(pipe: &AsyncFd<OwnedFd>, line: &[u8], written: &mut usize) -> bool {
    consume_budget().await;
    let Ok(mut ready) = pipe.writable().await else { return false };
    let more = write_some(pipe.get_ref(), line, written);
    if more {
        ready.clear_ready();
    }
    more
}

/// Writes until the pipe is full. False when all is written or nobody reads any more.
fn write_some(pipe: &OwnedFd, line: &[u8], written: &mut usize) -> bool {
    while let Some(rest) = line.get(*written..).filter(|rest| !rest.is_empty()) {
        match nix::unistd::write(pipe, rest) {
            Ok(count) => *written += count,
            Err(Errno::EINTR) => {}
            Err(Errno::EAGAIN) => return true,
            // EPIPE above all: it has ended, which is noticed elsewhere.
            Err(_) => return false,
        }
    }
    false
}

/// Whether the answer is in the pipe already.
fn answered_just_before(pipe: &OwnedFd, said: &mut Heard) -> bool {
    last_look(pipe, said);
    said.has_line()
}

/// Reads what is there right now.
fn last_look(pipe: &OwnedFd, heard: &mut Heard) {
    let mut read = 0;
    while let Ok(count @ 1..) = heard.read(pipe) {
        read += count;
        if read > crate::limits::LAST_LOOK {
            return;
        }
    }
}

fn end_of(status: Status) -> End {
    match status {
        Status::Code(code) => End::Exited(code),
        Status::Signal(signal) => End::Signaled(signal),
        Status::Lost => End::LaunchFailed {
            message: "its exit status is lost: something else in the daemon reaped it; please report this"
                .to_owned(),
        },
    }
}

impl Exchanged {
    /// How the event's run ended.
    pub(crate) fn end(&self) -> End {
        match &self.ending {
            Ending::Answered | Ending::OutOfStep => End::Exited(0),
            Ending::Ended(end) => end.clone(),
        }
    }

    /// From the payload to this moment.
    pub(crate) fn outcome(
        self,
        ran_in_instead: Option<String>,
        duration: Duration,
        queued: Duration,
    ) -> hooksd_protocol::outcome::Outcome {
        hooksd_protocol::outcome::Outcome {
            end: self.end(),
            stdout: self.stdout,
            stderr: self.stderr,
            output_left_open: self.left_open,
            ran_in_instead,
            duration,
            queued,
            spawn: Duration::ZERO,
            drain: Duration::ZERO,
        }
    }
}
