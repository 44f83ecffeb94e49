//! Chooses the handlers for an event, and makes what they read.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;

use hooksd_config::matcher::{Matched, Matcher};
use hooksd_config::{Handler, OnFailure, Snapshot};
use hooksd_json::{ReadError, Value, lenient_bool};
use hooksd_protocol::diagnostic::{Diagnostic, code};
use hooksd_protocol::event::EventName;
use hooksd_protocol::invocation::Invocation;

use crate::projection::{Facts, ProjectionError, Transcripts, legacy_stdin, stdin, subject};

/// An event in one of its two forms.
#[derive(Debug, Clone)]
pub enum Input {
    /// The domain form, which agents send that know hooksd.
    Invocation(Box<Invocation>),
    /// The JSON that agents hand to command hooks, which handlers get untouched.
    Payload(PayloadInput),
}

/// A payload that is passed on, and what is read of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayloadInput {
    /// The payload as it came, which is what handlers read.
    pub raw: Arc<[u8]>,
    /// The value of its `hook_event_name`.
    pub event_name: Cow<'static, str>,
    /// The event; `None` when hooksd does not know it.
    pub event: Option<EventName>,
    /// What matchers are compared with; `None` on events that have nothing to compare.
    pub subject: Option<String>,
    /// The value of its `cwd`.
    pub cwd: Option<String>,
    /// The value of its `session_id`; empty when it has none.
    pub session_id: String,
    /// The value of its `stop_hook_active`; false when it has none.
    pub stop_hook_active: bool,
    /// Its `agent_id`: the subagent, for events of one.
    pub agent_id: Option<String>,
}

impl PayloadInput {
    /// Reads of a payload what is needed.
    ///
    /// # Errors
    /// When the payload is no object, or has no `hook_event_name`.
    pub fn read(value: &Value<'_>) -> Result<PayloadInput, ReadError> {
        let fail =
            |path: &str, message: &str| ReadError { path: path.to_owned(), message: message.to_owned() };
        if !value.is_object() {
            return Err(fail("", "expected an object with hook_event_name"));
        }
        let [name, cwd, session_id, stop_hook_active, agent_id] =
            value.pick(["hook_event_name", "cwd", "session_id", "stop_hook_active", "agent_id"]);
        let text =
            |value: Option<Value<'_>>| value.and_then(|value| value.as_str()).map(|text| text.into_owned());
        let name = name.and_then(|name| name.as_str());
        let name = name.ok_or_else(|| fail("hook_event_name", "this field is required"))?;
        let event = name.parse::<EventName>().ok();
        let event_name = event.map_or_else(|| Cow::Owned(name.into_owned()), |event| event.as_str().into());
        let subject = event.and_then(|event| match event {
            EventName::SessionStart => Some("source"),
            EventName::SessionEnd => Some("reason"),
            EventName::Notification => Some("notification_type"),
            EventName::PreCompact => Some("trigger"),
            EventName::SubagentStart | EventName::SubagentStop => Some("agent_type"),
            event => event.is_tool_event().then_some("tool_name"),
        });
        Ok(PayloadInput {
            raw: value.raw().as_bytes().into(),
            event_name,
            event,
            subject: subject.and_then(|key| text(value.get(key))),
            cwd: text(cwd),
            session_id: text(session_id).unwrap_or_default(),
            stop_hook_active: stop_hook_active.and_then(|flag| lenient_bool(&flag)).unwrap_or(false),
            agent_id: text(agent_id),
        })
    }
}

impl Input {
    /// The event's working directory; `None` when it does not name one.
    #[must_use]
    pub fn cwd(&self) -> Option<&str> {
        match self {
            Input::Invocation(invocation) => Some(&invocation.context.cwd),
            Input::Payload(payload) => payload.cwd.as_deref(),
        }
    }

    /// The event's name, as the agent gave it.
    #[must_use]
    pub fn event_name(&self) -> Cow<'static, str> {
        match self {
            Input::Invocation(invocation) => invocation.event.name().as_str().into(),
            Input::Payload(payload) => payload.event_name.clone(),
        }
    }

    /// The event; `None` when hooksd does not know it.
    #[must_use]
    pub fn event(&self) -> Option<EventName> {
        match self {
            Input::Invocation(invocation) => Some(invocation.event.name()),
            Input::Payload(payload) => payload.event,
        }
    }
}

/// One handler that was chosen for an event.
#[derive(Debug, Clone)]
pub struct Selected {
    /// The handler.
    pub handler: Handler,
    /// What it reads on stdin; `None` when its matcher took too many steps, so that it counts as failed without
    /// running (D7).
    pub stdin: Option<Arc<[u8]>>,
}

/// What is to be done on an event.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What the reduction needs to know of the event.
    pub facts: Facts,
    /// The handlers that were chosen, in configuration order.
    pub selected: Vec<Selected>,
    /// What went wrong before anything ran.
    pub diagnostics: Vec<Diagnostic>,
}

fn facts(input: &Input) -> Option<Facts> {
    match input {
        Input::Invocation(invocation) => Some(Facts::of(&invocation.event)),
        // A payload only says whether the agent was made to go on at all, which counts as once.
        Input::Payload(payload) => {
            Some(Facts { event: payload.event?, continuation_count: i64::from(payload.stop_hook_active) })
        }
    }
}

/// What matchers are compared with; `None` on events that have nothing to compare.
fn subject_of(input: &Input) -> Result<Option<Cow<'_, str>>, ProjectionError> {
    match input {
        Input::Invocation(invocation) => Ok(subject(&invocation.event)?.map(Cow::Owned)),
        Input::Payload(payload) => Ok(payload.subject.as_deref().map(Cow::Borrowed)),
    }
}

/// How many steps all expressions may take together on a thread on which other requests wait. Steps. Nearly all
/// events need less.
const STEPS_AT_ONCE: usize = 10_000;

/// What it costs to ask a matcher, beside the steps that it takes. Steps.
const STEPS_TO_ASK: usize = 50;

/// How much of the subject costs one step, before the first step of the search. Bytes.
const BYTES_A_STEP: usize = 4;

/// Asks matchers within [`STEPS_AT_ONCE`] steps for all of them, and gives up beyond that.
fn at_once() -> impl FnMut(&Matcher, Option<&str>) -> Result<Option<Matched>, TakesLonger> {
    let mut left = STEPS_AT_ONCE;
    move |matcher, subject| {
        let to_ask = STEPS_TO_ASK + subject.map_or(0, str::len) / BYTES_A_STEP;
        left = left.checked_sub(to_ask).ok_or(TakesLonger)?;
        match matcher.matches_within(subject, &mut left) {
            Matched::BoundReached => Err(TakesLonger),
            matched => Ok(Some(matched)),
        }
    }
}

/// The expressions need more time, so that nothing is known yet.
struct TakesLonger;

/// The handlers that were chosen for an event.
#[derive(Debug, Clone)]
pub struct Chosen {
    facts: Facts,
    /// The position of each handler in the snapshot, in configuration order, and whether it may run. An event that
    /// waits for its turn holds no more than that.
    handlers: Vec<(usize, bool)>,
    diagnostics: Vec<Diagnostic>,
}

/// Chooses as [`choose`] does; `None` when the expressions take so long that they need a thread where they hold up
/// nobody.
#[must_use]
pub fn choose_at_once(snapshot: &Snapshot, input: &Input) -> Option<Chosen> {
    choose_by(snapshot, input, at_once()).ok()?
}

/// Finds the handlers that are for an event. `None` when hooksd does not know it: then nothing can be configured for
/// it.
///
/// `late` is asked before each matcher: once it says yes, no further one is tried, and a handler whose matcher was
/// not tried counts as one whose matcher reached its bound (D7, D22).
#[must_use]
pub fn choose(snapshot: &Snapshot, input: &Input, late: &dyn Fn() -> bool) -> Option<Chosen> {
    let ask = |matcher: &Matcher, subject: Option<&str>| -> Result<_, Infallible> {
        Ok((!late()).then(|| matcher.matches(subject)))
    };
    let Ok(chosen) = choose_by(snapshot, input, ask);
    chosen
}

fn failed(error: &ProjectionError) -> Diagnostic {
    Diagnostic::warning(code::PROJECTION_FAILED, format!("{error}; no handler runs on this event"))
}

/// `ask` tries a matcher, or says nothing of it.
fn choose_by<E>(
    snapshot: &Snapshot,
    input: &Input,
    mut ask: impl FnMut(&Matcher, Option<&str>) -> Result<Option<Matched>, E>,
) -> Result<Option<Chosen>, E> {
    let Some(facts) = facts(input) else { return Ok(None) };
    let mut chosen = Chosen { facts, handlers: Vec::new(), diagnostics: Vec::new() };
    let subject = match subject_of(input) {
        Ok(subject) => subject,
        Err(error) => {
            chosen.diagnostics.push(failed(&error));
            return Ok(Some(chosen));
        }
    };
    let mut last: Option<(&Arc<Matcher>, Option<Matched>)> = None;
    for (place, handler) in snapshot.candidates(chosen.facts.event, subject.as_deref()) {
        // The handlers of a group share one matcher, which is asked once.
        let matched = match last {
            Some((matcher, matched)) if Arc::ptr_eq(matcher, &handler.matcher) => matched,
            _ => ask(&handler.matcher, subject.as_deref())?,
        };
        last = Some((&handler.matcher, matched));
        match matched {
            Some(Matched::Yes) => chosen.handlers.push((place, true)),
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
                chosen.diagnostics.push(
                    Diagnostic::warning(code::MATCHER_BOUND, message).handler(&handler.id).field("matcher"),
                );
                if handler.on_failure == OnFailure::Block {
                    chosen.handlers.push((place, false));
                }
            }
        }
    }
    Ok(Some(chosen))
}

impl Chosen {
    /// The plan when no handler was chosen; `None` when one was.
    #[must_use]
    pub fn unmatched(&self) -> Option<Plan> {
        self.handlers.is_empty().then(|| self.without_handlers())
    }

    fn without_handlers(&self) -> Plan {
        Plan { facts: self.facts, selected: Vec::new(), diagnostics: self.diagnostics.clone() }
    }

    /// The plan, with what the handlers read. `snapshot` must be the one from which they were chosen.
    #[must_use]
    pub fn plan(&self, snapshot: &Snapshot, input: &Input, transcripts: &Transcripts) -> Plan {
        let mut plan = self.without_handlers();
        if self.handlers.is_empty() {
            return plan;
        }
        let payload: Arc<[u8]> = match input {
            Input::Payload(payload) => payload.raw.clone(),
            Input::Invocation(invocation) => match stdin(invocation, transcripts) {
                Ok(text) => text.into_bytes().into(),
                Err(error) => {
                    plan.diagnostics.push(failed(&error));
                    return plan;
                }
            },
        };
        let thread_id = match input {
            Input::Invocation(invocation) => invocation.context.thread_id.decoded(),
            Input::Payload(payload) => payload.session_id.as_str().into(),
        };
        let select = |(place, runs): &(usize, bool)| {
            let handler = snapshot.handlers().get(*place)?.clone();
            let stdin = match handler.legacy {
                Some(legacy) => legacy_stdin(legacy, &thread_id).into_bytes().into(),
                None => payload.clone(),
            };
            Some(Selected { handler, stdin: runs.then_some(stdin) })
        };
        plan.selected = self.handlers.iter().filter_map(select).collect();
        plan
    }
}
