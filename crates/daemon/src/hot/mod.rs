//! Documents kept hot: read once, compiled once, shared by every session that needs them. What was heard of a change
//! is a hint; the bytes are the truth: each look compares the file with what was read, and reads again when in doubt.

mod document;
mod stamp;
pub(crate) mod watch;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use hooksd_config::layers::{Loaded, PluginDocument, compile};
use hooksd_config::read::{Found, MAX_DOCUMENT, bounded};
use hooksd_protocol::diagnostic::Diagnostic;
use tokio::sync::Notify;

use self::document::HotDocument;
use self::stamp::Stamp;

pub(crate) use self::stamp::Stamp as FileStamp;

/// One document that somebody uses.
#[derive(Debug)]
pub(crate) struct Slot {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    document: HotDocument,
    /// The file as it was read last; `None` reads again.
    stamp: Option<Stamp>,
}

/// What a look at a document gives.
pub(crate) struct Look {
    /// What is served.
    pub(crate) found: Found,
    /// What is wrong with the file, when an older version serves.
    pub(crate) problem: Option<Diagnostic>,
    /// Keeps the document hot.
    pub(crate) slot: Arc<Slot>,
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compares the file with what was read. True when what is served, or said about it, has changed.
    fn refresh(&self) -> bool {
        let mut state = self.lock();
        let stamp = Stamp::of(&self.path);
        if stamp.is_some() && stamp == state.stamp && state.document.look_again().is_none() {
            return false;
        }
        // Stamped before it is read, so that a change in between is noticed by the next look.
        state.stamp = stamp.filter(Stamp::has_settled);
        state.document.observe(bounded(&self.path, MAX_DOCUMENT), Instant::now())
    }
}

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
    /// Whether somebody has.
    news: AtomicBool,
}

impl Documents {
    /// Looks at a document. Reads files: not for an async thread.
    pub(crate) fn look(&self, path: &Path) -> Look {
        let (slot, known) = self.slot(path);
        if slot.refresh() && known {
            // The other sessions must hear of it too, although the watcher will find nothing new.
            self.news.store(true, Ordering::Release);
            self.found.notify_one();
        }
        let (found, problem) = {
            let state = slot.lock();
            (state.document.serving(), state.document.problem())
        };
        Look { found, problem, slot }
    }

    /// The slot of a document, and whether it was there before.
    fn slot(&self, path: &Path) -> (Arc<Slot>, bool) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
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

    fn lock_compiled(&self) -> MutexGuard<'_, Compiled> {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at all documents; forgets those that nobody uses. True when anything has changed. Reads files.
    pub(crate) fn refresh(&self) -> bool {
        let slots: Vec<Arc<Slot>> = {
            let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            slots.retain(|_, slot| Arc::strong_count(slot) > 1);
            slots.values().cloned().collect()
        };
        // Every one is looked at, whatever the others say.
        let changed = slots.iter().map(|slot| slot.refresh()).fold(false, |any, changed| any | changed);
        changed | self.news.swap(false, Ordering::AcqRel)
    }

    /// The paths of all documents that somebody uses.
    fn paths(&self) -> Vec<PathBuf> {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.keys().cloned().collect()
    }

    /// When the next deletion settles.
    fn look_again(&self) -> Option<Instant> {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.values().filter_map(|slot| slot.lock().document.look_again()).min()
    }
}

fn identity(found: &Found) -> String {
    match found {
        Found::Absent => "absent".to_owned(),
        Found::Unreadable { path, reason } => format!("{} {reason}", path.display()),
        Found::File(contents) => format!("{} {}", contents.path.display(), contents.fingerprint()),
    }
}
