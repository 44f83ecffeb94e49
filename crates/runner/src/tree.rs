//! Descendants that a signal to a process group does not reach: those that made a group or a session of their
//! own (`setsid`, `set -m`). Found by walking down from the leader while it is there; one whose parent has gone
//! already is left to `clean`. On other systems than Linux none are found.
//!
//! Guarantee: only a process seen to be a child of the tree while a descriptor to it was held is ever killed.

#[cfg(target_os = "linux")]
pub(crate) use linux::strays;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::strays;

#[cfg(target_os = "linux")]
mod linux {
    use std::os::fd::OwnedFd;

    use hooksd_system::{pidfd_open, pidfd_send_signal};
    use nix::sys::signal::Signal;
    use nix::unistd::Pid;

    use crate::limits::TREE_MOST;
    use crate::procfs::{children, stat};

    /// Processes outside the leader's group, to be killed with it.
    #[derive(Debug, Default)]
    pub(crate) struct Strays(Vec<OwnedFd>);

    impl Strays {
        /// Kills them; those that ended meanwhile are gone.
        pub(crate) fn kill(self) {
            for process in self.0 {
                let _ = pidfd_send_signal(process, Signal::SIGKILL);
            }
        }
    }

    /// Finds the descendants of a group leader that are in another group.
    pub(crate) fn strays(leader: Pid) -> Strays {
        let mut strays = Strays::default();
        let mut parents = vec![leader];
        let mut seen = 0;
        while let Some(parent) = parents.pop() {
            for child in children(parent) {
                seen += 1;
                if seen > TREE_MOST {
                    tracing::warn!("process tree of a handler too large to look through");
                    return strays;
                }
                let Ok(handle) = pidfd_open(child) else { continue };
                // Asked with the descriptor in hand: the id now stands for this very process.
                let Some(stat) = stat(child) else { continue };
                if stat.parent != parent.as_raw() {
                    continue;
                }
                if stat.group != leader.as_raw() {
                    strays.0.push(handle);
                }
                parents.push(child);
            }
        }
        strays
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use nix::unistd::Pid;

    /// None: the group is all that can be killed here.
    pub(crate) struct Strays;

    impl Strays {
        pub(crate) fn kill(self) {}
    }

    pub(crate) fn strays(_leader: Pid) -> Strays {
        Strays
    }
}
