//! One persistent process between its events.

use std::os::fd::OwnedFd;
use std::time::Duration;

use hooksd_protocol::outcome::End;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tokio::io::unix::AsyncFd;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use super::line::Heard;
use crate::child::Child;
use crate::job::Job;
use crate::launch::Launcher;
use crate::limits::KILL_WAIT;
use crate::stream::Feed;

/// Bytes quoted of what a process has printed out of step.
const QUOTED: usize = 80;

/// A process that answers one payload after the other.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(super) child: Child,
    pub(super) stdin: AsyncFd<OwnedFd>,
    pub(super) stdout: AsyncFd<OwnedFd>,
    pub(super) stderr: AsyncFd<OwnedFd>,
    pub(super) ran_in_instead: Option<String>,
    /// Bytes kept of each stream during an event.
    pub(super) cap: usize,
    /// Payloads answered.
    pub(super) served: u64,
    /// Its share of the processes that may be alive.
    pub(super) place: Option<OwnedSemaphorePermit>,
}

/// How a process is found when the next event wants it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Waiting.
    Ready,
    /// It has ended by itself.
    Ended,
    /// It has said something that nobody asked for; the text quotes it.
    OutOfStep(String),
}

impl Worker {
    /// Starts one. Waits out shortages as any launch does, within the job's time.
    pub(crate) async fn start(
        launcher: &Launcher,
        job: &Job,
        place: OwnedSemaphorePermit,
        cancel: &CancellationToken,
    ) -> Result<Worker, End> {
        let launched = launcher.launch_with(Feed::held, job, None, cancel).await?;
        let pipes = (launched.stdin.into_pipe(), launched.stdout.into_pipe(), launched.stderr.into_pipe());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            let message = "its pipes were closed before it began; please report this".to_owned();
            return Err(End::LaunchFailed { message });
        };
        Ok(Worker {
            child: launched.child,
            stdin,
            stdout,
            stderr,
            ran_in_instead: launched.ran_in_instead,
            cap: job.template.output_cap,
            served: 0,
            place: Some(place),
        })
    }

    /// Looks at an idle process: what it has written to stderr since its answer is thrown away.
    pub(crate) fn look(&mut self) -> Found {
        let mut fds = [
            PollFd::new(borrow(&self.stdout), PollFlags::POLLIN),
            PollFd::new(borrow(&self.stderr), PollFlags::POLLIN),
        ];
        let quiet = poll(&mut fds, PollTimeout::ZERO).is_ok_and(|ready| ready == 0);
        if quiet {
            return Found::Ready;
        }
        let mut said = Heard::new(QUOTED);
        while said.read(self.stdout.get_ref()).is_ok_and(|count| count > 0) {}
        let said = said.into_all();
        if said.total > 0 {
            return Found::OutOfStep(quote(&said.bytes));
        }
        if self.has_ended() {
            return Found::Ended;
        }
        let mut noise = Heard::new(0);
        while noise.read(self.stderr.get_ref()).is_ok_and(|count| count > 0) {}
        Found::Ready
    }

    /// Whether it has ended by itself; it is reaped then.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_reap().is_some()
    }

    /// Ends a process that serves nobody: the end of its stdin, a moment, then force.
    pub(crate) async fn retire(self, grace: Duration) {
        let Worker { mut child, stdin, stdout, stderr, place, .. } = self;
        if child.try_reap().is_none() {
            drop(stdin);
            if tokio::time::timeout(grace, child.exited()).await.is_err() {
                child.kill();
                let _ = tokio::time::timeout(KILL_WAIT, child.exited()).await;
            }
        }
        drop((stdout, stderr, place));
    }

    /// Kills its tree and waits a moment for it to be reaped; after that somebody else does.
    pub(crate) async fn kill(mut self) {
        if self.child.try_reap().is_none() {
            self.child.kill();
            let _ = tokio::time::timeout(KILL_WAIT, self.child.exited()).await;
        }
    }
}

fn borrow(pipe: &AsyncFd<OwnedFd>) -> std::os::fd::BorrowedFd<'_> {
    use std::os::fd::AsFd;
    pipe.get_ref().as_fd()
}

/// The beginning of it on one line, with control characters escaped.
pub(crate) fn quote(bytes: &[u8]) -> String {
    let bytes = bytes.get(..bytes.len().min(QUOTED)).unwrap_or_default();
    format!("{:?}", String::from_utf8_lossy(bytes))
}
