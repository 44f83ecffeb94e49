//! What a decision comes to in one word, why, and which handler has decided: for those who look on, never for agents.

use hooksd_protocol::decision::Decision;

/// Which handler, by its id, was the first to bring something about.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct By<'a> {
    /// The permission that counts.
    pub(super) permission: Option<&'a str>,
    /// That the agent stops.
    pub(super) stopped: Option<&'a str>,
    /// Feedback, or that the agent goes on.
    pub(super) spoke: Option<&'a str>,
    /// Context.
    pub(super) context: Option<&'a str>,
}

/// What a decision comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// See [`Decision::outcome`].
    pub outcome: &'static str,
    /// Why, in the words of the handler that has decided.
    pub reason: Option<String>,
    /// Its id.
    pub winner: Option<String>,
}

impl Verdict {
    /// Nothing ran to its end, or nothing was said.
    #[must_use]
    pub fn without(outcome: &'static str, reason: Option<String>) -> Verdict {
        Verdict { outcome, reason, winner: None }
    }

    pub(super) fn of(decision: &Decision, by: &By<'_>) -> Verdict {
        let outcome = decision.outcome();
        let winner = match outcome {
            "deny" | "ask" | "allow" => by.permission,
            "stop" => by.stopped,
            "continue" | "feedback" => by.spoke,
            "context" => by.context,
            _ => None,
        };
        let (reason, winner) = (decision.reason().map(str::to_owned), winner.map(str::to_owned));
        Verdict { outcome, reason, winner }
    }
}
