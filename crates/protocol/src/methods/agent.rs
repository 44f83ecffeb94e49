//! The agent behind a bridge. What it cannot do is kept with the decision that it cannot follow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::decision::{Behavior, Body, Decision};
use crate::diagnostic::{Diagnostic, code};

/// An agent that does not know hooksd, which its bridge describes for one event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentBehind {
    /// The name of the agent, such as `codex`.
    pub name: String,
    /// The parts of a decision on this event that the agent cannot follow. Where a decision has one, a diagnostic
    /// `not_enforced` says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cannot: Vec<Part>,
}

/// A part of a decision that an agent may not be able to follow. Every agent can follow a deny before a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The person is to be asked. A bridge denies then.
    Ask,
    /// The tool is to be called without asking.
    Allow,
    /// A permission is to be refused for which the agent has asked.
    Deny,
    /// Context for the model.
    Context,
    /// Feedback for the model.
    Feedback,
    /// The agent is to go on instead of stopping.
    Continue,
    /// The agent is to stop: `continue_processing` is false.
    Stop,
    /// Notices for the person.
    Notice,
}

impl Part {
    /// Whether a decision has this part.
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

    /// What the agent cannot do, as the end of a sentence.
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
    /// Says in a diagnostic for each part of a decision that the agent cannot follow it.
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
