//! What `/proc` says of processes. Linux only.
//!
//! Guarantee: a process that ends while it is looked at is [`Seen::Gone`], never an error; a look that failed for
//! a reason of our own, such as no descriptor left, is told apart from it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use nix::errno::Errno;
use nix::unistd::{Pid, geteuid};

use crate::limits::ENVIRON_MOST;

/// What a look at a process came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen<T> {
    /// It is there, and this is so.
    There(T),
    /// It has ended, or is none of ours.
    Gone,
    /// The look itself failed: it says nothing about the process.
    Blind,
}

/// The fields of `/proc/<pid>/stat` that are of use here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    /// Ended, and not reaped yet.
    pub(crate) zombie: bool,
    pub(crate) parent: i32,
    pub(crate) group: i32,
}

/// Counted from the end of the name, which may hold anything.
pub(crate) fn stat(pid: Pid) -> Option<Stat> {
    let text = read(Path::new(&format!("/proc/{}/stat", pid.as_raw()))).ok()?;
    let text = String::from_utf8_lossy(&text);
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    Some(Stat {
        zombie: matches!(fields.next()?, "Z" | "X"),
        parent: fields.next()?.parse().ok()?,
        group: fields.next()?.parse().ok()?,
    })
}

/// The children of all threads of a process; none where the kernel keeps no such list.
pub(crate) fn children(parent: Pid) -> Vec<Pid> {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", parent.as_raw()));
    let lists =
        tasks.into_iter().flatten().flatten().filter_map(|task| read(&task.path().join("children")).ok());
    lists
        .flat_map(|list| {
            String::from_utf8_lossy(&list).split_ascii_whitespace().filter_map(id).collect::<Vec<_>>()
        })
        .collect()
}

/// All processes whose parent is this one, found the long way round: where [`children`] has no list to read.
pub(crate) fn children_by_search(parent: Pid) -> Vec<Pid> {
    let parent = parent.as_raw();
    processes()
        .into_iter()
        .flatten()
        .filter(|pid| stat(*pid).is_some_and(|stat| stat.parent == parent))
        .collect()
}

/// Whether the kernel keeps the lists that [`children`] reads.
pub(crate) fn has_children_lists() -> bool {
    Path::new("/proc/thread-self/children").exists()
}

/// The ids of all processes.
pub(crate) fn processes() -> io::Result<Vec<Pid>> {
    Ok(std::fs::read_dir("/proc")?.flatten().filter_map(|entry| id(entry.file_name().to_str()?)).collect())
}

/// A variable of the environment that a process of our user was started with, as `NAME=value`.
pub(crate) fn variable(pid: Pid, name: &str) -> Seen<Option<Vec<u8>>> {
    use std::os::unix::fs::MetadataExt;
    let folder = format!("/proc/{}", pid.as_raw());
    match std::fs::metadata(&folder) {
        Ok(data) if data.uid() == geteuid().as_raw() => {}
        Ok(_) => return Seen::Gone,
        Err(error) => return unseen(&error),
    }
    match read(&Path::new(&folder).join("environ")) {
        Ok(environ) => {
            let is_it = |pair: &&[u8]| {
                pair.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'='))
            };
            Seen::There(environ.split(|byte| *byte == 0).find(is_it).map(<[u8]>::to_vec))
        }
        Err(error) => unseen(&error),
    }
}

fn unseen<T>(error: &io::Error) -> Seen<T> {
    match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::EMFILE | Errno::ENFILE | Errno::ENOMEM) => Seen::Blind,
        // ENOENT and ESRCH: it has ended. EACCES: it is not ours to look into.
        _ => Seen::Gone,
    }
}

fn id(text: &str) -> Option<Pid> {
    text.parse().ok().filter(|id| *id > 0).map(Pid::from_raw)
}

/// A file of `/proc`, which neither blocks nor grows.
fn read(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(ENVIRON_MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::unistd::{getpid, getppid};

    #[test]
    fn this_process_is_seen_as_it_is() {
        let stat = stat(getpid()).unwrap();
        assert!(!stat.zombie);
        assert_eq!(Pid::from_raw(stat.parent), getppid());
        assert!(processes().unwrap().contains(&getpid()));
        let path = format!("PATH={}", std::env::var("PATH").unwrap()).into_bytes();
        assert_eq!(variable(getpid(), "PATH"), Seen::There(Some(path)));
        assert_eq!(variable(getpid(), "PAT"), Seen::There(None));
    }

    #[test]
    fn a_process_that_is_not_there_is_gone() {
        let none = Pid::from_raw(i32::MAX);
        assert_eq!((stat(none), variable(none, "PATH")), (None, Seen::Gone));
        assert!(children(none).is_empty());
    }
}
