//! What became of one handler of an event, as the answer, the feed and the journal read it.

use std::time::Instant;

use hooksd_protocol::diagnostic::Diagnostic;
use hooksd_protocol::outcome::Outcome;

/// What became of one handler.
#[derive(Debug, Clone, Default)]
pub struct Handled {
    /// How its process ended and what it printed; `None` when it counts as failed without running (D7).
    pub outcome: Option<Outcome>,
    /// Whether a process that was there before the event served it (D9).
    pub warm: bool,
    /// What is to be said of its lifecycle: why a warm process did not serve it, or that one fell out of step.
    pub remarks: Vec<Diagnostic>,
    /// When the event asked for it; `None` until the fan-out has set it.
    pub asked: Option<Instant>,
}
