//! An agent's JSON document with and without our entries. Pure: text in, text out.
//!
//! Guarantees: entries of others, other keys, order, comments, indentation, line ends and the byte order mark stay as
//! they are; installing twice changes nothing; an older entry of ours is brought up to date where it stands; taking ours
//! out of an installed document gives the document back.

use hooksd_config::bridge::{self, Bridge};

use super::entry::{Entry, command, element};
use super::json::edit::{append, remove, splice, style_of};
use super::json::parse::SyntaxError;
use super::json::render::{Style, Value, quoted};
use super::json::{Node, parse};
use super::known::{Agent, Event, Shape};

/// A new document before anything is added.
fn empty(agent: &Agent) -> String {
    let mut members: Vec<_> = agent.document.iter().map(|(key, value)| (*key, value.value())).collect();
    let list =
        if agent.shape == Shape::Listed { Value::Array(Vec::new()) } else { Value::Object(Vec::new()) };
    members.push(("hooks", list));
    let style = Style { newline: "\n", unit: Some("  ".to_owned()) };
    Value::Object(members).render(&style, "") + "\n"
}

/// The document with our entries for every event of the agent; `None` and a blank one begin anew.
///
/// # Errors
/// When the document cannot be read, or something else stands where hooks belong: where.
pub(crate) fn with_ours(text: Option<&str>, agent: &Agent, program: &str) -> Result<String, SyntaxError> {
    let mut text =
        match text.filter(|text| !text.trim_start_matches(super::json::parse::BOM).trim().is_empty()) {
            Some(text) => text.to_owned(),
            None => empty(agent),
        };
    for event in agent.events {
        text = with_event(&text, agent, program, *event)?;
    }
    // Entries for events we no longer ask for, and second ones for one event: each would run the event again.
    loop {
        let root = read(&text, agent)?;
        let mut kept = Vec::new();
        let surplus = found(&root, agent).into_iter().find(|own| {
            // A file for several agents has events that this one does not know.
            let known = agent.argument.is_some() || agent.events.iter().any(|event| event.name == own.event);
            let wanted = known && !kept.contains(&own.event);
            kept.push(own.event.clone());
            !wanted
        });
        let Some(own) = surplus else { return Ok(text) };
        text = without(&text, agent, &root, &own, &[]);
    }
}

fn with_event(text: &str, agent: &Agent, program: &str, event: Event) -> Result<String, SyntaxError> {
    let root = read(text, agent)?;
    let style = style_of(text, &root);
    if let Some(own) = found(&root, agent).into_iter().find(|own| own.event == event.name) {
        let wanted = command(agent, program, event, Some(&own.bridge));
        let stands = own.command.as_str() == Some(&wanted);
        let (start, end) = (own.command.span.start, own.command.span.end);
        return Ok(if stands { text.to_owned() } else { splice(text, start, end, &quoted(&wanted)) });
    }
    let ours = element(agent, program, event);
    let wrong = |node: &Node, message: &str| Err(SyntaxError::at(text, node.span.start, message));
    let listed = agent.shape == Shape::Listed;
    let Some(hooks) = container(&root, agent) else {
        let list = Value::Array(vec![ours]);
        let hooks = if listed { list } else { Value::Object(vec![(event.name, list)]) };
        return Ok(append(text, &root, Some("hooks"), &hooks, &style));
    };
    if listed {
        return match hooks.is_array() {
            true => Ok(append(text, hooks, None, &ours, &style)),
            false => wrong(hooks, "\"hooks\" should be a list"),
        };
    }
    if !hooks.is_object() {
        return wrong(hooks, "\"hooks\" should be an object");
    }
    match hooks.get(event.name) {
        None => Ok(append(text, hooks, Some(event.name), &Value::Array(vec![ours]), &style)),
        Some(list) if list.is_array() => Ok(append(text, list, None, &ours, &style)),
        Some(other) => wrong(other, "the event's hooks should be a list"),
    }
}

/// The document without our entries; `None` when nothing but what we brought is left of it. `earlier` are versions of
/// it from before ours were there: they tell which empty containers somebody else wrote.
///
/// # Errors
/// When the document cannot be read.
pub(crate) fn without_ours(
    text: &str,
    agent: &Agent,
    earlier: &[String],
) -> Result<Option<String>, SyntaxError> {
    let mut root = read(text, agent)?;
    let Some(first) = found(&root, agent).into_iter().next() else { return Ok(Some(text.to_owned())) };
    let before =
        |version: &&String| with_ours(Some(version), agent, &first.bridge.program).as_deref() == Ok(text);
    if let Some(version) = earlier.iter().find(before) {
        return Ok(Some(version.clone()));
    }
    let known: Vec<Node> = earlier.iter().filter_map(|version| read(version, agent).ok()).collect();
    let mut out = text.to_owned();
    while let Some(own) = found(&root, agent).into_iter().next() {
        out = without(&out, agent, &root, &own, &known);
        root = read(&out, agent)?;
    }
    let ours_alone = root.items().iter().all(|item| agent.document.iter().any(|(key, _)| *key == item.key));
    Ok(if ours_alone && earlier.is_empty() { None } else { Some(out) })
}

/// Our entries in a document.
///
/// # Errors
/// When the document cannot be read.
pub(crate) fn entries(text: &str, agent: &Agent) -> Result<Vec<Entry>, SyntaxError> {
    let root = read(text, agent)?;
    let entry = |own: OurEntry<'_>| Entry {
        event: own.event,
        command: own.command.as_str().unwrap_or_default().to_owned(),
        program: own.bridge.program,
    };
    Ok(found(&root, agent).into_iter().map(entry).collect())
}

/// Where an entry of ours stands in its event's list of groups, and what an agent that approves hooks one by one hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) event: String,
    pub(crate) group: usize,
    pub(crate) handler: usize,
    pub(crate) command: String,
    pub(crate) timeout: Option<u64>,
    /// Whether it has nothing but what we write.
    pub(crate) plain: bool,
    /// Whether a group of somebody else comes after it.
    pub(crate) followed: bool,
}

/// The same for all entries of ours in a document of [`Shape::Grouped`].
///
/// # Errors
/// When the document cannot be read.
pub(crate) fn positions(text: &str, agent: &Agent) -> Result<Vec<Position>, SyntaxError> {
    let root = read(text, agent)?;
    let position = |own: &OurEntry<'_>| {
        let [.., (groups, group), (handlers, handler)] = own.path.as_slice() else { return None };
        let outer = &groups.items().get(*group)?.value;
        let entry = &handlers.items().get(*handler)?.value;
        let timeout = entry.get(agent.timeout.0).and_then(|node| text.get(node.span.clone()));
        let usual = |key: &str| {
            key == "command" || key == agent.timeout.0 || agent.entry.iter().any(|(own, _)| *own == key)
        };
        Some(Position {
            event: own.event.clone(),
            group: *group,
            handler: *handler,
            command: own.command.as_str()?.to_owned(),
            timeout: timeout.and_then(|number| number.parse().ok()),
            plain: outer.items().len() == 1 && entry.items().iter().all(|item| usual(&item.key)),
            followed: groups.items().len() > group + 1,
        })
    };
    Ok(found(&root, agent).iter().filter_map(position).collect())
}

fn read(text: &str, agent: &Agent) -> Result<Node, SyntaxError> {
    let root = parse(text, agent.dialect)?;
    match root.is_object() {
        true => Ok(root),
        false => Err(SyntaxError::at(text, root.span.start, "the document should be an object")),
    }
}

/// Where hooks stand: under `hooks`, or, for agents that also read that, at the top.
fn container<'n>(root: &'n Node, agent: &Agent) -> Option<&'n Node> {
    let named = |key: &str| agent.events.iter().any(|event| event.name == key);
    let bare = || agent.bare_events && root.items().iter().any(|item| named(&item.key));
    root.get("hooks").or_else(|| bare().then_some(root))
}

/// One of our entries: which items lead to it, from the outermost container inwards, and what it says.
struct OurEntry<'n> {
    event: String,
    path: Vec<(&'n Node, usize)>,
    command: &'n Node,
    bridge: Bridge,
}

fn found<'n>(root: &'n Node, agent: &Agent) -> Vec<OurEntry<'n>> {
    let mut out = Vec::new();
    let Some(hooks) = container(root, agent) else { return out };
    let top = root.items().iter().position(|item| item.value.span == hooks.span).map(|at| (root, at));
    let mut add = |event: &str, path: Vec<(&'n Node, usize)>, entry: &'n Node| {
        if let Some((command, bridge)) = own_command(entry, agent) {
            let path = top.into_iter().chain(path).collect();
            out.push(OurEntry { event: event.to_owned(), path, command, bridge });
        }
    };
    for (at, item) in hooks.items().iter().enumerate() {
        let list = &item.value;
        match agent.shape {
            Shape::Listed => {
                let trigger = list.get("trigger").and_then(Node::as_str).unwrap_or_default();
                add(trigger, vec![(hooks, at)], list);
            }
            Shape::Grouped => {
                for (group_at, group) in list.items().iter().enumerate() {
                    let Some(handlers) = group.value.get("hooks") else { continue };
                    for (entry_at, entry) in handlers.items().iter().enumerate() {
                        let path = vec![(hooks, at), (list, group_at), (handlers, entry_at)];
                        add(&item.key, path, &entry.value);
                    }
                }
            }
            Shape::Flat | Shape::Toml => {
                for (entry_at, entry) in list.items().iter().enumerate() {
                    add(&item.key, vec![(hooks, at), (list, entry_at)], &entry.value);
                }
            }
        }
    }
    out
}

fn own_command<'n>(entry: &'n Node, agent: &Agent) -> Option<(&'n Node, Bridge)> {
    let action = entry.get("action").and_then(|action| action.get("command"));
    let command = entry.get("command").or_else(|| entry.get("bash")).or(action)?;
    let bridge = bridge::of_command(command.as_str()?)?;
    agent.owns(bridge.agent.as_deref()).then_some((command, bridge))
}

/// Takes one entry out, with the containers that then hold nothing, unless they were there and empty before us.
fn without(text: &str, agent: &Agent, root: &Node, own: &OurEntry<'_>, known: &[Node]) -> String {
    let was_there = |depth: usize| {
        known.iter().any(|version| {
            let hooks = container(version, agent);
            match (depth, agent.shape) {
                (0, _) => true,
                (1, _) => hooks.is_some(),
                (2, Shape::Grouped | Shape::Flat) => hooks.and_then(|hooks| hooks.get(&own.event)).is_some(),
                _ => false,
            }
        })
    };
    // Containers by depth from the root: 0 the root, 1 `hooks`, 2 the event's list, 3 a group's handlers.
    let shift = usize::from(own.path.first().is_some_and(|(container, _)| container.span != root.span));
    let mut level = own.path.len() - 1;
    while level > 0 {
        let alone = own.path.get(level).is_some_and(|(container, _)| container.items().len() == 1);
        if !alone || was_there(level + shift) {
            break;
        }
        level -= 1;
    }
    match own.path.get(level) {
        Some((container, at)) => remove(text, container, *at),
        None => text.to_owned(),
    }
}
