//! What a decision comes to in one word, why, and which handler has decided: for those who look on, never for agents.

use hooksd_protocol::decision::{Behavior, Body, Decision};

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
    /// See [`outcome`].
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
        let outcome = outcome(decision);
        let feedback = match &decision.body {
            Body::PostTool { feedback, .. } | Body::Stop { feedback, .. } => feedback.first(),
            _ => None,
        };
        let permission = decision.permission().and_then(|permission| permission.reason.as_ref());
        let (reason, winner) = match outcome {
            "deny" | "ask" | "allow" => (permission, by.permission),
            "stop" => (decision.stop_reason.as_ref(), by.stopped),
            "continue" | "feedback" => (feedback, by.spoke),
            "context" => (None, by.context),
            _ => (None, None),
        };
        Verdict { outcome, reason: reason.cloned(), winner: winner.map(str::to_owned) }
    }
}

/// The strongest thing a decision says: `deny`, `stop`, `ask`, `allow`, `continue` (the agent goes on instead of
/// stopping), `feedback`, `context`, or `none`.
#[must_use]
pub fn outcome(decision: &Decision) -> &'static str {
    let behavior = decision.permission().map_or(Behavior::None, |permission| permission.behavior);
    match (behavior, &decision.body) {
        (Behavior::Deny, _) => "deny",
        _ if !decision.continue_processing => "stop",
        (Behavior::Ask, _) => "ask",
        (Behavior::Allow, _) => "allow",
        (_, Body::Stop { continue_loop: true, .. }) => "continue",
        (_, Body::PostTool { feedback, .. }) if !feedback.is_empty() => "feedback",
        (
            _,
            Body::Context { context }
            | Body::Prompt { context, .. }
            | Body::PreTool { context, .. }
            | Body::PostTool { context, .. },
        ) if !context.is_empty() => "context",
        _ => "none",
    }
}
