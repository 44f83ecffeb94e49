//! Orphans: what a handler has started and left behind becomes a child of this process instead of the system's
//! first one, so that it can be found (`clean`) and reaped (here).
//!
//! Guarantees: an adopted orphan that ends is reaped within about [`ORPHAN_PAUSE`]; the exit status of a
//! supervised child is never taken (`family`). Without [`adopt_orphans`] everything else works: then the system's
//! first process adopts and reaps.

use std::io;

/// Makes this process adopt its orphaned descendants, and starts the thread that reaps them. For the start of a
/// program whose only way to start children is [`crate::Runner`]: another library's children would look like
/// orphans. Does nothing where the system has no such thing (it is Linux's `PR_SET_CHILD_SUBREAPER`).
///
/// # Errors
/// If the system refuses, or has no thread to give.
pub fn adopt_orphans() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        nix::sys::prctl::set_child_subreaper(true)?;
        std::thread::Builder::new().name("hooksd-orphans".to_owned()).spawn(linux::reap_for_ever)?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
mod linux {
    use nix::errno::Errno;
    use nix::sys::wait::{Id, WaitPidFlag, waitid, waitpid};
    use nix::unistd::{Pid, getpid};

    use crate::family::{Family, wait_for_children};
    use crate::limits::{CHILDLESS_WAIT, ORPHAN_PAUSE};
    use crate::procfs::{children, children_by_search, has_children_lists, stat};

    /// Ends with the process: it holds nothing that has to be given back.
    pub(super) fn reap_for_ever() {
        loop {
            // Only looks: whose child it is that has ended is judged below.
            match waitid(Id::All, WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) {
                // EINVAL is how nix says that a signal has killed it for which there is no name.
                Ok(_) | Err(Errno::EINVAL) => reap_orphans(),
                Err(Errno::ECHILD) => wait_for_children(CHILDLESS_WAIT),
                Err(_) => {}
            }
            // Supervised children end all the time and are gone in a moment: not every one is worth a look.
            std::thread::sleep(ORPHAN_PAUSE);
        }
    }

    fn reap_orphans() {
        let own = getpid();
        let all = if has_children_lists() { children(own) } else { children_by_search(own) };
        let supervised = |pid: &Pid| Family::lock().is_supervised(*pid);
        let ended: Vec<Pid> = all
            .into_iter()
            .filter(|pid| !supervised(pid) && stat(*pid).is_some_and(|stat| stat.zombie))
            .collect();
        let mut family = Family::lock();
        for orphan in family.orphans_among(&ended) {
            let _ = waitpid(orphan, Some(WaitPidFlag::WNOHANG));
        }
    }
}
