//! Which handlers are for an event, and what they read.

use std::sync::Arc;

use hooksd_config::matcher::Matched;
use hooksd_config::{Handler, OnFailure, Snapshot};
use hooksd_protocol::diagnostic::{Diagnostic, code};
use hooksd_protocol::event::EventName;
use hooksd_protocol::invocation::Invocation;
use hooksd_protocol::json::{ReadError, Value, lenient_bool};

use crate::projection::{Facts, Transcripts, legacy_stdin, stdin, subject};

/// An event in one of its two forms.
#[derive(Debug, Clone)]
pub enum Input {
    /// The domain form, from agents that know hooksd.
    Invocation(Box<Invocation>),
    /// The JSON agents hand to command hooks; passed on untouched.
    Payload(PayloadInput),
}

/// What is read of a payload that is passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayloadInput {
    /// The payload as it came; what handlers read.
    pub raw: Arc<[u8]>,
    /// Its `hook_event_name`.
    pub event_name: String,
    /// The event, if hooksd knows it.
    pub event: Option<EventName>,
    /// What matchers are tested against.
    pub subject: Option<String>,
    /// Its `cwd`.
    pub cwd: Option<String>,
    /// Its `session_id`.
    pub session_id: String,
    /// Its `stop_hook_active`.
    pub stop_hook_active: bool,
}

impl PayloadInput {
    /// Reads what is needed of a payload.
    ///
    /// # Errors
    /// When it is no object or has no `hook_event_name`.
    pub fn read(value: &Value<'_>) -> Result<PayloadInput, ReadError> {
        let fail =
            |path: &str, message: &str| ReadError { path: path.to_owned(), message: message.to_owned() };
        if !value.is_object() {
            return Err(fail("", "expected an object with hook_event_name"));
        }
        let text = |key: &str| value.get(key).and_then(|value| value.as_str()).map(|text| text.into_owned());
        let event_name =
            text("hook_event_name").ok_or_else(|| fail("hook_event_name", "this field is required"))?;
        let event = event_name.parse::<EventName>().ok();
        let subject = event.and_then(|event| match event {
            EventName::SessionStart => text("source"),
            EventName::SessionEnd => text("reason"),
            EventName::Notification => text("notification_type"),
            EventName::PreCompact => text("trigger"),
            EventName::SubagentStart | EventName::SubagentStop => text("agent_type"),
            event if event.is_tool_event() => text("tool_name"),
            _ => None,
        });
        Ok(PayloadInput {
            raw: value.raw().as_bytes().into(),
            event_name,
            event,
            subject,
            cwd: text("cwd"),
            session_id: text("session_id").unwrap_or_default(),
            stop_hook_active: value
                .get("stop_hook_active")
                .and_then(|flag| lenient_bool(&flag))
                .unwrap_or(false),
        })
    }
}

impl Input {
    /// The event's working directory, if it says one.
    #[must_use]
    pub fn cwd(&self) -> Option<&str> {
        match self {
            Input::Invocation(invocation) => Some(&invocation.context.cwd),
            Input::Payload(payload) => payload.cwd.as_deref(),
        }
    }

    /// The event's name as given.
    #[must_use]
    pub fn event_name(&self) -> &str {
        match self {
            Input::Invocation(invocation) => invocation.event.name().as_str(),
            Input::Payload(payload) => &payload.event_name,
        }
    }

    /// The event, if hooksd knows it.
    #[must_use]
    pub fn event(&self) -> Option<EventName> {
        match self {
            Input::Invocation(invocation) => Some(invocation.event.name()),
            Input::Payload(payload) => payload.event,
        }
    }
}

/// One handler that is for the event.
#[derive(Debug, Clone)]
pub struct Selected {
    /// The handler.
    pub handler: Handler,
    /// What it reads; `None` when its matcher reached its bound and it counts as failed without running (D7).
    pub stdin: Option<Arc<[u8]>>,
}

/// What is to be done on an event.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What reduction needs to know.
    pub facts: Facts,
    /// The handlers, in configuration order.
    pub selected: Vec<Selected>,
    /// What went wrong before anything ran.
    pub diagnostics: Vec<Diagnostic>,
}

/// Plans an event. `None` when hooksd does not know it: then nothing can be configured for it.
///
/// `late` is asked before each matcher: once it says yes, no further one is tried, and a handler whose matcher was
/// not tried counts as one whose matcher reached its bound (D7, D22).
#[must_use]
pub fn plan(
    snapshot: &Snapshot,
    input: &Input,
    transcripts: &Transcripts,
    late: &dyn Fn() -> bool,
) -> Option<Plan> {
    let facts = match input {
        Input::Invocation(invocation) => Facts::of(&invocation.event),
        // A payload only says whether it is the first time.
        Input::Payload(payload) => {
            Facts { event: payload.event?, continuation_count: i64::from(payload.stop_hook_active) }
        }
    };
    let mut plan = Plan { facts, selected: Vec::new(), diagnostics: Vec::new() };
    let failed = |reason: String| {
        Diagnostic::warning(code::PROJECTION_FAILED, format!("{reason}; no handler runs on this event"))
    };
    let subject = match input {
        Input::Invocation(invocation) => match subject(&invocation.event) {
            Ok(subject) => subject,
            Err(error) => {
                plan.diagnostics.push(failed(error.to_string()));
                return Some(plan);
            }
        },
        Input::Payload(payload) => payload.subject.clone(),
    };
    let mut chosen = Vec::new();
    for handler in snapshot.candidates(plan.facts.event, subject.as_deref()) {
        let matched = if late() { None } else { Some(handler.matcher.matches(subject.as_deref())) };
        match matched {
            Some(Matched::Yes) => chosen.push((handler, true)),
            Some(Matched::No) => {}
            None | Some(Matched::BoundReached) => {
                let why = if matched.is_none() {
                    "was not tried, the event's time was over"
                } else {
                    "took too many steps"
                };
                let consequence = if handler.on_failure == OnFailure::Block {
                    "it counts as failed"
                } else {
                    "it does not run"
                };
                let message = format!(
                    "matching {} of {} {why}: {consequence}; write a simpler expression",
                    handler.matcher_text.as_deref().unwrap_or_default(),
                    handler.id,
                );
                plan.diagnostics.push(
                    Diagnostic::warning(code::MATCHER_BOUND, message).handler(&handler.id).field("matcher"),
                );
                if handler.on_failure == OnFailure::Block {
                    chosen.push((handler, false));
                }
            }
        }
    }
    if chosen.is_empty() {
        return Some(plan);
    }
    let payload: Arc<[u8]> = match input {
        Input::Payload(payload) => payload.raw.clone(),
        Input::Invocation(invocation) => match stdin(invocation, transcripts) {
            Ok(text) => text.into_bytes().into(),
            Err(error) => {
                plan.diagnostics.push(failed(error.to_string()));
                return Some(plan);
            }
        },
    };
    let thread_id = match input {
        Input::Invocation(invocation) => invocation.context.thread_id.decoded(),
        Input::Payload(payload) => payload.session_id.as_str().into(),
    };
    plan.selected = chosen
        .into_iter()
        .map(|(handler, runs)| {
            let stdin = match handler.legacy {
                Some(legacy) => legacy_stdin(legacy, &thread_id).into_bytes().into(),
                None => payload.clone(),
            };
            Selected { handler: handler.clone(), stdin: runs.then_some(stdin) }
        })
        .collect();
    Some(plan)
}
