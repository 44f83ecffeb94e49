//! Documents kept hot: read once, compiled once, shared by every session that needs them. What was heard of a change
//! is a hint; the bytes are the truth: each look compares the file with what was read, and reads again when in doubt.

mod document;
mod stamp;
pub(crate) mod watch;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use hooksd_config::layers::{Loaded, PluginDocument, compile};
use hooksd_config::read::{Found, MAX_DOCUMENT, bounded};
use hooksd_protocol::diagnostic::Diagnostic;
use hooksd_protocol::rpc::RpcError;
use tokio::sync::Notify;

use self::document::{HotDocument, Observed};
use self::stamp::Stamp;

pub(crate) use self::stamp::Stamp as FileStamp;
use crate::base::lock::lock;

/// One document that somebody uses.
#[derive(Debug)]
pub(crate) struct Slot {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    document: HotDocument,
    /// How often what is served, or said about it, has changed.
    changes: u64,
    /// The file as it was read last; `None` reads again.
    stamp: Option<Stamp>,
    /// When to try again because the system was short of something.
    retry: Option<Instant>,
    last_used: Option<Instant>,
}

/// The system is short of descriptors or memory: what applies to a session cannot be known. What was meant to be
/// read, and why not.
#[derive(Debug)]
pub(crate) struct Shortage(pub(crate) String);

impl From<Shortage> for RpcError {
    fn from(Shortage(reason): Shortage) -> RpcError {
        let message = format!("{reason}: nothing is done without it; try again");
        RpcError::overloaded(message)
    }
}

/// What a look at a document finds.
pub(crate) struct Look {
    /// The version of the document that serves.
    pub(crate) found: Found,
    /// What is wrong with the file, when an older version serves.
    pub(crate) problem: Option<Diagnostic>,
    /// Keeps the document hot.
    pub(crate) slot: Arc<Slot>,
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Compares the file with what was read. True when what is served, or said about it, has changed.
    fn refresh(&self) -> bool {
        loop {
            let (changes, was_good, stamp) = {
                let state = self.lock();
                let stamp = Stamp::of(&self.path);
                if stamp.is_some() && stamp == state.stamp && state.document.look_again().is_none() {
                    return false;
                }
                (state.changes, state.document.is_good(), stamp)
            };
            // Not under the lock: events wait for it, and the thread that hears of changes gives way to others.
            let found = self.read(was_good);
            let short = found.shortage().is_some();
            let observed = Observed::from(found);
            let mut state = self.lock();
            if state.changes != changes {
                // Somebody else has found a change meanwhile, perhaps one that came after this look.
                continue;
            }
            state.retry = short.then(|| Instant::now() + Duration::from_millis(SHORTAGE_RETRY_MS));
            // Stamped before it is read, so that a change in between is noticed by the next look.
            state.stamp = stamp.filter(|stamp| !short && stamp.has_settled());
            let changed = state.document.observe(observed, Instant::now());
            state.changes += u64::from(changed);
            return changed;
        }
    }

    /// Reads the file. Something else in its place, where a good version was, is no deletion: somebody may hide a
    /// guard there, or a mount may be late (D2).
    fn read(&self, was_good: bool) -> Found {
        match bounded(&self.path, MAX_DOCUMENT) {
            Found::Absent if was_good && self.path.symlink_metadata().is_ok() => {
                let reason = "is no regular file any more".to_owned();
                Found::Unreadable { path: self.path.clone(), reason, passing: false }
            }
            found => found,
        }
    }
}

/// How long to wait before a document is read again when the system was short of descriptors or memory. Milliseconds.
const SHORTAGE_RETRY_MS: u64 = 50;

/// How long a request waits for such a shortage to end. Seconds. After that it is refused: going on without the
/// document, or without what is trusted, would lose denies (D5).
const SHORTAGE_SECONDS: u64 = 5;

/// Tries until the system is no longer short of what it takes. Blocks: not for an async thread.
///
/// # Errors
/// The last [`Shortage`], when it has lasted too long.
pub(crate) fn outlast<T>(attempt: impl Fn() -> Result<T, Shortage>) -> Result<T, Shortage> {
    let deadline = Instant::now() + Duration::from_secs(SHORTAGE_SECONDS);
    loop {
        match attempt() {
            Err(_) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(SHORTAGE_RETRY_MS));
            }
            ended => return ended,
        }
    }
}

/// How many documents that no session holds are kept, with their last good version (D2). Documents. The ones used
/// last stay.
const MAX_UNUSED: usize = 1024;

type Compiled = HashMap<String, Weak<Loaded>>;

/// All documents that somebody uses, and what was compiled of them.
#[derive(Default)]
pub(crate) struct Documents {
    slots: Mutex<HashMap<PathBuf, Arc<Slot>>>,
    compiled: Mutex<Compiled>,
    /// Tells the watcher that a document was added.
    added: Notify,
    /// Tells the watcher that somebody else has found a change.
    found: Notify,
    /// Whether somebody else has found a change that the sessions have not been told.
    news: AtomicBool,
    /// When to tell the sessions again, because one could not move for a shortage.
    again: Mutex<Option<Instant>>,
}

impl Documents {
    /// Looks at a document. Reads files: not for an async thread.
    ///
    /// # Errors
    /// [`Shortage`] when the system lacks what it takes to read the file, and no good version of it is known.
    pub(crate) fn look(&self, path: &Path) -> Result<Look, Shortage> {
        let (slot, known) = self.slot(path);
        if slot.refresh() && known {
            // The other sessions must hear of it too, although the watcher will find nothing new.
            self.news.store(true, Ordering::Release);
            self.found.notify_one();
        }
        let (found, problem) = {
            let mut state = slot.lock();
            state.last_used = Some(Instant::now());
            (state.document.serving(), state.document.problem())
        };
        match found.shortage() {
            None => Ok(Look { found, problem, slot }),
            Some(reason) => Err(Shortage(reason)),
        }
    }

    /// Tells the sessions again in a while: one could not move.
    pub(crate) fn tell_again(&self) {
        *lock(&self.again) = Some(Instant::now() + Duration::from_millis(SHORTAGE_RETRY_MS));
        self.news.store(true, Ordering::Release);
        self.added.notify_one();
    }

    /// The slot of a document, and whether it was there before.
    fn slot(&self, path: &Path) -> (Arc<Slot>, bool) {
        let mut slots = lock(&self.slots);
        if let Some(slot) = slots.get(path) {
            return (slot.clone(), true);
        }
        let slot = Arc::new(Slot { path: path.to_owned(), state: Mutex::default() });
        slots.insert(path.to_owned(), slot.clone());
        self.added.notify_one();
        (slot, false)
    }

    /// Compiles documents, or shares what was compiled of the same ones before.
    pub(crate) fn compile(
        &self,
        user: &Found,
        project: &Found,
        trusted: &dyn Fn(&str) -> bool,
        plugins: &[PluginDocument],
    ) -> Arc<Loaded> {
        let granted = match project {
            Found::File(contents) => trusted(&contents.fingerprint()),
            _ => false,
        };
        let mut key = format!("{granted}\n{}\n{}", identity(user), identity(project));
        for plugin in plugins {
            key.push_str(&format!("\n{plugin:?}"));
        }
        let known = self.lock_compiled().get(&key).and_then(Weak::upgrade);
        if let Some(loaded) = known {
            return loaded;
        }
        // Not under the lock: two that compile the same at once both have it right.
        let loaded = Arc::new(compile(user, project, &|_| granted, plugins));
        let mut compiled = self.lock_compiled();
        compiled.retain(|_, loaded| loaded.strong_count() > 0);
        compiled.insert(key, Arc::downgrade(&loaded));
        loaded
    }

    /// How many different configurations are in use.
    pub(crate) fn snapshots(&self) -> usize {
        self.lock_compiled().values().filter(|loaded| loaded.strong_count() > 0).count()
    }

    fn lock_compiled(&self) -> MutexGuard<'_, Compiled> {
        lock(&self.compiled)
    }

    /// Looks at all documents; forgets those that nobody has used for long. True when anything has changed. Reads files.
    pub(crate) fn refresh(&self) -> bool {
        let slots: Vec<Arc<Slot>> = {
            let mut slots = lock(&self.slots);
            forget_oldest(&mut slots);
            slots.values().cloned().collect()
        };
        // Every one is looked at, whatever the others say.
        let changed = slots.iter().map(|slot| slot.refresh()).fold(false, |any, changed| any | changed);
        *lock(&self.again) = None;
        changed | self.news.swap(false, Ordering::AcqRel)
    }

    /// The paths of all documents that somebody uses.
    fn paths(&self) -> Vec<PathBuf> {
        let slots = lock(&self.slots);
        slots.keys().cloned().collect()
    }

    /// When the next deletion settles, or a shortage may be over.
    fn look_again(&self) -> Option<Instant> {
        let slots = lock(&self.slots);
        let next = |slot: &Arc<Slot>| {
            let state = slot.lock();
            [state.document.look_again(), state.retry].into_iter().flatten().min()
        };
        let again = *lock(&self.again);
        slots.values().filter_map(next).chain(again).min()
    }
}

/// Forgets unused documents, but for the ones used last.
fn forget_oldest(slots: &mut HashMap<PathBuf, Arc<Slot>>) {
    let unused = slots.iter().filter(|(_, slot)| Arc::strong_count(slot) == 1);
    let mut unused: Vec<(Option<Instant>, PathBuf)> =
        unused.map(|(path, slot)| (slot.lock().last_used, path.clone())).collect();
    let Some(excess) = unused.len().checked_sub(MAX_UNUSED) else { return };
    unused.sort();
    for (_, path) in unused.into_iter().take(excess) {
        slots.remove(&path);
    }
}

fn identity(found: &Found) -> String {
    match found {
        Found::Absent => "absent".to_owned(),
        Found::Unreadable { path, reason, .. } => format!("{} {reason}", path.display()),
        Found::File(contents) => format!("{} {}", contents.path.display(), contents.fingerprint()),
    }
}
