//! The older, list-shaped documents: `{"hooks": [{"command": [argv...], "events": [names]?}]}` (contract
//! section 11). Their handlers are mapped to the events of today and run natively, fire-and-forget (D17).

use hooksd_json::{Kind, Value};
use hooksd_protocol::diagnostic::{Diagnostic, code};
use hooksd_protocol::event::EventName;
use hooksd_protocol::methods::{LegacyCommand, LegacyName};

use crate::lifecycle::Lifecycle;
use crate::model::{GroupDeclaration, HandlerDeclaration, LegacyEvent, OnFailure};

/// How long a handler of the older form may run. Seconds (contract section 11, D17).
pub const LEGACY_TIMEOUT_SECONDS: f64 = 5.0;

/// Whether the value of `hooks` is the older form: a list with an object in it, or an empty one. What else is in such a
/// list costs itself alone (D18).
#[must_use]
pub fn is_list_form(hooks: &Value<'_>) -> bool {
    let items = hooks.items();
    hooks.kind() == Kind::Array && (items.is_empty() || items.iter().any(Value::is_object))
}

/// The commands as they are declared, for events that agents report in the older form.
#[must_use]
pub fn commands(hooks: &Value<'_>, location: &str) -> Vec<LegacyCommand> {
    let mut commands = Vec::new();
    for entry in hooks.items() {
        let Some(argv) = argv(&entry) else { continue };
        let events = match entry.get("events").filter(|names| !names.is_null()) {
            Some(names) if names.kind() != Kind::Array => continue,
            Some(names) => {
                names.items().iter().filter_map(|name| Some(name.as_str()?.into_owned())).collect()
            }
            None => Vec::new(),
        };
        let all = entry.get("events").is_none_or(|names| names.items().is_empty());
        let events = if all { None } else { Some(events) };
        commands.push(LegacyCommand { argv, events, source: location.to_owned() });
    }
    commands
}

fn argv(entry: &Value<'_>) -> Option<Vec<String>> {
    entry.get("command").and_then(|command| strings(&command)).filter(|argv| !argv.is_empty())
}

/// Maps the entries to events of today.
#[must_use]
pub fn migrate(
    hooks: &Value<'_>,
    location: &str,
) -> (Vec<(EventName, Vec<GroupDeclaration>)>, Vec<Diagnostic>) {
    let mut events: Vec<(EventName, Vec<GroupDeclaration>)> = Vec::new();
    let mut unmapped = Vec::new();
    for entry in hooks.items() {
        let Some(argv) = argv(&entry) else { continue };
        for legacy in wanted(&entry, &mut unmapped) {
            let (event, matcher) = legacy.equivalent();
            let group = GroupDeclaration {
                matcher: matcher.map(str::to_owned),
                handlers: vec![HandlerDeclaration {
                    command: String::new(),
                    argv: Some(argv.clone()),
                    timeout: Some(LEGACY_TIMEOUT_SECONDS),
                    status_message: None,
                    on_failure: OnFailure::Ignore,
                    lifecycle: Lifecycle::PerEvent,
                    workers: 1,
                    legacy: Some(legacy),
                }],
            };
            match events.iter_mut().find(|(name, _)| *name == event) {
                Some((_, groups)) => groups.push(group),
                None => events.push((event, vec![group])),
            }
        }
    }
    let mut diagnostics = told(location, &events, &unmapped);
    diagnostics.extend(problems(hooks, location));
    (events, diagnostics)
}

/// What is said of a document of the older form as a whole: that the form is old, on which events of today its commands
/// run, and which of the names it asks for are never derived from one.
fn told(
    location: &str,
    events: &[(EventName, Vec<GroupDeclaration>)],
    unmapped: &[String],
) -> Vec<Diagnostic> {
    let say = |kind: &'static str, message: String| {
        Diagnostic::warning(kind, format!("{location}: {message}")).field(location)
    };
    let deprecated =
        "the list form of \"hooks\" is deprecated: use {\"hooks\": {EVENT: [{\"hooks\": [...]}]}}";
    let mut diagnostics = vec![say(code::LEGACY_DEPRECATED, deprecated.to_owned())];
    if !events.is_empty() {
        let names: Vec<&str> = events.iter().map(|(event, _)| event.as_str()).collect();
        diagnostics.push(say(code::LEGACY_MIGRATED, format!("its commands run on {}", names.join(", "))));
    }
    let mut names: Vec<&str> = unmapped.iter().map(String::as_str).collect();
    names.dedup();
    let list = names.join(", ");
    let known: Vec<&str> =
        LegacyName::ALL.iter().map(|name| name.as_str()).filter(|name| names.contains(name)).collect();
    match (events.is_empty(), names.is_empty()) {
        (true, true) => {
            diagnostics.push(say(code::LEGACY_UNMAPPED, "nothing in it has an equivalent today".to_owned()));
        }
        (true, false) => {
            let message = format!("nothing in it has an equivalent today ({list})");
            diagnostics.push(say(code::LEGACY_UNMAPPED, message));
        }
        (false, _) if known.is_empty() => {}
        (false, _) => {
            let list = known.join(", ");
            let message = format!(
                "no event of today stands for {list}: that comes only from agents that report it (legacy/emit)"
            );
            diagnostics.push(say(code::LEGACY_UNMAPPED, message));
        }
    }
    diagnostics
}

/// What of the list cannot be used, item by item: each costs itself alone (D18).
fn problems(hooks: &Value<'_>, location: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut say = |place: String, reason: String| {
        let field = format!("{location}:{place}");
        found.push(Diagnostic::warning(code::INVALID_CONFIG, format!("{field}: {reason}")).field(field));
    };
    for (index, entry) in hooks.items().iter().enumerate() {
        let place = format!("hooks[{index}]");
        if !entry.is_object() {
            say(
                place,
                format!("expected {{\"command\": [...]}}, got {}; it is left out", entry.kind().noun()),
            );
            continue;
        }
        if argv(entry).is_none() {
            let reason = match entry.get("command") {
                None => "the command is missing; the entry is left out".to_owned(),
                Some(command) if command.kind() == Kind::Array && command.items().is_empty() => {
                    "the command is empty; the entry is left out".to_owned()
                }
                Some(command) => format!(
                    "expected a list of strings, the program and its arguments, got {}; the entry is left out",
                    command.kind().noun()
                ),
            };
            say(format!("{place}.command"), reason);
            continue;
        }
        let Some(names) = entry.get("events").filter(|names| !names.is_null()) else { continue };
        if names.kind() != Kind::Array {
            let reason =
                format!("expected a list of names, got {}; the entry never runs", names.kind().noun());
            say(format!("{place}.events"), reason);
            continue;
        }
        for (number, name) in names.items().iter().enumerate() {
            let reason = match name.as_str() {
                None => Some(format!("expected a name, got {}", name.kind().noun())),
                Some(name) if LegacyName::ALL.iter().any(|known| known.as_str() == name) => None,
                Some(name) => Some(unknown(&name)),
            };
            if let Some(reason) = reason {
                say(format!("{place}.events[{number}]"), format!("{reason}; it is left out"));
            }
        }
    }
    found
}

/// A name that no event of the older form has, with the one that was probably meant.
fn unknown(name: &str) -> String {
    /// How much a name must be like another to be taken for it. From 0 to 1.
    const ALIKE: f64 = 0.8;
    let near = LegacyName::ALL.iter().map(|known| (strsim::jaro_winkler(known.as_str(), name), known));
    let nearest = near.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(like, _)| *like >= ALIKE);
    match nearest {
        Some((_, known)) => format!("there is no event {name:?}; did you mean {known}?"),
        None => format!("there is no event {name:?} in the list form"),
    }
}

/// The events an entry asks for: none or an empty list is all of them; anything but a list is nothing.
fn wanted(entry: &Value<'_>, unmapped: &mut Vec<String>) -> Vec<LegacyEvent> {
    // An entry for all events is also for those that are never derived.
    let all = |unmapped: &mut Vec<String>| {
        let derived =
            |name: &LegacyName| LegacyEvent::ALL.iter().any(|event| event.as_str() == name.as_str());
        unmapped.extend(LegacyName::ALL.iter().filter(|name| !derived(name)).map(ToString::to_string));
        LegacyEvent::ALL.to_vec()
    };
    let Some(names) = entry.get("events").filter(|names| !names.is_null()) else {
        return all(unmapped);
    };
    if names.kind() != Kind::Array {
        return Vec::new();
    }
    let items = names.items();
    if items.is_empty() {
        return all(unmapped);
    }
    let mut events = Vec::new();
    for name in items.iter().filter_map(Value::as_str) {
        match LegacyEvent::ALL.into_iter().find(|event| event.as_str() == name) {
            Some(event) if events.contains(&event) => {}
            Some(event) => events.push(event),
            None => unmapped.push(name.into_owned()),
        }
    }
    events
}

fn strings(value: &Value<'_>) -> Option<Vec<String>> {
    if value.kind() != Kind::Array {
        return None;
    }
    value.items().iter().map(|item| Some(item.as_str()?.into_owned())).collect()
}
