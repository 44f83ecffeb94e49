//! Turns a payload with the agent's names into one with the names that handlers know. Names change, and values are
//! passed on as they came.

use hooksd_json::{Dialect as JsonDialect, Value};

use crate::dialect::{Dialect, Tool};

/// A member of an object: its name, and its value as JSON.
pub(crate) type Member = (String, String);

/// Spells a text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    // A string always serializes; the fallback is never taken.
    serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned())
}

/// Spells the object that has these members.
pub(crate) fn object(members: &[Member]) -> String {
    let mut text = String::from("{");
    for (index, (name, value)) in members.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(&quoted(name));
        text.push(':');
        text.push_str(value);
    }
    text.push('}');
    text
}

/// Sets a member. One that is there keeps its position.
pub(crate) fn set(members: &mut Vec<Member>, name: &str, value: String) {
    match members.iter_mut().find(|(known, _)| known == name) {
        Some(member) => member.1 = value,
        None => members.push((name.to_owned(), value)),
    }
}

/// The members of a payload by the names that handlers know. When both names of a member are there, each keeps its own.
pub(crate) fn members(dialect: &Dialect, payload: &Value<'_>) -> Vec<Member> {
    called(payload, |own| dialect.fields.iter().find(|(name, _)| *name == own).map(|(_, known)| *known))
}

/// The members of an object by other names. A name that is there already, or that an earlier member was given, is not
/// given again: each name stands once, so that all who read the object read the same.
fn called<'a>(object: &Value<'_>, other: impl Fn(&str) -> Option<&'a str>) -> Vec<Member> {
    let entries = object.entries();
    let mut given = Vec::new();
    let mut name = |own: &str| {
        let is_there = |name: &str| entries.iter().any(|(there, _)| there == name);
        match other(own).filter(|name| !given.contains(name) && !is_there(name)) {
            Some(name) => {
                given.push(name);
                name.to_owned()
            }
            None => own.to_owned(),
        }
    };
    entries.iter().map(|(own, value)| (name(own), value.raw().to_owned())).collect()
}

/// Gives the tool, and the arguments of its input, the names that handlers know.
pub(crate) fn tool(dialect: &Dialect, payload: &Value<'_>, members: &mut [Member]) {
    let Some(at) = members.iter().position(|(name, _)| name == "tool_name") else { return };
    let Some(name) = members.get(at).and_then(|(_, raw)| text(raw)) else { return };
    if let Some(input) = members.iter_mut().find(|(member, _)| member == "tool_input")
        && let Some(object) = spelled_object(&input.1)
    {
        input.1 = object;
    }
    if let Some(known) = (dialect.mcp)(payload, &name) {
        if let Some(member) = members.get_mut(at) {
            member.1 = quoted(&known);
        }
        return;
    }
    let own = |tool: &&Tool| tool.0 == name;
    // Some agents use the known name of the tool already, but have names of their own for its arguments.
    let known = |tool: &&Tool| tool.1 == name;
    let tools = dialect.tools;
    let Some((_, known, arguments)) = tools.iter().find(own).or_else(|| tools.iter().find(known)) else {
        return;
    };
    if let Some(member) = members.get_mut(at) {
        member.1 = quoted(known);
    }
    if let Some(input) = members.iter_mut().find(|(member, _)| member == "tool_input") {
        input.1 = renamed(&input.1, arguments.iter().copied());
    }
}

/// Turns a tool's input with the names that handlers know into one with the agent's names.
pub(crate) fn own_input(dialect: &Dialect, own_tool: &str, input: &str) -> String {
    let tools = dialect.tools;
    let tool =
        tools.iter().find(|tool| tool.0 == own_tool).or_else(|| tools.iter().find(|tool| tool.1 == own_tool));
    match tool {
        Some((_, _, arguments)) => renamed(input, arguments.iter().map(|(own, known)| (*known, *own))),
        None => input.to_owned(),
    }
}

/// Spells an object with other names for some members. What is not an object stays as it is.
fn renamed<'a>(raw: &str, names: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> String {
    if names.clone().next().is_none() {
        return raw.to_owned();
    }
    let Ok(value) = Value::parse(raw, JsonDialect::Strict) else { return raw.to_owned() };
    if !value.is_object() {
        return raw.to_owned();
    }
    object(&called(&value, |own| names.clone().find(|(from, _)| *from == own).map(|(_, to)| to)))
}

/// The content of a JSON string; `None` when the JSON is something else.
pub(crate) fn text(raw: &str) -> Option<String> {
    let value = Value::parse(raw, JsonDialect::Strict).ok()?;
    value.as_str().map(std::borrow::Cow::into_owned)
}

/// The JSON object that a JSON string has as its content. Some agents encode the input of a tool twice.
fn spelled_object(raw: &str) -> Option<String> {
    let spelled = raw.starts_with('"').then(|| text(raw)).flatten()?;
    let value = Value::parse(&spelled, JsonDialect::Strict).ok()?;
    value.is_object().then(|| value.raw().to_owned())
}
