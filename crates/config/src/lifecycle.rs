//! How long a handler's process lives (D9). Other agents ignore the key: the same file works everywhere.

use hooksd_json::Value;

/// The most processes of one persistent handler, and the most that wait for one prewarmed handler. Processes. An
/// interpreter is 10 MB; more events of one session are rarely in flight at once.
pub const MAX_WORKERS: u8 = 8;

/// How long a handler's process lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lifecycle {
    /// One event; the default.
    #[default]
    PerEvent,
    /// One event, but started ahead of it.
    Prewarmed,
    /// Many events, one line each.
    Persistent,
}

impl Lifecycle {
    /// The word in hooks.json.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Lifecycle::PerEvent => "per_event",
            Lifecycle::Prewarmed => "prewarmed",
            Lifecycle::Persistent => "persistent",
        }
    }

    /// Reads the key `lifecycle`; `None` for anything but the three words.
    pub(crate) fn read(value: &Value<'_>) -> Option<Lifecycle> {
        let word = value.as_str()?;
        let all = [Lifecycle::PerEvent, Lifecycle::Prewarmed, Lifecycle::Persistent];
        all.into_iter().find(|lifecycle| lifecycle.as_str() == word)
    }
}

/// Reads the key `workers`: a whole number from 1 to [`MAX_WORKERS`].
pub(crate) fn workers(value: &Value<'_>) -> Option<u8> {
    let workers = value.raw().parse::<u8>().ok()?;
    (1..=MAX_WORKERS).contains(&workers).then_some(workers)
}
