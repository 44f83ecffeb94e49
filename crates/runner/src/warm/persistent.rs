//! An event's way through a persistent process: gate, process, exchange, and what is learned from it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hooksd_protocol::outcome::{End, Outcome};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use super::exchange::{Ending, Exchanged};
use super::health::Fitness;
use super::limits::{FAILURES_MOST, MOST_QUEUED};
use super::line::as_line;
use super::shelf::Gate;
use super::worker::{Found, Worker, quote};
use super::{Answer, Key, Remark, Warm, Went, lock, place};
use crate::job::Job;
use crate::limits::LONGEST_TIMEOUT;

/// What an event wants of a persistent handler.
#[derive(Debug)]
pub struct Ask<'a> {
    /// What the process was or will be started for.
    pub key: &'a Key,
    /// The session that holds it; none for an event without one.
    pub owner: Option<&'a str>,
    /// Processes at most.
    pub workers: u8,
    /// One JSON object.
    pub payload: &'a [u8],
    /// From the payload to the answer; also the longest wait for a process.
    pub timeout: Duration,
}

/// An event on its way.
struct Event<'a> {
    warm: &'a Warm,
    key: &'a Key,
    slot: u64,
    remarks: Vec<Remark>,
}

/// A process for the event, and whether it was there before.
enum Process {
    Here(Box<Worker>, bool),
    None,
    NotStarted(End),
}

impl Warm {
    /// Runs an event through a persistent process. `spec` says how to start one: its folder, environment and output
    /// cap count, its payload does not.
    pub async fn persistent(
        &self,
        ask: Ask<'_>,
        spec: impl Fn() -> Job,
        cancel: &CancellationToken,
    ) -> Answer {
        let asked = Instant::now();
        let deadline = asked + ask.timeout.min(LONGEST_TIMEOUT);
        let cold = |remarks| Answer { went: Went::Cold, warm: false, remarks };
        if self.is_stopping() {
            return cold(Vec::new());
        }
        let (slot, gate) = {
            let mut shelf = lock(&self.inner.workers);
            self.end(shelf.take_outdated(ask.key), Vec::new());
            let Some(slot) = shelf.slot(ask.key, ask.owner, usize::from(ask.workers.max(1)), asked) else {
                return cold(Vec::new());
            };
            match slot.health.fitness(asked) {
                Fitness::Fit => {}
                Fitness::Resting => return cold(Vec::new()),
                Fitness::Unfit => return cold(vec![fell_back()]),
            }
            (slot.id, slot.gate.clone())
        };
        let _one_of_the_workers = match pass(&gate, deadline, cancel).await {
            Ok(Some(permit)) => permit,
            Ok(None) => return cold(Vec::new()),
            Err(end) => {
                let outcome = Outcome { queued: asked.elapsed(), ..Outcome::without_process(end) };
                return Answer { went: Went::Ran(outcome), warm: false, remarks: Vec::new() };
            }
        };
        let mut event = Event { warm: self, key: ask.key, slot, remarks: Vec::new() };
        let line = as_line(ask.payload);
        loop {
            let (mut worker, was_there) = match event.process(&spec, cancel).await {
                Process::Here(worker, was_there) => (worker, was_there),
                Process::None => return cold(event.remarks),
                Process::NotStarted(end) => {
                    event.failed();
                    let outcome = Outcome { queued: asked.elapsed(), ..Outcome::without_process(end) };
                    return Answer { went: Went::Ran(outcome), warm: false, remarks: event.remarks };
                }
            };
            let sent = Instant::now();
            let deadline = sent + ask.timeout.min(LONGEST_TIMEOUT);
            let exchanged = worker.exchange(&line, deadline, cancel).await;
            let duration = sent.elapsed();
            let queued = sent.saturating_duration_since(asked);
            let ran_in_instead = worker.ran_in_instead.clone();
            let again = event.settle(*worker, &exchanged, was_there).await;
            match again {
                Again::No => {
                    let outcome = exchanged.outcome(ran_in_instead, duration, queued);
                    return Answer { went: Went::Ran(outcome), warm: was_there, remarks: event.remarks };
                }
                Again::Cold => return cold(event.remarks),
                Again::Anew => {}
            }
        }
    }
}

/// Whether the payload is still to be given to somebody.
enum Again {
    No,
    /// To another persistent process.
    Anew,
    Cold,
}

impl Event<'_> {
    /// A process that waits, or a new one.
    async fn process(&mut self, spec: &impl Fn() -> Job, cancel: &CancellationToken) -> Process {
        let inner = &self.warm.inner;
        loop {
            let idle = lock(&inner.workers).known(self.key, self.slot).and_then(|slot| slot.take());
            let Some(mut worker) = idle else { break };
            match worker.look() {
                Found::Ready => {
                    self.succeeded();
                    return Process::Here(Box::new(worker), true);
                }
                Found::Ended => self.succeeded(),
                Found::OutOfStep(said) => {
                    let what = format!("printed {said} after its answer");
                    self.remarks.push(Remark::OutOfStep(what));
                    self.failed();
                    inner.tasks.spawn(worker.kill());
                }
            }
        }
        if self.fitness() != Fitness::Fit {
            return Process::None;
        }
        let room = place(&inner.worker_places, &inner.workers, |worker| worker.place.take());
        let Some((place, evicted)) = room else { return Process::None };
        if let Some(evicted) = evicted {
            self.warm.retire(evicted);
        }
        self.warm.begin_sweeping();
        match Worker::start(&inner.launcher, &spec(), place, cancel).await {
            Ok(worker) => Process::Here(Box::new(worker), false),
            Err(end) => Process::NotStarted(end),
        }
    }

    /// Puts the process back or ends it, and learns from what has happened.
    async fn settle(&mut self, worker: Worker, exchanged: &Exchanged, was_there: bool) -> Again {
        let inner = &self.warm.inner;
        match &exchanged.ending {
            Ending::Answered => {
                let left = lock(&inner.workers).put(self.key, self.slot, worker, Instant::now());
                if let Some(left) = left {
                    self.warm.retire(left);
                }
                Again::No
            }
            Ending::OutOfStep => {
                inner.tasks.spawn(worker.kill());
                let said = quote(&exchanged.stdout.bytes);
                let what = if exchanged.untouched {
                    format!("printed {said} before it had read the payload")
                } else {
                    format!("printed more than one line for one payload: {said}")
                };
                self.remarks.push(Remark::OutOfStep(what));
                self.failed();
                match (exchanged.untouched, was_there) {
                    (false, _) => Again::No,
                    (true, true) => Again::Anew,
                    (true, false) => Again::Cold,
                }
            }
            // It ended on its own account, before it knew of this event.
            Ending::Ended(End::Exited(_) | End::Signaled(_)) if exchanged.untouched && was_there => {
                Again::Anew
            }
            Ending::Ended(End::Cancelled) => Again::No,
            // A block is an answer.
            Ending::Ended(End::Exited(2)) => Again::No,
            Ending::Ended(_) => {
                self.failed();
                Again::No
            }
        }
    }

    fn fitness(&self) -> Fitness {
        let mut shelf = lock(&self.warm.inner.workers);
        shelf.known(self.key, self.slot).map_or(Fitness::Fit, |slot| slot.health.fitness(Instant::now()))
    }

    fn succeeded(&self) {
        if let Some(slot) = lock(&self.warm.inner.workers).known(self.key, self.slot) {
            slot.health.succeeded();
        }
    }

    fn failed(&mut self) {
        let mut shelf = lock(&self.warm.inner.workers);
        let Some(slot) = shelf.known(self.key, self.slot) else { return };
        if slot.health.failed(Instant::now()) {
            self.remarks.push(fell_back());
        }
    }
}

fn fell_back() -> Remark {
    Remark::FellBack(format!(
        "it failed as a persistent process {FAILURES_MOST} times in a row and runs per event until the \
         configuration changes"
    ))
}

/// Waits for one of the workers. `None` when too many wait already.
async fn pass(
    gate: &Arc<Gate>,
    deadline: Instant,
    cancel: &CancellationToken,
) -> Result<Option<OwnedSemaphorePermit>, End> {
    if let Ok(permit) = gate.workers.clone().try_acquire_owned() {
        return Ok(Some(permit));
    }
    /// Counts an event as waiting for as long as it does.
    struct Queued<'a>(&'a Gate);
    impl Drop for Queued<'_> {
        fn drop(&mut self) {
            self.0.queued.fetch_sub(1, Ordering::AcqRel);
        }
    }
    let before = gate.queued.fetch_add(1, Ordering::AcqRel);
    let _queued = Queued(gate);
    if before >= MOST_QUEUED {
        return Ok(None);
    }
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(End::Cancelled),
        permit = gate.workers.clone().acquire_owned() => Ok(permit.ok()),
        () = tokio::time::sleep_until(deadline.into()) => Err(End::TimedOut),
    }
}
