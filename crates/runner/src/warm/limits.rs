//! Every limit of warm processes, with its unit and its reason.

use std::time::Duration;

/// Persistent processes alive at once. Processes. An interpreter is about 10 MB: 640 MB is what a developer's machine
/// can give in the worst case; the one idle longest makes room for the next.
pub const MOST_PERSISTENT: usize = 64;

/// Prewarmed processes waiting at once. Processes. Half as many, because each serves one event only.
pub const MOST_PREWARMED: usize = 32;

/// How long a persistent process may be idle: as long as a person may think about an answer.
pub const IDLE_PERSISTENT: Duration = Duration::from_secs(600);

/// How long a prewarmed process may wait for its event: what it has read of the world at its start grows old.
pub const IDLE_PREWARMED: Duration = Duration::from_secs(60);

/// Time between the end of its stdin and the kill of a retired process: enough to write a file, short enough for a
/// shutdown.
pub const RETIRE_GRACE: Duration = Duration::from_secs(1);

/// Failures in a row after which a handler runs per event. Failures.
pub const FAILURES_MOST: u32 = 5;

/// How long a new process is listened to after its first answer. A handler that prints a greeting, or two lines for one
/// payload, does so every time: it is found out at its first event, before another event could get what it says.
pub const LINGER: Duration = Duration::from_millis(10);

/// How long a second failure in a row keeps a handler per event; doubles with each further one.
pub(crate) const BACKOFF_FIRST: Duration = Duration::from_millis(100);

/// Events that may wait for a process of one handler. Events. One more is cold: beyond that the machine is better asked
/// for processes than for patience. Four times what one connection may have under way.
pub(crate) const MOST_QUEUED: usize = 4096;

/// Handlers of sessions remembered at once. Entries. One more is cold.
pub(crate) const MOST_SLOTS: usize = 1024;

/// Time between two looks at idle processes.
pub(crate) const SWEEP: Duration = Duration::from_secs(1);

/// What tests set otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// [`IDLE_PERSISTENT`].
    pub idle_persistent: Duration,
    /// [`IDLE_PREWARMED`].
    pub idle_prewarmed: Duration,
    /// [`RETIRE_GRACE`].
    pub retire_grace: Duration,
    /// [`MOST_PERSISTENT`].
    pub most_persistent: usize,
    /// [`MOST_PREWARMED`].
    pub most_prewarmed: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            idle_persistent: IDLE_PERSISTENT,
            idle_prewarmed: IDLE_PREWARMED,
            retire_grace: RETIRE_GRACE,
            most_persistent: MOST_PERSISTENT,
            most_prewarmed: MOST_PREWARMED,
        }
    }
}
