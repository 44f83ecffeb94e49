//! What is left of a killed run: processes that left the handler's group and session and whose parents have gone.
//! They are found by the run's mark in their environment. A thread looks for all runs at once, so that a hundred
//! cancelled calls cost no more than one; the answer does not wait for it.
//!
//! Guarantees: a process is signalled through a descriptor of it, and only if its environment, read with that
//! descriptor in hand, has the mark: never by an id that may stand for another process by now. A run is done with
//! after two looks in a row that found nothing, at the latest after [`CLEAN_MOST`], and then the log says so.
//!
//! Not found: a process that has also cleared its environment, or became another user. On other systems than
//! Linux nothing is looked for.

#[cfg(target_os = "linux")]
pub(crate) use linux::{clean, pending, start};
#[cfg(not(target_os = "linux"))]
pub(crate) use other::{clean, pending, start};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
    use std::time::{Duration, Instant};

    use hooksd_system::{pidfd_open, pidfd_send_signal};
    use nix::errno::Errno;
    use nix::sys::signal::Signal;
    use nix::unistd::{Pid, getpid};

    use crate::environment::{Mark, RUN_VARIABLE};
    use crate::limits::{CLEAN_LOOKS, CLEAN_MOST, CLEAN_PAUSE};
    use crate::procfs::{Seen, processes, variable};

    static CLEANER: Mutex<Cleaner> = Mutex::new(Cleaner { runs: BTreeMap::new(), has_thread: false });
    static WANTED: Condvar = Condvar::new();

    struct Cleaner {
        /// Killed runs whose processes are looked for.
        runs: BTreeMap<Mark, Search>,
        has_thread: bool,
    }

    #[derive(Clone, Copy)]
    struct Search {
        since: Instant,
        /// Looks in a row that found nothing.
        quiet: u32,
    }

    fn lock() -> MutexGuard<'static, Cleaner> {
        CLEANER.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the thread, unless there is one: best before processes run short.
    pub(crate) fn start() {
        let mut cleaner = lock();
        if !cleaner.has_thread {
            let builder = std::thread::Builder::new().name("hooksd-cleaner".to_owned());
            cleaner.has_thread = builder.spawn(clean_for_ever).is_ok();
        }
    }

    /// Has everything killed that bears the mark of a killed run.
    pub(crate) fn clean(mark: &Mark) {
        start();
        let mut cleaner = lock();
        cleaner.runs.insert(mark.clone(), Search { since: Instant::now(), quiet: 0 });
        let has_thread = cleaner.has_thread;
        drop(cleaner);
        if has_thread {
            WANTED.notify_one();
        } else {
            tracing::warn!("no thread for cleaning up; looking once, on the spot");
            look(Duration::ZERO);
        }
    }

    /// Killed runs that may still have processes.
    pub(crate) fn pending() -> usize {
        lock().runs.len()
    }

    /// Ends with the process: it holds nothing that has to be given back.
    fn clean_for_ever() {
        loop {
            let mut cleaner = lock();
            while cleaner.runs.is_empty() {
                cleaner = WANTED.wait(cleaner).unwrap_or_else(PoisonError::into_inner);
            }
            drop(cleaner);
            look(CLEAN_MOST);
            std::thread::sleep(CLEAN_PAUSE);
        }
    }

    /// Looks through all processes once. Runs older than `most` are given up afterwards.
    fn look(most: Duration) {
        let wanted: BTreeSet<Mark> = lock().runs.keys().cloned().collect();
        let mut found = BTreeSet::new();
        let mut blind = false;
        for pid in processes().inspect_err(|_| blind = true).into_iter().flatten() {
            match kill_if_wanted(pid, &wanted) {
                Seen::There(mark) => {
                    found.insert(mark);
                }
                Seen::Gone => {}
                Seen::Blind => blind = true,
            }
        }
        let mut cleaner = lock();
        for mark in wanted {
            let Some(search) = cleaner.runs.get_mut(&mark) else { continue };
            search.quiet = if blind || found.contains(&mark) { 0 } else { search.quiet + 1 };
            if search.quiet >= CLEAN_LOOKS {
                cleaner.runs.remove(&mark);
            } else if search.since.elapsed() > most {
                tracing::warn!(?mark, "processes of a killed handler may be left");
                cleaner.runs.remove(&mark);
            }
        }
    }

    /// Kills the process if it bears one of these marks; the mark.
    fn kill_if_wanted(pid: Pid, wanted: &BTreeSet<Mark>) -> Seen<Mark> {
        // Cheap first: nearly all processes are somebody else's.
        match mark_of(pid, wanted) {
            Seen::There(_) if pid != getpid() => {}
            Seen::There(_) => return Seen::Gone,
            other => return other,
        }
        let handle = match pidfd_open(pid) {
            Ok(handle) => handle,
            Err(Errno::ESRCH) => return Seen::Gone,
            Err(_) => return Seen::Blind,
        };
        // Again with the descriptor in hand: what the id stands for now is what the descriptor holds.
        let mark = mark_of(pid, wanted);
        if let Seen::There(_) = mark {
            let _ = pidfd_send_signal(&handle, Signal::SIGKILL);
        }
        mark
    }

    fn mark_of(pid: Pid, wanted: &BTreeSet<Mark>) -> Seen<Mark> {
        match variable(pid, RUN_VARIABLE) {
            Seen::There(Some(pair)) => match Mark::read(pair).filter(|mark| wanted.contains(mark)) {
                Some(mark) => Seen::There(mark),
                None => Seen::Gone,
            },
            Seen::There(None) | Seen::Gone => Seen::Gone,
            Seen::Blind => Seen::Blind,
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use crate::environment::Mark;

    pub(crate) fn start() {}

    pub(crate) fn clean(_mark: &Mark) {}

    pub(crate) fn pending() -> usize {
        0
    }
}
