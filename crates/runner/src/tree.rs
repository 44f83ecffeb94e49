//! Descendants that a signal to a process group does not reach: those that made a group or a session of their
//! own (`setsid`, `set -m`). Found by walking down from the leader, so one whose parent has already gone is
//! missed; on other systems than Linux all are.
//!
//! Guarantee: only a process seen to be a child of the tree while a descriptor to it was held is ever killed.

#[cfg(target_os = "linux")]
pub(crate) use linux::strays;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::strays;

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io::Read;
    use std::os::fd::OwnedFd;

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use crate::limits::TREE_MOST;

    /// Processes outside the leader's group, to be killed with it.
    #[derive(Debug, Default)]
    pub(crate) struct Strays(Vec<OwnedFd>);

    impl Strays {
        /// Kills them; those that ended meanwhile are gone.
        pub(crate) fn kill(self) {
            for process in self.0 {
                let _ = pidfd_send_signal::<OwnedFd>(process, Signal::KILL);
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
                let Ok(handle) = pidfd_open(child, PidfdFlags::empty()) else { continue };
                // Asked with the descriptor in hand: the id now stands for this very process.
                let Some((its_parent, group)) = parent_and_group(child) else { continue };
                if its_parent != parent.as_raw_nonzero().get() {
                    continue;
                }
                if group != leader.as_raw_nonzero().get() {
                    strays.0.push(handle);
                }
                parents.push(child);
            }
        }
        strays
    }

    /// The children of all threads of a process.
    fn children(parent: Pid) -> Vec<Pid> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", parent.as_raw_nonzero()));
        let lists =
            tasks.into_iter().flatten().flatten().filter_map(|task| read(task.path().join("children")));
        lists
            .flat_map(|list| {
                list.split_ascii_whitespace()
                    .filter_map(|id| Pid::from_raw(id.parse().ok()?))
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    /// Fields 4 and 5 of `/proc/<pid>/stat`, counted from the end of the name, which may hold anything.
    fn parent_and_group(pid: Pid) -> Option<(i32, i32)> {
        let stat = read(format!("/proc/{}/stat", pid.as_raw_nonzero()).into())?;
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_ascii_whitespace().skip(1);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    }

    /// A file of `/proc`, which neither blocks nor grows.
    fn read(file: std::path::PathBuf) -> Option<String> {
        let mut text = Vec::new();
        File::open(file).ok()?.read_to_end(&mut text).ok()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use rustix::process::Pid;

    /// None: the group is all that can be killed here.
    pub(crate) struct Strays;

    impl Strays {
        pub(crate) fn kill(self) {}
    }

    pub(crate) fn strays(_leader: Pid) -> Strays {
        Strays
    }
}
