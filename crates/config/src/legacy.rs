//! The older, list-shaped documents: `{"hooks": [{"command": [argv...], "events": [names]?}]}` (contract
//! section 11). Their handlers are mapped to the events of today and run natively, fire-and-forget (D17).

use hooksd_json::{Kind, Value};
use hooksd_protocol::diagnostic::{Diagnostic, code};
use hooksd_protocol::event::EventName;
use hooksd_protocol::methods::LegacyCommand;

use crate::lifecycle::Lifecycle;
use crate::model::{GroupDeclaration, HandlerDeclaration, LegacyEvent, OnFailure};

/// How long a handler of the older form may run. Seconds (contract section 11, D17).
pub const LEGACY_TIMEOUT_SECONDS: f64 = 5.0;

/// Whether the value of `hooks` is the older form: a list of objects.
#[must_use]
pub fn is_list_form(hooks: &Value<'_>) -> bool {
    hooks.kind() == Kind::Array && hooks.items().iter().all(Value::is_object)
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
    let deprecated =
        "the list form of \"hooks\" is deprecated: use {\"hooks\": {EVENT: [{\"hooks\": [...]}]}}";
    let mut diagnostics = vec![
        Diagnostic::warning(code::LEGACY_DEPRECATED, format!("{location}: {deprecated}")).field(location),
    ];
    if !events.is_empty() {
        let names: Vec<&str> = events.iter().map(|(event, _)| event.as_str()).collect();
        let message = format!("{location}: its commands run on {}", names.join(", "));
        diagnostics.push(Diagnostic::warning(code::LEGACY_MIGRATED, message).field(location));
    } else {
        let names = if unmapped.is_empty() { String::new() } else { format!(" ({})", unmapped.join(", ")) };
        let message = format!("{location}: nothing in it has an equivalent today{names}");
        diagnostics.push(Diagnostic::warning(code::LEGACY_UNMAPPED, message).field(location));
    }
    (events, diagnostics)
}

/// The events an entry asks for: none or an empty list is all of them; anything but a list is nothing.
fn wanted(entry: &Value<'_>, unmapped: &mut Vec<String>) -> Vec<LegacyEvent> {
    let Some(names) = entry.get("events").filter(|names| !names.is_null()) else {
        return LegacyEvent::ALL.to_vec();
    };
    if names.kind() != Kind::Array {
        return Vec::new();
    }
    let items = names.items();
    if items.is_empty() {
        return LegacyEvent::ALL.to_vec();
    }
    let mut events = Vec::new();
    for name in items.iter().filter_map(Value::as_str) {
        match LegacyEvent::ALL.into_iter().find(|event| event.as_str() == name) {
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
