//! Exactly once: the same (snapshot, invocation id) delivered again, also while the first is running, runs nothing
//! and gets the same answer (contract section 10). The same id with other content is refused (D21).
//!
//! The first delivery runs the event and has its answer; only a repetition waits for what the first one says.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use hooksd_protocol::methods::InvokeResult;
use hooksd_protocol::rpc::{RpcError, error_code};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::base::lock::lock;

/// How many answers a session remembers. Entries. A retry comes within seconds; the oldest are forgotten first.
const MAX_REMEMBERED: usize = 256;

/// The answer to an event, or the error in its place.
pub(crate) type EventResult = Result<Arc<InvokeResult>, RpcError>;

/// The error for an event that was lost to a fault of ours.
pub(crate) fn lost() -> RpcError {
    RpcError::new(error_code::INTERNAL_ERROR, "the event was lost inside the daemon; please report this")
}

/// What a repetition is told by: the snapshot, and for a session of one event also its thread; the invocation's id.
type Key = (String, Uuid);

/// One running or finished execution that may be asked for again.
struct Execution {
    /// What was asked, to tell a repetition from another event under the same id.
    content: String,
    /// The answer for repetitions, once there is one.
    answer: watch::Sender<Option<EventResult>>,
    /// Stops the run when it is cancelled.
    cancel: CancellationToken,
    /// How many requests want the answer: the first delivery and its repetitions.
    wanted_by: AtomicUsize,
}

impl Execution {
    fn is_finished(&self) -> bool {
        self.answer.borrow().is_some()
    }
}

/// A request's wish for the answer of an execution. When the last one is dropped before the end, the run is stopped.
pub(crate) struct Interest {
    cancel: CancellationToken,
    /// `None` for an event that cannot be asked for again: its request is the only one.
    execution: Option<(Arc<DeliveryCache>, Arc<Execution>)>,
    stops: bool,
}

impl Interest {
    /// Called with the cache's entries locked: nobody can find the execution, or leave it, meanwhile.
    fn of(cache: &Arc<DeliveryCache>, execution: &Arc<Execution>) -> Interest {
        execution.wanted_by.fetch_add(1, Ordering::AcqRel);
        let cancel = execution.cancel.clone();
        Interest { cancel, execution: Some((cache.clone(), execution.clone())), stops: true }
    }

    /// Leaves without stopping the run (D11).
    pub(crate) fn leave_running(mut self) {
        self.stops = false;
    }

    /// The answer is here: there is nothing left to stop.
    pub(crate) fn satisfied(mut self) {
        self.stops = false;
    }
}

impl Drop for Interest {
    fn drop(&mut self) {
        let Some((cache, execution)) = &self.execution else {
            if self.stops {
                self.cancel.cancel();
            }
            return;
        };
        // Under the lock: a repetition either joins before the last one leaves, or finds the run stopped and begins anew.
        let _entries = cache.entries();
        let is_last = execution.wanted_by.fetch_sub(1, Ordering::AcqRel) == 1;
        if is_last && self.stops && !execution.is_finished() {
            self.cancel.cancel();
        }
    }
}

/// The first delivery's duty to tell repetitions the answer; done at the latest when it is dropped, so that a run that
/// is lost to a fault of ours is an error for them, not a wait without end, and the next delivery is a first one.
pub(crate) struct Publisher(Option<(Arc<DeliveryCache>, Key, Arc<Execution>)>);

impl Publisher {
    /// Tells the answer; `keep` says whether it is worth repeating to later deliveries.
    pub(crate) fn publish(mut self, answer: &EventResult, keep: bool) {
        let Some((cache, key, execution)) = self.0.take() else { return };
        if keep {
            cache.remember(key, &execution);
        } else {
            cache.forget(&key, &execution);
        }
        execution.answer.send_replace(Some(answer.clone()));
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        let Some((cache, key, execution)) = self.0.take() else { return };
        cache.forget(&key, &execution);
        execution.answer.send_replace(Some(Err(lost())));
    }
}

/// Somebody who waits for the answer of an execution that another delivery runs.
pub(crate) struct Repetition {
    execution: Arc<Execution>,
    /// Keeps the execution going.
    pub(crate) interest: Interest,
}

impl Repetition {
    /// Waits for the answer of the first delivery.
    pub(crate) async fn answer(&self) -> EventResult {
        let mut answer = self.execution.answer.subscribe();
        let told = answer.wait_for(Option::is_some).await;
        told.ok().and_then(|answer| answer.clone()).unwrap_or_else(|| Err(lost()))
    }
}

/// What a delivery turns out to be.
pub(crate) enum Delivery {
    /// The first: run it, have the answer, and publish it.
    First(Interest, Publisher),
    /// A repetition: wait for the answer of the first.
    Repeated(Repetition),
    /// The same id with other content.
    Conflict,
}

impl Delivery {
    /// One that cannot be repeated: its request has no id to repeat it by.
    pub(crate) fn only(cancel: CancellationToken) -> Delivery {
        Delivery::First(Interest { cancel, execution: None, stops: true }, Publisher(None))
    }
}

/// The executions that may be asked for again, of one session or of all sessions of one event.
#[derive(Default)]
pub(crate) struct DeliveryCache {
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    by_key: HashMap<Key, Arc<Execution>>,
    /// Those with an answer, oldest first. The running ones are as many as the requests in flight, which are bounded.
    finished: VecDeque<Key>,
}

impl DeliveryCache {
    /// Takes a delivery in; `cancel` stops the run if it is the first.
    pub(crate) fn deliver(
        self: &Arc<DeliveryCache>,
        key: Key,
        content: String,
        cancel: &CancellationToken,
    ) -> Delivery {
        let mut entries = self.entries();
        if let Some(execution) = entries.by_key.get(&key) {
            // A run that is being stopped has no answer to share.
            if execution.is_finished() || !execution.cancel.is_cancelled() {
                if execution.content != content {
                    return Delivery::Conflict;
                }
                let (execution, interest) = (execution.clone(), Interest::of(self, execution));
                return Delivery::Repeated(Repetition { execution, interest });
            }
        }
        let (answer, _) = watch::channel(None);
        let execution = Execution { content, answer, cancel: cancel.clone(), wanted_by: AtomicUsize::new(0) };
        let execution = Arc::new(execution);
        let interest = Interest::of(self, &execution);
        entries.by_key.insert(key.clone(), execution.clone());
        drop(entries);
        Delivery::First(interest, Publisher(Some((self.clone(), key, execution))))
    }

    /// Keeps the answer of an execution for later deliveries; the oldest that is too much is forgotten.
    fn remember(&self, key: Key, execution: &Arc<Execution>) {
        let mut entries = self.entries();
        if entries.by_key.get(&key).is_some_and(|entry| Arc::ptr_eq(entry, execution)) {
            entries.finished.push_back(key);
        }
        if entries.finished.len() > MAX_REMEMBERED
            && let Some(oldest) = entries.finished.pop_front()
        {
            entries.by_key.remove(&oldest);
        }
    }

    /// Forgets an execution that has no answer worth repeating.
    fn forget(&self, key: &Key, execution: &Arc<Execution>) {
        let mut entries = self.entries();
        if entries.by_key.get(key).is_some_and(|entry| Arc::ptr_eq(entry, execution)) {
            entries.by_key.remove(key);
        }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        lock(&self.entries)
    }
}
