//! Tells whether a file is still the one that was read, without reading it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How young a file may be before its time stamps tell nothing. Milliseconds. The kernel's clock for them ticks every
/// few milliseconds: two writes within a tick look like one.
const TICK_MS: u64 = 100;

/// A file's identity and the times of its last change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// Of the file at `path`, links followed; `None` when there is none.
    pub(crate) fn of(path: &Path) -> Option<Stamp> {
        let data = fs::metadata(path).ok()?;
        Some(Stamp {
            device: data.dev(),
            inode: data.ino(),
            size: data.size(),
            modified: (data.mtime(), data.mtime_nsec()),
            changed: (data.ctime(), data.ctime_nsec()),
        })
    }

    /// Whether another change would show: the last one is longer ago than the clock's tick.
    pub(crate) fn has_settled(&self) -> bool {
        let changed = u64::try_from(self.changed.0).unwrap_or(0);
        let changed = UNIX_EPOCH + Duration::new(changed, u32::try_from(self.changed.1).unwrap_or(0));
        SystemTime::now().duration_since(changed).is_ok_and(|age| age > Duration::from_millis(TICK_MS))
    }
}
