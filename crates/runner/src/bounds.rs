//! How many handlers may run at once, computed from what the system gives this process.
//!
//! Guarantee: each level of nesting has at least one place of its own, so that a nested call never waits for a
//! place that its parent holds (D12).

use hooksd_system::{limits, processes};
use nix::sys::resource::Resource;

use crate::limits::{
    DESCRIPTORS_EACH, DESCRIPTORS_KEPT, DESCRIPTORS_KEPT_PART, HANDLERS_BY_CORES_LEAST, HANDLERS_PER_CORE,
    NESTED_PART, PROCESSES_EACH, STARTING_PER_CORE,
};

/// Levels of nesting with places of their own: an agent's handlers, those of agents that handlers start, and those of
/// agents that those start. Deeper ones do not run in the daemon (D12); here they share the last level's.
pub(crate) const LEVELS: usize = 3;

/// How many handlers may run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Handlers of agents that no handler has started.
    pub handlers: usize,
    /// Handlers of nested calls, for each of the two levels.
    pub nested: usize,
    /// Handlers just started, for each level: what keeps one session's flood from having all cores.
    pub starting: usize,
}

impl Bounds {
    /// From the limits of this process and the number of cores.
    #[must_use]
    pub fn of_this_process() -> Bounds {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Bounds::compute(limits(Resource::RLIMIT_NOFILE).soft, processes(), cores)
    }

    fn compute(descriptors: Option<u64>, processes: Option<u64>, cores: usize) -> Bounds {
        let by_descriptors = descriptors.map(|all| all.saturating_sub(kept(all)) / DESCRIPTORS_EACH);
        let by_processes = processes.map(|all| all / PROCESSES_EACH);
        let by_cores = HANDLERS_BY_CORES_LEAST.max((cores as u64).saturating_mul(HANDLERS_PER_CORE));
        let least = [by_descriptors, by_processes].into_iter().flatten().fold(by_cores, u64::min);
        let all = usize::try_from(least).unwrap_or(usize::MAX);
        let nested = (all / NESTED_PART).max(1);
        Bounds {
            handlers: all.saturating_sub((LEVELS - 1) * nested).max(1),
            nested,
            starting: cores.saturating_mul(STARTING_PER_CORE).max(1),
        }
    }

    /// The same with at most this many places in all; never more than there were, never a level without one.
    #[must_use]
    pub fn at_most(self, all: usize) -> Bounds {
        if all >= self.all() {
            return self;
        }
        let nested = (all / NESTED_PART).max(1);
        let handlers = all.saturating_sub((LEVELS - 1) * nested).max(1);
        Bounds { handlers, nested, ..self }
    }

    /// Of so many descriptors those that are neither for handlers nor kept for everything else.
    #[must_use]
    pub fn descriptors_left(&self, descriptors: u64) -> u64 {
        let handlers = (self.all() as u64).saturating_mul(DESCRIPTORS_EACH);
        descriptors.saturating_sub(kept(descriptors)).saturating_sub(handlers)
    }

    /// Processes that may stay or wait beside the running handlers. They live of what is kept for everything else, and
    /// take at most half of it: the rest is for connections and documents.
    pub(crate) fn warm_processes() -> usize {
        warm_processes(limits(Resource::RLIMIT_NOFILE).soft, processes())
    }

    /// Places of all levels.
    #[must_use]
    pub fn all(&self) -> usize {
        self.handlers.saturating_add(self.nested.saturating_mul(LEVELS - 1))
    }
}

/// What is kept of so many descriptors for everything but handlers.
fn kept(descriptors: u64) -> u64 {
    DESCRIPTORS_KEPT.max(descriptors / DESCRIPTORS_KEPT_PART)
}

fn warm_processes(descriptors: Option<u64>, processes: Option<u64>) -> usize {
    let by_descriptors = descriptors.map(|all| kept(all).min(all) / 2 / DESCRIPTORS_EACH);
    let by_processes = processes.map(|all| all / PROCESSES_EACH / 2);
    let least = [by_descriptors, by_processes].into_iter().flatten().min().unwrap_or(u64::MAX);
    usize::try_from(least).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scarcest_thing_decides_and_every_level_has_a_place() {
        let of = |descriptors, processes, cores| {
            let Bounds { handlers, nested, starting } = Bounds::compute(descriptors, processes, cores);
            (handlers, nested, starting)
        };
        assert_eq!(of(None, None, 2), (192, 32, 16), "cores");
        assert_eq!(of(Some(1_000_000), Some(1_000_000), 16), (1536, 256, 128), "cores");
        assert_eq!(of(Some(1024), None, 2), (144, 24, 16), "descriptors");
        assert_eq!(of(Some(96), None, 2), (10, 1, 16), "few descriptors");
        assert_eq!(of(Some(96), Some(20), 2), (3, 1, 16), "few processes");
        assert_eq!(of(Some(0), Some(0), 1), (1, 1, 8), "nothing at all");
    }

    #[test]
    fn what_handlers_and_everything_else_leave_is_left() {
        let left = |descriptors| Bounds::compute(Some(descriptors), None, 2).descriptors_left(descriptors);
        assert_eq!([0, 96, 1024, 20_000, 524_288].map(left), [0, 0, 0, 13_976, 392_192]);
    }

    #[test]
    fn a_wanted_bound_only_lowers() {
        let bounds = Bounds { handlers: 192, nested: 32, starting: 16 };
        assert_eq!(bounds.at_most(usize::MAX), bounds);
        assert_eq!(bounds.at_most(256), bounds);
        assert_eq!(bounds.at_most(16), Bounds { handlers: 12, nested: 2, starting: 16 });
        assert_eq!(bounds.at_most(0), Bounds { handlers: 1, nested: 1, starting: 16 });
    }

    #[test]
    fn warm_processes_leave_half_of_what_is_kept() {
        assert_eq!(warm_processes(None, None), usize::MAX);
        assert_eq!(warm_processes(Some(1024), None), 32);
        assert_eq!(warm_processes(Some(96), None), 6);
        assert_eq!(warm_processes(Some(1024), Some(40)), 5);
        assert_eq!(warm_processes(Some(0), Some(0)), 0);
    }

    #[test]
    fn all_places_together_stay_within_what_there_is() {
        for descriptors in (60..5000).step_by(7) {
            let all = Bounds::compute(Some(descriptors), None, 2).all() as u64;
            assert!(all * DESCRIPTORS_EACH + DESCRIPTORS_KEPT <= descriptors, "{all} of {descriptors}");
        }
    }
}
