//! The decision on an event, which is all that an agent gets. Null and empty fields are present in its JSON, so that
//! clients need no defaults.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use crate::diagnostic::Diagnostic;
use crate::event::EventName;
use crate::outcome::EventOutcome;
use hooksd_json::{RawJson, ReadError, Reading, Value, read};

/// What handlers say about a tool call, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Behavior {
    /// No handler has an opinion: the agent decides as it would have.
    None,
    /// Go on without asking.
    Allow,
    /// Ask the person.
    Ask,
    /// Do not do it.
    Deny,
}

/// The permission part of a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Permission {
    /// What the strongest handler wants: a deny is stronger than an ask, and that than an allow. Among equals the
    /// first handler in configuration order counts.
    pub behavior: Behavior,
    /// The reason that this handler has given.
    #[serde(default)]
    pub reason: Option<String>,
    /// Whether the agent should also stop what it is doing.
    #[serde(default)]
    pub interrupt: bool,
}

impl Permission {
    /// The permission when no handler has an opinion.
    #[must_use]
    pub fn none() -> Permission {
        Permission { behavior: Behavior::None, reason: None, interrupt: false }
    }
}

/// The part of a decision that depends on the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[allow(missing_docs, reason = "fields as in PROTOCOL, Events")]
pub enum Body {
    /// The body on SessionStart, SubagentStart and SubagentStop.
    Context { context: Vec<String> },
    /// The body on UserPromptSubmit.
    Prompt { context: Vec<String>, suppress_original_prompt: bool },
    /// The body on PermissionRequest.
    Permission { permission: Permission },
    /// The body on PreToolUse.
    PreTool { permission: Permission, context: Vec<String> },
    /// The body on PostToolUse and PostToolUseFailure.
    PostTool { feedback: Vec<String>, context: Vec<String> },
    /// The body on Stop.
    Stop { continue_loop: bool, feedback: Vec<String> },
    /// The body, which is empty, on SessionEnd, Notification and PreCompact, and on events that hooksd does not know.
    Plain {},
}

impl Body {
    /// The body of an event on which no handler has said anything.
    #[must_use]
    pub fn neutral(event: EventName) -> Body {
        match event {
            EventName::SessionStart | EventName::SubagentStart | EventName::SubagentStop => {
                Body::Context { context: Vec::new() }
            }
            EventName::UserPromptSubmit => {
                Body::Prompt { context: Vec::new(), suppress_original_prompt: false }
            }
            EventName::PermissionRequest => Body::Permission { permission: Permission::none() },
            EventName::PreToolUse => Body::PreTool { permission: Permission::none(), context: Vec::new() },
            EventName::PostToolUse | EventName::PostToolUseFailure => {
                Body::PostTool { feedback: Vec::new(), context: Vec::new() }
            }
            EventName::Stop => Body::Stop { continue_loop: false, feedback: Vec::new() },
            EventName::SessionEnd | EventName::Notification | EventName::PreCompact => Body::Plain {},
        }
    }
}

/// The decision on an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct Decision {
    /// The event's name.
    pub event: String,
    /// False when the agent should stop.
    pub continue_processing: bool,
    /// Why the agent should stop; null when it should not, or when no handler has said why.
    pub stop_reason: Option<String>,
    /// What the person should be shown, in configuration order.
    pub user_notices: Vec<String>,
    /// Escape sequences for the person's terminal; only harmless ones come here.
    pub terminal_sequences: Vec<String>,
    /// What did not count, and why not.
    pub diagnostics: Vec<Diagnostic>,
    /// What depends on the event.
    #[serde(flatten)]
    pub body: Body,
    /// The output fields that the session accepts (D10), by their name in `accepts`. One is absent when no handler
    /// has set it.
    #[serde(flatten)]
    pub accepted: BTreeMap<String, RawJson>,
}

impl Serialize for Decision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.neutral_text() {
            Some(text) => text.serialize(serializer),
            None => Decision::serialize(self, serializer),
        }
    }
}

/// The neutral decision on each event, with its JSON. Nearly all decisions are neutral, and spelling one took 8 % of
/// an event's instructions (callgrind).
static NEUTRAL: LazyLock<Vec<(Decision, RawJson)>> = LazyLock::new(|| {
    let spelled = |event: EventName| {
        let (decision, mut text) = (Decision::neutral(event), Vec::new());
        Decision::serialize(&decision, &mut serde_json::Serializer::new(&mut text)).ok()?;
        Some((decision, RawJson::new(String::from_utf8(text).ok()?).ok()?))
    };
    EventName::ALL.into_iter().filter_map(spelled).collect()
});

impl Decision {
    /// The JSON of a decision on which no handler has said anything; `None` for other decisions.
    fn neutral_text(&self) -> Option<&'static RawJson> {
        NEUTRAL.iter().find(|(neutral, _)| self == neutral).map(|(_, text)| text)
    }

    /// The decision when no handler has said anything.
    #[must_use]
    pub fn neutral(event: EventName) -> Decision {
        Decision {
            event: event.as_str().to_owned(),
            continue_processing: true,
            stop_reason: None,
            user_notices: Vec::new(),
            terminal_sequences: Vec::new(),
            diagnostics: Vec::new(),
            body: Body::neutral(event),
            accepted: BTreeMap::new(),
        }
    }

    /// The permission; `None` on events that have none.
    #[must_use]
    pub fn permission(&self) -> Option<&Permission> {
        match &self.body {
            Body::Permission { permission } | Body::PreTool { permission, .. } => Some(permission),
            _ => None,
        }
    }

    /// The strongest thing that it says.
    ///
    /// ```
    /// use hooksd_protocol::{decision::Decision, event::EventName, outcome::EventOutcome};
    ///
    /// let mut decision = Decision::neutral(EventName::Stop);
    /// assert_eq!(decision.outcome(), EventOutcome::None);
    /// decision.continue_processing = false;
    /// assert_eq!(decision.outcome(), EventOutcome::Stop);
    /// ```
    #[must_use]
    pub fn outcome(&self) -> EventOutcome {
        let behavior = self.permission().map_or(Behavior::None, |permission| permission.behavior);
        match (behavior, &self.body) {
            (Behavior::Deny, _) => EventOutcome::Deny,
            _ if !self.continue_processing => EventOutcome::Stop,
            (Behavior::Ask, _) => EventOutcome::Ask,
            (Behavior::Allow, _) => EventOutcome::Allow,
            (_, Body::Stop { continue_loop: true, .. }) => EventOutcome::Continue,
            (_, Body::PostTool { feedback, .. }) if !feedback.is_empty() => EventOutcome::Feedback,
            (
                _,
                Body::Context { context }
                | Body::Prompt { context, .. }
                | Body::PreTool { context, .. }
                | Body::PostTool { context, .. },
            ) if !context.is_empty() => EventOutcome::Context,
            _ => EventOutcome::None,
        }
    }

    /// Why it comes to its outcome, in the words of the handler that has decided.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self.outcome() {
            EventOutcome::Deny | EventOutcome::Ask | EventOutcome::Allow => {
                self.permission()?.reason.as_deref()
            }
            EventOutcome::Stop => self.stop_reason.as_deref(),
            EventOutcome::Continue | EventOutcome::Feedback => match &self.body {
                Body::PostTool { feedback, .. } | Body::Stop { feedback, .. } => {
                    feedback.first().map(String::as_str)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Reads a decision as a client gets it. It is read strictly, for an answer that does not fit is no answer.
    ///
    /// # Errors
    /// The path and reason of the first field that does not fit.
    pub fn read(value: &Value<'_>) -> Result<Decision, ReadError> {
        #[derive(Deserialize)]
        struct Tag {
            event: EventName,
        }
        let event = read::<Tag>(value, Reading::Strict)?.event;
        let wire: Wire = read(value, Reading::Strict)?;
        wire.into_decision(event)
    }
}

/// All fields a decision can have, for reading.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    event: String,
    #[serde(default = "yes")]
    continue_processing: bool,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    user_notices: Vec<String>,
    #[serde(default)]
    terminal_sequences: Vec<String>,
    #[serde(default)]
    diagnostics: Vec<Diagnostic>,
    #[serde(default, deserialize_with = "present")]
    context: Option<Vec<String>>,
    #[serde(default, deserialize_with = "present")]
    feedback: Option<Vec<String>>,
    #[serde(default, deserialize_with = "present")]
    permission: Option<Permission>,
    #[serde(default, deserialize_with = "present")]
    suppress_original_prompt: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    continue_loop: Option<bool>,
    #[serde(default)]
    updated_input: Option<RawJson>,
    #[serde(default)]
    updated_permissions: Option<RawJson>,
    #[serde(default)]
    updated_tool_output: Option<RawJson>,
    #[serde(default)]
    updated_mcp_tool_output: Option<RawJson>,
    #[serde(default)]
    session_title: Option<RawJson>,
    #[serde(default)]
    initial_user_message: Option<RawJson>,
    #[serde(default)]
    watch_paths: Option<RawJson>,
    #[serde(default)]
    reload_skills: Option<RawJson>,
}

fn yes() -> bool {
    true
}

/// Reads a field that may be absent but not null.
fn present<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl Wire {
    fn into_decision(mut self, event: EventName) -> Result<Decision, ReadError> {
        let required = |field: &str| ReadError {
            path: field.to_owned(),
            message: format!("a decision on {event} has this field"),
        };
        let body = match Body::neutral(event) {
            Body::Context { .. } => Body::Context { context: self.context.take().unwrap_or_default() },
            Body::Prompt { .. } => Body::Prompt {
                context: self.context.take().unwrap_or_default(),
                suppress_original_prompt: self.suppress_original_prompt.take().unwrap_or_default(),
            },
            Body::Permission { .. } => {
                Body::Permission { permission: self.permission.take().ok_or_else(|| required("permission"))? }
            }
            Body::PreTool { .. } => Body::PreTool {
                permission: self.permission.take().ok_or_else(|| required("permission"))?,
                context: self.context.take().unwrap_or_default(),
            },
            Body::PostTool { .. } => Body::PostTool {
                feedback: self.feedback.take().unwrap_or_default(),
                context: self.context.take().unwrap_or_default(),
            },
            Body::Stop { .. } => Body::Stop {
                continue_loop: self.continue_loop.take().ok_or_else(|| required("continue_loop"))?,
                feedback: self.feedback.take().unwrap_or_default(),
            },
            Body::Plain {} => Body::Plain {},
        };
        let left_over = [
            ("context", self.context.is_some()),
            ("feedback", self.feedback.is_some()),
            ("permission", self.permission.is_some()),
            ("suppress_original_prompt", self.suppress_original_prompt.is_some()),
            ("continue_loop", self.continue_loop.is_some()),
        ];
        if let Some((field, _)) = left_over.into_iter().find(|(_, present)| *present) {
            let message = format!("a decision on {event} has no such field");
            return Err(ReadError { path: field.to_owned(), message });
        }
        let accepted = [
            ("updated_input", self.updated_input),
            ("updated_permissions", self.updated_permissions),
            ("updated_tool_output", self.updated_tool_output),
            ("updated_mcp_tool_output", self.updated_mcp_tool_output),
            ("session_title", self.session_title),
            ("initial_user_message", self.initial_user_message),
            ("watch_paths", self.watch_paths),
            ("reload_skills", self.reload_skills),
        ];
        Ok(Decision {
            event: self.event,
            continue_processing: self.continue_processing,
            stop_reason: self.stop_reason,
            user_notices: self.user_notices,
            terminal_sequences: self.terminal_sequences,
            diagnostics: self.diagnostics,
            body,
            accepted: accepted
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?)))
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_neutral_decision_is_spelled_as_any_other() {
        for event in EventName::ALL {
            let neutral = Decision::neutral(event);
            let said = Decision { user_notices: vec!["said".to_owned()], ..neutral.clone() };
            let spelled = serde_json::to_string(&said).unwrap().replace("[\"said\"]", "[]");
            assert_eq!(serde_json::to_string(&neutral).unwrap(), spelled);
            assert_eq!(serde_json::to_value(&neutral).unwrap().to_string().len(), spelled.len(), "{event}");
        }
    }
}
