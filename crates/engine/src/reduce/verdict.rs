//! Says what a decision comes to in one word, why, and which handler has decided. This is for people who look on, and
//! agents never get it.

use hooksd_protocol::decision::Decision;
use hooksd_protocol::outcome::EventOutcome;

/// Which handler, by its id, was the first to bring each part of a decision about.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct By<'a> {
    /// The handler of the permission that counts.
    pub(super) permission: Option<&'a str>,
    /// The handler that stops the agent.
    pub(super) stopped: Option<&'a str>,
    /// The handler that gave feedback or made the agent go on.
    pub(super) spoke: Option<&'a str>,
    /// The handler that gave context.
    pub(super) context: Option<&'a str>,
}

/// What a decision comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// What it comes to; see [`Decision::outcome`].
    pub outcome: EventOutcome,
    /// The reason, in the words of the handler that has decided.
    pub reason: Option<String>,
    /// The id of the handler that has decided.
    pub winner: Option<String>,
}

impl Verdict {
    /// The verdict on an event on which no handler has decided anything.
    #[must_use]
    pub fn without(outcome: EventOutcome, reason: Option<String>) -> Verdict {
        Verdict { outcome, reason, winner: None }
    }

    pub(super) fn of(decision: &Decision, by: &By<'_>) -> Verdict {
        let outcome = decision.outcome();
        let winner = match outcome {
            EventOutcome::Deny | EventOutcome::Ask | EventOutcome::Allow => by.permission,
            EventOutcome::Stop => by.stopped,
            EventOutcome::Continue | EventOutcome::Feedback => by.spoke,
            EventOutcome::Context => by.context,
            EventOutcome::None | EventOutcome::Cancelled | EventOutcome::Failed => None,
        };
        let (reason, winner) = (decision.reason().map(str::to_owned), winner.map(str::to_owned));
        Verdict { outcome, reason, winner }
    }
}
