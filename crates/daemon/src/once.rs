//! Exactly once: the same (snapshot, invocation id) delivered again, also while the first is running, runs nothing
//! and gets the same answer (BEHAVIOUR section 10). The same id with other content is refused (D21).

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hooksd_protocol::methods::InvokeResult;
use hooksd_protocol::rpc::{RpcError, error_code};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// How many answers a session remembers. Entries. A retry comes within seconds; the oldest are forgotten first.
const MAX_REMEMBERED: usize = 256;

/// What a finished execution says.
pub(crate) type Answer = Result<Arc<InvokeResult>, RpcError>;

/// One running or finished execution of an event.
pub(crate) struct Execution {
    /// What was asked, to tell a repetition from another event under the same id.
    content: String,
    answer: watch::Sender<Option<Answer>>,
    /// Stops the run.
    pub(crate) cancel: CancellationToken,
    waiters: AtomicUsize,
}

impl Execution {
    fn new(content: String, cancel: CancellationToken) -> Arc<Execution> {
        let (answer, _) = watch::channel(None);
        Arc::new(Execution { content, answer, cancel, waiters: AtomicUsize::new(0) })
    }

    fn finished(&self) -> bool {
        self.answer.borrow().is_some()
    }
}

/// Says the answer to everybody who waits, at the latest when it is dropped: a run that is lost to a fault of ours
/// is an error for its waiters, not a wait without end, and its next delivery is a first one.
pub(crate) struct Finisher {
    execution: Arc<Execution>,
    /// Where the execution is known, and by what.
    memory: Option<(Arc<Once>, Key)>,
}

impl Finisher {
    pub(crate) fn new(execution: Arc<Execution>, memory: Option<(Arc<Once>, Key)>) -> Finisher {
        Finisher { execution, memory }
    }

    /// `keep`: the answer is worth repeating.
    pub(crate) fn finish(mut self, answer: Answer, keep: bool) {
        if keep && let Some((once, key)) = self.memory.take() {
            once.remember(key, &self.execution);
        }
        self.forget();
        self.execution.answer.send_replace(Some(answer));
    }

    fn forget(&mut self) {
        if let Some((once, key)) = self.memory.take() {
            once.forget(&key, &self.execution);
        }
    }
}

impl Drop for Finisher {
    fn drop(&mut self) {
        self.forget();
        if !self.execution.finished() {
            let error = RpcError::new(
                error_code::INTERNAL_ERROR,
                "the event was lost inside the daemon; please report this",
            );
            self.execution.answer.send_replace(Some(Err(error)));
        }
    }
}

/// Somebody who waits for an execution. When the last one leaves before the end, the run is stopped.
pub(crate) struct Waiter {
    execution: Arc<Execution>,
    stops: bool,
}

impl Waiter {
    fn new(execution: Arc<Execution>) -> Waiter {
        execution.waiters.fetch_add(1, Ordering::AcqRel);
        Waiter { execution, stops: true }
    }

    /// Waits for the end.
    pub(crate) async fn answer(&self) -> Option<Answer> {
        let mut answer = self.execution.answer.subscribe();
        answer.wait_for(Option::is_some).await.ok().and_then(|answer| answer.clone())
    }

    /// Leaves without stopping the run (D11).
    pub(crate) fn leave_running(mut self) {
        self.stops = false;
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let last = self.execution.waiters.fetch_sub(1, Ordering::AcqRel) == 1;
        if last && self.stops && !self.execution.finished() {
            self.execution.cancel.cancel();
        }
    }
}

/// What a delivery is.
pub(crate) enum Delivery {
    /// The first: run it, and wait.
    First(Arc<Execution>, Waiter),
    /// A repetition: wait.
    Repeated(Waiter),
    /// The same id with other content.
    Conflict,
}

impl Delivery {
    fn first(execution: Arc<Execution>) -> Delivery {
        let waiter = Waiter::new(execution.clone());
        Delivery::First(execution, waiter)
    }

    /// One that cannot be repeated: its request has no id to repeat it by.
    pub(crate) fn only(cancel: CancellationToken) -> Delivery {
        Delivery::first(Execution::new(String::new(), cancel))
    }
}

type Key = (String, Uuid);

/// The executions of one session.
#[derive(Default)]
pub(crate) struct Once {
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    by_key: HashMap<Key, Arc<Execution>>,
    /// Those with an answer, oldest first. The running ones are as many as the requests in flight, which are bounded.
    finished: VecDeque<Key>,
}

impl Once {
    /// Takes a delivery in.
    pub(crate) fn deliver(&self, key: &Key, content: String, cancel: CancellationToken) -> Delivery {
        let mut entries = self.lock();
        if let Some(execution) = entries.by_key.get(key) {
            // A run that is being stopped has no answer to share.
            if execution.finished() || !execution.cancel.is_cancelled() {
                if execution.content != content {
                    return Delivery::Conflict;
                }
                return Delivery::Repeated(Waiter::new(execution.clone()));
            }
        }
        let execution = Execution::new(content, cancel);
        entries.by_key.insert(key.clone(), execution.clone());
        Delivery::first(execution)
    }

    /// Keeps the answer of an execution for later deliveries; the oldest that is too much is forgotten.
    pub(crate) fn remember(&self, key: Key, execution: &Arc<Execution>) {
        let mut entries = self.lock();
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
    pub(crate) fn forget(&self, key: &Key, execution: &Arc<Execution>) {
        let mut entries = self.lock();
        if entries.by_key.get(key).is_some_and(|entry| Arc::ptr_eq(entry, execution)) {
            entries.by_key.remove(key);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
