//! One entry of ours: the command that an agent runs on an event, and what stands around it in the agent's document.

use super::agents::{Agent, Event, Shape, Unit};
use super::json::render::Value;

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

/// The command line for `/bin/sh`: `program` is an absolute path of whatever characters.
pub(crate) fn command(agent: &Agent, program: &str, event: &str) -> String {
    // Only a NUL cannot be quoted, and no path has one.
    let program = shlex::try_quote(program).unwrap_or_default();
    let event = if agent.names_event { format!(" --event {event}") } else { String::new() };
    format!("{program} hook --agent {}{event}", agent.name)
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
    let command = Value::String(command(agent, program, event.name));
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
