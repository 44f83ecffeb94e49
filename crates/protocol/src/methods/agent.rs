//! The agent behind a bridge: what it cannot do is kept with the decision it cannot follow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::decision::{Behavior, Body, Decision};
use crate::diagnostic::{Diagnostic, code};

/// An agent that does not know hooksd, as its bridge describes it for one event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentBehind {
    /// Its name, such as `codex`.
    pub name: String,
    /// What of a decision on this event it cannot follow. Where a decision has it, `not_enforced` says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cannot: Vec<Part>,
}

/// A part of a decision that an agent may not be able to follow. A deny before a tool is none of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A permission that is asked for; a bridge denies then.
    Ask,
    /// A permission that is given.
    Allow,
    /// A permission that is refused, where only a question for permission was.
    Deny,
    /// Context for the model.
    Context,
    /// Feedback for the model.
    Feedback,
    /// Going on instead of stopping.
    Continue,
    /// `continue_processing: false`.
    Stop,
    /// Notices for the person.
    Notice,
}

impl Part {
    /// Whether a decision has it.
    fn is_in(self, decision: &Decision) -> bool {
        let behavior = decision.permission().map(|permission| permission.behavior);
        match (self, &decision.body) {
            (Part::Ask, _) => behavior == Some(Behavior::Ask),
            (Part::Allow, _) => behavior == Some(Behavior::Allow),
            (Part::Deny, _) => behavior == Some(Behavior::Deny),
            (
                Part::Context,
                Body::Context { context }
                | Body::Prompt { context, .. }
                | Body::PreTool { context, .. }
                | Body::PostTool { context, .. },
            ) => !context.is_empty(),
            (Part::Feedback, Body::PostTool { feedback, .. }) => !feedback.is_empty(),
            (Part::Continue, Body::Stop { continue_loop, .. }) => *continue_loop,
            (Part::Stop, _) => !decision.continue_processing,
            (Part::Notice, _) => !decision.user_notices.is_empty(),
            _ => false,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Part::Ask => "ask the person, so it is told to deny",
            Part::Allow => "be told to allow, so it decides by its own rules",
            Part::Deny => "be told to deny",
            Part::Context => "take context",
            Part::Feedback => "take feedback",
            Part::Continue => "be made to go on",
            Part::Stop => "be stopped",
            Part::Notice => "show notices",
        }
    }
}

impl AgentBehind {
    /// What of this decision the agent cannot follow.
    #[must_use]
    pub fn not_enforced(&self, decision: &Decision) -> Vec<Diagnostic> {
        let missing = self.cannot.iter().filter(|part| part.is_in(decision));
        missing
            .map(|part| {
                let message = format!("on {}, {} cannot {}", decision.event, self.name, part.words());
                Diagnostic::warning(code::NOT_ENFORCED, message)
            })
            .collect()
    }
}
