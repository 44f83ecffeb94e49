//! A process per event, started ahead and waiting on stdin. From the payload on it is an ordinary run.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use super::health::Fitness;
use super::limits::FAILURES_MOST;
use super::{Answer, Key, Remark, Warm, Went, lock, place};
use crate::drive::drive;
use crate::job::Job;
use crate::launch::Launched;
use crate::limits::{KILL_WAIT, LONGEST_TIMEOUT};
use crate::stream::Feed;

/// A process that waits for its event.
#[derive(Debug)]
pub(crate) struct Waiting {
    launched: Launched,
    /// The folder it runs in, as it was then.
    folder: Option<(u64, u64)>,
    place: Option<OwnedSemaphorePermit>,
}

impl Waiting {
    /// Whether it has ended by itself; it is reaped then.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.launched.child.try_reap().is_some()
    }

    /// Kills its tree and waits a moment for it to be reaped; after that somebody else does.
    pub(crate) async fn kill(mut self) {
        if !self.has_ended() {
            self.launched.child.kill();
            let _ = tokio::time::timeout(KILL_WAIT, self.launched.child.exited()).await;
        }
    }
}

/// Which folder stands at a path now.
fn identity(folder: &Path) -> Option<(u64, u64)> {
    #[allow(clippy::unnecessary_cast, reason = "the types differ from system to system")]
    nix::sys::stat::stat(folder).ok().map(|stat| (stat.st_dev as u64, stat.st_ino as u64))
}

impl Warm {
    /// Runs an event in a process that waits for it, if there is one; `job` has its payload. Afterwards one
    /// is started for the next event, and as many as `ahead` may wait.
    pub async fn prewarmed(
        &self,
        key: &Key,
        owner: Option<&str>,
        ahead: u8,
        job: &Job,
        cancel: &CancellationToken,
    ) -> Answer {
        let cold = |remarks| Answer { went: Went::Cold, warm: false, remarks };
        let asked = Instant::now();
        if self.is_stopping() || job.refusal(cancel).is_some() {
            return cold(Vec::new());
        }
        let slot = {
            let mut shelf = lock(&self.inner.waiting);
            self.end(Vec::new(), shelf.take_outdated(key));
            let Some(slot) = shelf.slot(key, owner, usize::from(ahead.max(1)), asked) else {
                return cold(Vec::new());
            };
            if slot.health.fitness(asked) == Fitness::Unfit {
                return cold(vec![fell_back()]);
            }
            slot.id
        };
        let mut remarks = Vec::new();
        let Some(waiting) = self.take(key, slot, job, &mut remarks) else {
            self.refill(key, slot, ahead, job);
            return cold(remarks);
        };
        let Waiting { mut launched, place, .. } = waiting;
        // The place is for those that wait.
        drop(place);
        let fed = launched.stdin.into_pipe().map(|pipe| Feed::new(pipe.into_inner(), job.stdin.clone()));
        launched.stdin = match fed {
            Some(Ok(feed)) => feed,
            // Nobody reads: as if it had all been read.
            Some(Err(_)) | None => Feed::closed(),
        };
        (launched.started, launched.spawn) = (Instant::now(), Duration::ZERO);
        let end = launched.started + job.timeout.min(LONGEST_TIMEOUT);
        let outcome =
            drive(launched, job.template.deadline.map_or(end, |deadline| deadline.min(end)), cancel).await;
        self.refill(key, slot, ahead, job);
        Answer { went: Went::Ran(outcome), warm: true, remarks }
    }

    /// A process that still waits, in the folder that is there now.
    fn take(&self, key: &Key, slot: u64, job: &Job, remarks: &mut Vec<Remark>) -> Option<Waiting> {
        loop {
            let mut waiting = lock(&self.inner.waiting).known(key, slot)?.take()?;
            if waiting.has_ended() {
                // It does not wait for stdin: started ahead it has done its work without the event.
                let now = Instant::now();
                let fell = lock(&self.inner.waiting).known(key, slot)?.health.failed(now);
                if fell {
                    remarks.push(fell_back());
                }
                continue;
            }
            if waiting.folder.is_some() && waiting.folder == identity(&job.template.cwd) {
                if let Some(slot) = lock(&self.inner.waiting).known(key, slot) {
                    slot.health.succeeded();
                }
                return Some(waiting);
            }
            self.inner.tasks.spawn(waiting.kill());
        }
    }

    /// Starts one for the next event, in the background.
    fn refill(&self, key: &Key, slot: u64, ahead: u8, job: &Job) {
        let fit = lock(&self.inner.waiting).known(key, slot).is_some_and(|slot| {
            slot.idle() < usize::from(ahead.max(1)) && slot.health.fitness(Instant::now()) != Fitness::Unfit
        });
        if !fit || self.is_stopping() {
            return;
        }
        let room = place(&self.inner.waiting_places, &self.inner.waiting, |waiting| waiting.place.take());
        let Some((place, evicted)) = room else { return };
        self.end(Vec::new(), evicted.into_iter().collect());
        self.begin_sweeping();
        let (warm, key, mut job) = (self.clone(), key.clone(), job.clone());
        self.inner.tasks.spawn(async move {
            let folder = identity(&job.template.cwd);
            let stop = &warm.inner.stopping;
            // The deadline is that of the event that has just ended.
            Arc::make_mut(&mut job.template).deadline = None;
            let launcher = &warm.inner.launcher;
            let Ok(launched) = launcher.launch_with(Feed::held, &job, None, stop).await else {
                // The event itself will say why it cannot be started.
                return;
            };
            // In a folder other than its own it would only do for an event that has lost its folder too.
            let folder = folder.filter(|_| launched.ran_in_instead.is_none());
            let waiting = Waiting { launched, folder, place: Some(place) };
            let left = if warm.is_stopping() {
                Some(waiting)
            } else {
                lock(&warm.inner.waiting).put(&key, slot, waiting, Instant::now())
            };
            if let Some(left) = left {
                left.kill().await;
            }
        });
    }
}

fn fell_back() -> Remark {
    Remark::FellBack(format!(
        "it did not wait for its event {FAILURES_MOST} times in a row and is no longer started ahead until the \
         configuration changes"
    ))
}
