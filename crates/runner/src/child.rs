//! A running child. It owns the process: whatever happens to its owner, the process tree does not outlive it
//! and no zombie is left.
//!
//! Guarantee: a signal is sent only while the child is not reaped, so never to a recycled id.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::runtime::Handle;

use crate::environment::Mark;
use crate::exit::{Notice, Status, try_reap};
use crate::family::Birth;
use crate::limits::LAST_REAP;
use crate::slots::Place;
use crate::{clean, tree};

/// Counts one child from its spawn to its reaping.
#[derive(Debug)]
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(children: &Arc<AtomicUsize>) -> Counted {
        children.fetch_add(1, Ordering::AcqRel);
        Counted(Arc::clone(children))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A child that is not reaped yet. Dropped so, it is waited for on the spot.
#[derive(Debug)]
struct Unreaped {
    pid: Pid,
    notice: Notice,
    reaped: bool,
    /// What finds those of its descendants that its own end does not reach.
    mark: Mark,
    _counted: Counted,
    /// Held until the process is no more, not only until the answer.
    _place: Option<Arc<Place>>,
}

impl Unreaped {
    async fn exited(&mut self) -> Status {
        let status = self.notice.exited(self.pid).await;
        self.reaped = true;
        status
    }

    fn try_reap(&mut self) -> Option<Status> {
        let status = try_reap(self.pid);
        self.reaped |= status.is_some();
        status
    }
}

impl Drop for Unreaped {
    /// Only reached unreaped when there is no runtime (any more) to wait in; the child has been killed.
    fn drop(&mut self) {
        let until = Instant::now() + LAST_REAP;
        while !self.reaped && self.try_reap().is_none() {
            if Instant::now() >= until {
                tracing::warn!(pid = self.pid.as_raw(), "killed handler does not die");
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A child, leader of a session and of a process group of its own.
#[derive(Debug)]
pub(crate) struct Child {
    /// None once it is reaped or handed over.
    body: Option<Unreaped>,
}

impl Child {
    /// Takes charge of a process just spawned.
    pub(crate) fn new(
        pid: Pid,
        birth: Birth,
        mark: Mark,
        children: &Arc<AtomicUsize>,
        place: Option<Arc<Place>>,
    ) -> Child {
        birth.brings(pid);
        let (notice, _counted) = (Notice::new(pid), Counted::new(children));
        Child { body: Some(Unreaped { pid, notice, reaped: false, mark, _counted, _place: place }) }
    }

    /// Waits until it ends by itself or by a kill, and reaps it. Never returns for a child already reaped.
    pub(crate) async fn exited(&mut self) -> Status {
        let Some(body) = &mut self.body else { return std::future::pending().await };
        let status = body.exited().await;
        self.body = None;
        status
    }

    /// Reaps it if it has ended.
    pub(crate) fn try_reap(&mut self) -> Option<Status> {
        let status = self.body.as_mut()?.try_reap()?;
        self.body = None;
        Some(status)
    }

    /// Kills its whole process tree, unless it is reaped. What has left the tree is looked for in the background.
    pub(crate) fn kill(&self) {
        if let Some(body) = &self.body {
            // Looked up first: once the group is dead its children belong to somebody else.
            let strays = tree::strays(body.pid);
            // The group exists as long as its leader is not reaped; an error means that all of it is dead.
            let _ = killpg(body.pid, Signal::SIGKILL);
            strays.kill();
            clean::clean(&body.mark);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.body.is_none() || self.try_reap().is_some() {
            return;
        }
        self.kill();
        let Some(mut body) = self.body.take() else { return };
        if body.try_reap().is_some() {
            return;
        }
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { body.exited().await });
        }
    }
}
