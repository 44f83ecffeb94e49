//! Which children of the process are ours to wait for: the supervised ones are reaped by whoever supervises them,
//! adopted orphans by `orphans`, and neither by the other.
//!
//! The difficulty: between a spawn and the moment its id is known here, a child that has already ended looks like
//! an orphan. Hence births are announced, and a suspect is judged only when all births that were going on when it
//! was first seen are over. Waiting for a child and striking it off the list are one step under one lock, so that
//! an id given to another process in between cannot be mistaken.
//!
//! Guarantee: [`Family::orphans_among`] never names a child that this crate has spawned and not reaped.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::unistd::Pid;

static FAMILY: Mutex<Family> = Mutex::new(Family::new());
/// Tells that the process may have got a child.
static GROWN: Condvar = Condvar::new();

/// The children of this process, as far as they are known.
#[derive(Debug)]
pub(crate) struct Family {
    /// Spawned by this crate and not reaped.
    supervised: BTreeSet<Pid>,
    /// Spawns that are going on.
    births: BTreeSet<u64>,
    next_birth: u64,
    /// Ended children that may be orphans: each with the first birth that cannot have brought it.
    suspects: BTreeMap<Pid, u64>,
}

/// A spawn that is going on.
#[derive(Debug)]
pub(crate) struct Birth(u64);

impl Birth {
    /// To be called before the spawn.
    pub(crate) fn announce() -> Birth {
        let mut family = Family::lock();
        let birth = family.announce();
        drop(family);
        GROWN.notify_all();
        Birth(birth)
    }

    /// The child it has brought.
    pub(crate) fn brings(self, child: Pid) {
        Family::lock().brought(child);
    }
}

impl Drop for Birth {
    fn drop(&mut self) {
        Family::lock().births.remove(&self.0);
    }
}

/// Waits for a supervised child with `wait`, which says something once the child is reaped; then it is none of
/// ours any more. `wait` must not block.
pub(crate) fn reap<T>(child: Pid, wait: impl FnOnce() -> Option<T>) -> Option<T> {
    let mut family = Family::lock();
    let status = wait()?;
    family.supervised.remove(&child);
    Some(status)
}

/// Waits until the process may have a child, at most this long.
#[cfg(target_os = "linux")]
pub(crate) fn wait_for_children(most: Duration) {
    let family = Family::lock();
    if family.supervised.is_empty() && family.births.is_empty() {
        let _ = GROWN.wait_timeout(family, most);
    }
}

impl Family {
    const fn new() -> Family {
        Family {
            supervised: BTreeSet::new(),
            births: BTreeSet::new(),
            next_birth: 0,
            suspects: BTreeMap::new(),
        }
    }

    pub(crate) fn lock() -> MutexGuard<'static, Family> {
        FAMILY.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn announce(&mut self) -> u64 {
        let birth = self.next_birth;
        self.next_birth += 1;
        self.births.insert(birth);
        birth
    }

    fn brought(&mut self, child: Pid) {
        self.supervised.insert(child);
        self.suspects.remove(&child);
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn is_supervised(&self, child: Pid) -> bool {
        self.supervised.contains(&child)
    }

    /// Those of the ended children that nobody supervises. To be reaped before the lock is given back.
    pub(crate) fn orphans_among(&mut self, ended: &[Pid]) -> Vec<Pid> {
        self.suspects.retain(|pid, _| ended.contains(pid));
        let next = self.next_birth;
        let oldest = self.births.first().copied().unwrap_or(next);
        let mut orphans = Vec::new();
        for pid in ended.iter().filter(|pid| !self.supervised.contains(pid)) {
            if *self.suspects.entry(*pid).or_insert(next) <= oldest {
                self.suspects.remove(pid);
                orphans.push(*pid);
            }
        }
        orphans
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pid(raw: i32) -> Pid {
        Pid::from_raw(raw)
    }

    #[test]
    fn a_supervised_child_is_no_orphan_and_everybody_else_is() {
        let mut family = Family::new();
        let birth = family.announce();
        family.brought(pid(7));
        family.births.remove(&birth);
        assert_eq!(family.orphans_among(&[pid(6), pid(7), pid(8)]), [pid(6), pid(8)]);
        assert!(family.suspects.is_empty());
    }

    #[test]
    fn a_child_that_ends_before_its_id_is_known_is_not_taken_for_an_orphan() {
        let mut family = Family::new();
        let slow = family.announce();
        assert_eq!(family.orphans_among(&[pid(7), pid(9)]), []);
        // Births that begin later do not put the judgement off.
        let later = family.announce();
        assert_eq!(family.orphans_among(&[pid(7), pid(9)]), []);
        family.brought(pid(7));
        family.births.remove(&slow);
        assert_eq!(family.orphans_among(&[pid(7), pid(9)]), [pid(9)]);
        family.births.remove(&later);
        assert_eq!(family.orphans_among(&[pid(7)]), []);
    }

    #[test]
    fn a_suspicion_does_not_outlive_the_process() {
        let mut family = Family::new();
        let first = family.announce();
        assert_eq!(family.orphans_among(&[pid(7)]), []);
        // Reaped by its supervisor meanwhile; the id comes again, with another birth.
        assert_eq!(family.orphans_among(&[]), []);
        let second = family.announce();
        family.births.remove(&first);
        assert_eq!(family.orphans_among(&[pid(7)]), [], "may be what the second birth brings");
        family.brought(pid(7));
        family.births.remove(&second);
        assert_eq!(family.orphans_among(&[pid(7)]), []);
    }
}
