//! One entry of ours: the command that an agent runs on an event, and what stands around it in the agent's document.

use hooksd_config::bridge::Bridge;

use super::json::render::Value;
use super::known::{Agent, Event, Shape, Unit};

/// An entry of ours that was found in a document.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Entry {
    /// The agent's own name of the event.
    pub(crate) event: String,
    /// The whole command line.
    pub(crate) command: String,
    /// The program in it, as a path.
    pub(crate) program: String,
}

/// How much sooner than the agent gives up the bridge answers. Seconds.
const MARGIN_SECONDS: u64 = 1;

/// The command line for `/bin/sh`: `program` is an absolute path of whatever characters. An entry that is there already
/// keeps what a person has chosen: how long it may take, and what counts when there is no decision.
pub(crate) fn command(agent: &Agent, program: &str, event: Event, existing: Option<&Bridge>) -> String {
    let mut words = vec![program, "hook", "--agent", agent.argument.unwrap_or(agent.name)];
    if agent.names_event {
        words.extend(["--event", event.name]);
    }
    let kept = existing.map(|bridge| bridge.options.as_slice()).unwrap_or_default();
    let deadline = event.seconds.saturating_sub(MARGIN_SECONDS).max(1).to_string();
    if !kept.iter().any(|(name, _)| name == "--deadline") {
        words.extend(["--deadline", &deadline]);
    }
    words.extend(kept.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]));
    // Only a NUL cannot be quoted, and no argument of a program has one.
    shlex::try_join(words).unwrap_or_default()
}

/// An event's timeout in the agent's unit.
pub(crate) fn timeout(agent: &Agent, event: Event) -> u64 {
    match agent.timeout.1 {
        Unit::Seconds => event.seconds,
        Unit::Milliseconds => event.seconds.saturating_mul(1000),
    }
}

/// What is added to the event's list.
pub(crate) fn element(agent: &Agent, program: &str, event: Event) -> Value {
    let word = |text: &str| Value::String(text.to_owned());
    let command = Value::String(command(agent, program, event, None));
    let timeout = (agent.timeout.0, Value::Number(timeout(agent, event)));
    if agent.shape == Shape::Listed {
        return Value::Object(vec![
            ("name", Value::String(format!("hooksd-{}", event.name))),
            ("trigger", word(event.name)),
            ("action", Value::Object(vec![("type", word("command")), ("command", command)])),
            timeout,
            ("enabled", Value::True),
        ]);
    }
    let mut members: Vec<_> = agent.entry.iter().map(|(key, value)| (*key, word(value))).collect();
    members.extend([("command", command), timeout]);
    let entry = Value::Object(members);
    match agent.shape {
        Shape::Grouped => Value::Object(vec![("hooks", Value::Array(vec![entry]))]),
        _ => entry,
    }
}
