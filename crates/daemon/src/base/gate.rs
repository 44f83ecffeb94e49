//! How many connections there may be, so that those who hold them idle leave descriptors to handlers and documents.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hooksd_runner::Bounds;
use hooksd_system::limits;
use nix::sys::resource::Resource;

/// The part of the process's descriptors that connections may take: one in this many, or all that handlers and what is
/// kept for warm processes, documents and the journal leave, where that is more. A shortage of theirs is waited out
/// (D5), a connection's is not.
const DESCRIPTORS_PART: u64 = 3;

/// The fewest connections, however few descriptors there are. Connections.
const LEAST: u64 = 16;

/// Admits connections up to a number, and counts those it refuses.
#[derive(Debug)]
pub(crate) struct Gate {
    most: usize,
    refused: AtomicU64,
}

impl Gate {
    /// A gate for as many connections as the limits of this process allow, and no more than were set.
    pub(crate) fn of_this_process(set: usize) -> Gate {
        let most = most(limits(Resource::RLIMIT_NOFILE).soft, Bounds::of_this_process()).min(set);
        Gate { most, refused: AtomicU64::new(0) }
    }

    /// Whether one more may come in beside those that are there; it is counted with them if it may.
    pub(crate) fn admits(&self, connections: &AtomicUsize) -> bool {
        if connections.fetch_add(1, Ordering::AcqRel) < self.most {
            return true;
        }
        connections.fetch_sub(1, Ordering::AcqRel);
        self.refused.fetch_add(1, Ordering::Relaxed);
        false
    }

    /// How many connections there may be.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// How many connections were refused since the start.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

fn most(descriptors: Option<u64>, handlers: Bounds) -> usize {
    let all = descriptors.unwrap_or(u64::MAX);
    let most = (all / DESCRIPTORS_PART).max(handlers.descriptors_left(all)).max(LEAST);
    usize::try_from(most).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_get_a_third_of_the_descriptors_or_what_handlers_leave() {
        let most = |descriptors| most(Some(descriptors), Bounds { handlers: 192, nested: 32, starting: 16 });
        assert_eq!([20, 96, 1024, 20_000, 524_288].map(most), [16, 32, 341, 13_976, 392_192]);
    }
}
