//! Idle processes by what they are for: pure bookkeeping, no process and no clock of its own.
//!
//! Guarantee: what is put back after its slot has gone comes back to the caller, to be ended; so a process never
//! serves anything but what it was started for.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::health::Health;
use super::key::Key;
use super::limits::MOST_SLOTS;

/// Lets as many events through as a handler may have processes.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) workers: Arc<Semaphore>,
    /// Events waiting at it.
    pub(crate) queued: AtomicUsize,
    width: usize,
}

/// The idle processes for one key.
#[derive(Debug)]
pub(crate) struct Slot<T> {
    /// Tells this slot from a later one for the same key.
    pub(crate) id: u64,
    pub(crate) gate: Arc<Gate>,
    pub(crate) health: Health,
    owners: HashSet<String>,
    /// Longest idle first.
    idle: Vec<(Instant, T)>,
    used: Instant,
}

impl<T> Slot<T> {
    /// The process that was used last, if one is idle: the others may grow old.
    pub(crate) fn take(&mut self) -> Option<T> {
        self.idle.pop().map(|(_, item)| item)
    }

    /// How many are idle.
    pub(crate) fn idle(&self) -> usize {
        self.idle.len()
    }

    fn into_idle(self) -> impl Iterator<Item = T> {
        self.idle.into_iter().map(|(_, item)| item)
    }

    /// Whether nothing would be lost with it. One in use is found busy at its gate.
    fn is_forgotten(&self, now: Instant, idle_most: Duration) -> bool {
        let unused = now.saturating_duration_since(self.used) > idle_most;
        self.idle.is_empty() && unused && self.gate.workers.available_permits() == self.gate.width
    }
}

/// All slots.
#[derive(Debug)]
pub(crate) struct Shelf<T> {
    slots: HashMap<Key, Slot<T>>,
    next_id: u64,
}

impl<T> Default for Shelf<T> {
    fn default() -> Shelf<T> {
        Shelf { slots: HashMap::new(), next_id: 0 }
    }
}

impl<T> Shelf<T> {
    /// The slot of a key, made when there is none; the owner holds it from now on. `None` at [`MOST_SLOTS`].
    pub(crate) fn slot(
        &mut self,
        key: &Key,
        owner: Option<&str>,
        width: usize,
        now: Instant,
    ) -> Option<&mut Slot<T>> {
        if !self.slots.contains_key(key) {
            if self.slots.len() >= MOST_SLOTS {
                return None;
            }
            let gate = Gate { workers: Arc::new(Semaphore::new(width)), queued: AtomicUsize::new(0), width };
            self.next_id += 1;
            let slot = Slot {
                id: self.next_id,
                gate: Arc::new(gate),
                health: Health::default(),
                owners: HashSet::new(),
                idle: Vec::new(),
                used: now,
            };
            self.slots.insert(key.clone(), slot);
        }
        let slot = self.slots.get_mut(key)?;
        slot.used = now;
        if let Some(owner) = owner
            && !slot.owners.contains(owner)
        {
            slot.owners.insert(owner.to_owned());
        }
        Some(slot)
    }

    /// The slot with this id, unless it has gone.
    pub(crate) fn known(&mut self, key: &Key, id: u64) -> Option<&mut Slot<T>> {
        self.slots.get_mut(key).filter(|slot| slot.id == id)
    }

    /// Puts a process back; it comes back when its slot has gone.
    pub(crate) fn put(&mut self, key: &Key, id: u64, item: T, now: Instant) -> Option<T> {
        let Some(slot) = self.known(key, id) else { return Some(item) };
        slot.used = now;
        slot.idle.push((now, item));
        None
    }

    /// Takes the process that was idle longest of all.
    pub(crate) fn take_idlest(&mut self) -> Option<T> {
        let with_idle = self.slots.values_mut().filter(|slot| !slot.idle.is_empty());
        let slot = with_idle.min_by_key(|slot| slot.idle.first().map(|(since, _)| *since))?;
        Some(slot.idle.remove(0).1)
    }

    /// Takes what was idle too long, and what `has_ended` finds to be over: it may think less of the handler then.
    /// Forgets slots that nobody uses.
    pub(crate) fn sweep(
        &mut self,
        now: Instant,
        idle_most: Duration,
        has_ended: impl Fn(&mut T, &mut Health) -> bool,
    ) -> Vec<T> {
        let mut over = Vec::new();
        for slot in self.slots.values_mut() {
            let late = |since: &Instant| now.saturating_duration_since(*since) >= idle_most;
            let health = &mut slot.health;
            let idle = slot.idle.extract_if(.., |(since, item)| has_ended(item, health) || late(since));
            over.extend(idle.map(|(_, item)| item));
        }
        self.slots.retain(|_, slot| !slot.is_forgotten(now, idle_most));
        over
    }

    /// An owner lets go: slots that nobody else holds go, and what is idle in them.
    pub(crate) fn release(&mut self, owner: &str) -> Vec<T> {
        self.remove(|slot| slot.owners.remove(owner) && slot.owners.is_empty())
    }

    /// Slots that no owner holds go when another configuration is used in the same place, and what is idle in them:
    /// nobody says so for events without a session.
    pub(crate) fn take_outdated(&mut self, by: &Key) -> Vec<T> {
        if self.slots.contains_key(by) {
            return Vec::new();
        }
        let outdated = |key: &Key| {
            key.snapshot != by.snapshot && key.folder == by.folder && key.variables == by.variables
        };
        let gone = self.slots.extract_if(|key, slot| slot.owners.is_empty() && outdated(key));
        gone.flat_map(|(_, slot)| slot.into_idle()).collect()
    }

    /// Slots that no owner holds go, and what is idle in them.
    pub(crate) fn take_unowned(&mut self) -> Vec<T> {
        self.remove(|slot| slot.owners.is_empty())
    }

    /// Everything goes.
    pub(crate) fn drain(&mut self) -> Vec<T> {
        self.remove(|_| true)
    }

    fn remove(&mut self, mut which: impl FnMut(&mut Slot<T>) -> bool) -> Vec<T> {
        self.slots.extract_if(|_, slot| which(slot)).flat_map(|(_, slot)| slot.into_idle()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warm::key::{Purpose, Variables};

    fn key(handler: &str) -> Key {
        let variables = Variables::new(Vec::new());
        let purpose = Purpose {
            snapshot: "s".into(),
            handler: handler.to_owned(),
            folder: "/".into(),
            variables,
            umask: None,
            rlimits: Default::default(),
        };
        purpose.into()
    }

    fn slot(shelf: &mut Shelf<u32>, name: &str, owner: Option<&str>, now: Instant) -> u64 {
        shelf.slot(&key(name), owner, 1, now).unwrap().id
    }

    #[test]
    fn a_slot_lasts_as_long_as_one_owner_holds_it() {
        let now = Instant::now();
        let mut shelf = Shelf::default();
        for owner in ["a", "b"] {
            let id = slot(&mut shelf, "h", Some(owner), now);
            assert_eq!(shelf.put(&key("h"), id, 1, now), None);
        }
        assert_eq!(shelf.release("a"), Vec::<u32>::new());
        assert_eq!(shelf.take_unowned(), Vec::<u32>::new());
        assert_eq!(shelf.release("b"), [1, 1]);
        assert_eq!(shelf.release("b"), Vec::<u32>::new());
    }

    #[test]
    fn what_was_in_use_while_its_slot_went_comes_back() {
        let now = Instant::now();
        let mut shelf = Shelf::default();
        let old = slot(&mut shelf, "h", Some("a"), now);
        shelf.release("a");
        let new = slot(&mut shelf, "h", Some("a"), now);
        assert_eq!(shelf.put(&key("h"), old, 7, now), Some(7));
        assert_eq!(shelf.put(&key("h"), new, 8, now), None);
    }

    #[test]
    fn the_one_idle_longest_makes_room_and_old_ones_go() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut shelf = Shelf::default();
        for (seconds, name) in [(2, "b"), (1, "a"), (3, "c")] {
            let id = slot(&mut shelf, name, None, at(seconds));
            shelf.put(&key(name), id, seconds as u32, at(seconds));
        }
        assert_eq!(shelf.take_idlest(), Some(1));
        assert_eq!(shelf.sweep(at(12), Duration::from_secs(10), |_, _| false), [2]);
        assert_eq!(shelf.sweep(at(13), Duration::from_secs(11), |item, _| *item == 3), [3]);
        assert_eq!(shelf.slots.len(), 2, "what was used 11 seconds ago may still be wanted");
    }
}
