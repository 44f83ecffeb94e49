//! What the parser drops, each with its place, and names that are nearly right.

use std::collections::BTreeMap;

use hooksd_config::bridge;
use hooksd_config::contents::Contents;
use hooksd_config::document::parsed;
use hooksd_config::places::{self, Place, WrittenGroup};
use hooksd_engine::explain::near;
use hooksd_json::{Dialect, Value};
use hooksd_protocol::diagnostic::{Diagnostic, code};

use super::{Document, Finding};

/// The keys of a handler.
const HANDLER_KEYS: [&str; 9] =
    ["type", "command", "argv", "timeout", "statusMessage", "async", "onFailure", "lifecycle", "workers"];

/// Other spellings that are read.
const OTHER_KEYS: [&str; 2] = ["status_message", "async_"];

/// The keys of a group.
const GROUP_KEYS: [&str; 2] = ["matcher", "hooks"];

pub(super) fn findings(document: &Document<'_>, contents: &Contents) -> Vec<Finding> {
    let value = match Value::parse(document.text, Dialect::Python) {
        Ok(value) => value,
        Err(error) => {
            let place = Place { line: error.line, column: error.column };
            let message = format!("it is not JSON: {}; none of its hooks would be loaded", error.message);
            let fix = syntax_fix(document.text, error.offset);
            return vec![document.placed(Some(place), code::CONFIG_READ_FAILED, message, fix)];
        }
    };
    let location = contents.path.display().to_string();
    let groups = places::groups(document.text);
    let parts = parts(&groups, &value);
    let mut found = Vec::new();
    for diagnostic in &parsed(contents).diagnostics {
        found.push(of_parser(document, diagnostic, &location, &parts, &groups));
    }
    if value.get("hooks").is_none() {
        let keys = value.pairs();
        let near = keys
            .iter()
            .find(|(key, _)| key.as_str().is_some_and(|key| near::nearest(&key, ["hooks"]).is_some()));
        if let Some((key, _)) = near {
            let message = format!("{} is no key that is read", key.raw());
            found.push(document.at(key.raw(), "unknown_key", message, "write \"hooks\""));
        }
    }
    for group in &groups {
        found.extend(misspelled(document, &group.value, &GROUP_KEYS, &HANDLER_KEYS));
        for handler in &group.handlers {
            // A handler that stands where its group should be is remarked on as such.
            if handler.value.raw() != group.value.raw() {
                found.extend(misspelled(document, &handler.value, &HANDLER_KEYS, &OTHER_KEYS));
            }
            if bridge::of_command(&handler.command()).is_some() {
                let message =
                    "it calls hooksd itself, which serves this file already; it is dropped".to_owned();
                found.push(document.at(handler.value.raw(), code::SELF_REFERENCE, message, "remove it"));
            }
        }
    }
    found
}

/// Keys that are not read, and are nearly one that is.
fn misspelled(document: &Document<'_>, value: &Value<'_>, known: &[&str], also: &[&str]) -> Vec<Finding> {
    let pairs = value.pairs();
    let unknown = pairs.iter().filter_map(|(key, _)| {
        let name = key.as_str()?;
        if known.contains(&name.as_ref()) || also.contains(&name.as_ref()) {
            return None;
        }
        let meant = near::nearest(&name, known.iter().copied())?;
        let message = format!("the key {} is not read", key.raw());
        Some(document.at(key.raw(), "unknown_key", message, format!("write {meant:?}")))
    });
    unknown.collect()
}

/// The parts of the text that diagnostics name, by path.
fn parts<'a>(groups: &[WrittenGroup<'a>], document: &Value<'a>) -> BTreeMap<String, &'a str> {
    let mut parts = BTreeMap::new();
    if let Some(hooks) = document.get("hooks") {
        for (name, groups) in hooks.entries() {
            parts.insert(format!("hooks.{name}"), groups.raw());
        }
        parts.insert("hooks".to_owned(), hooks.raw());
        // The older form: a list of entries.
        for (index, entry) in hooks.items().iter().enumerate() {
            let path = format!("hooks[{index}]");
            for (key, value) in entry.entries() {
                for (number, item) in value.items().iter().enumerate() {
                    parts.insert(format!("{path}.{key}[{number}]"), item.raw());
                }
                parts.insert(format!("{path}.{key}"), value.raw());
            }
            parts.insert(path, entry.raw());
        }
    }
    for group in groups {
        let [own, list, event] = &group.paths;
        parts.insert(own.clone(), group.value.raw());
        parts.insert(list.clone(), group.value.raw());
        parts.insert(event.clone(), group.event_key);
        for handler in &group.handlers {
            parts.insert(handler.path.clone(), handler.value.raw());
            for (key, value) in handler.value.entries() {
                parts.insert(format!("{}.{key}", handler.path), value.raw());
            }
        }
    }
    parts
}

fn of_parser(
    document: &Document<'_>,
    diagnostic: &Diagnostic,
    location: &str,
    parts: &BTreeMap<String, &str>,
    groups: &[WrittenGroup<'_>],
) -> Finding {
    let field = diagnostic.field.as_deref().unwrap_or_default();
    let path = field.strip_prefix(location).map_or("", |rest| rest.trim_start_matches(':'));
    let message = diagnostic.message.strip_prefix(field).unwrap_or(&diagnostic.message);
    let message = message.trim_start_matches([':', ' ']).to_owned();
    // The value of a key is a better place than the handler.
    let key = message.split(':').next().unwrap_or_default();
    let part = parts.get(&format!("{path}.{key}")).or_else(|| parts.get(path));
    let place = part.and_then(|part| Place::of(document.text, part));
    let event = groups.iter().find(|group| group.paths.last().is_some_and(|event| event == path));
    let event = event.map(|group| group.event_name.as_str()).or(path.strip_prefix("hooks."));
    let fix = fix(&message, event.unwrap_or_default());
    // An entry of the older form has no event that would say which one it is.
    let message = if path.starts_with("hooks[") { format!("{path}: {message}") } else { message };
    let code = if diagnostic.code == code::LEGACY_DEPRECATED || diagnostic.code == code::LEGACY_MIGRATED {
        "legacy_deprecated"
    } else if diagnostic.code == code::LEGACY_UNMAPPED {
        code::LEGACY_UNMAPPED
    } else {
        code::INVALID_CONFIG
    };
    document.placed(place, code, message, fix)
}

/// What to do about something the parser dropped.
fn fix(message: &str, event: &str) -> String {
    if message.starts_with("unknown event") {
        return match near::event(event) {
            Some(meant) => format!("write \"{meant}\""),
            None => "remove it, or use one of the known events".to_owned(),
        };
    }
    let known = [
        ("type", "write \"type\": \"command\""),
        ("command", "write \"command\": \"...\", a text for /bin/sh"),
        ("argv", "write \"argv\": [\"program\", \"argument\"]"),
        ("timeout", "write the seconds as a number, like \"timeout\": 10"),
        ("statusMessage", "write a text"),
        ("async", "remove it: the agent waits for every handler"),
        ("matcher", "write a text, like \"matcher\": \"Bash\""),
        ("a handler stands", "put it into {\"hooks\": [...]}"),
        (
            "expected a list of handlers",
            "write {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"...\"}]}",
        ),
        ("expected a list of groups", "write [{\"hooks\": [{\"type\": \"command\", \"command\": \"...\"}]}]"),
        ("expected a group", "write {\"hooks\": [{\"type\": \"command\", \"command\": \"...\"}]}"),
        ("expected \"ignore\"", "write \"onFailure\": \"block\" or \"ignore\""),
        ("expected \"per_event\"", "write \"lifecycle\": \"per_event\", or leave it out"),
        ("this field is required", "write {\"hooks\": {\"PreToolUse\": [...]}}"),
        (
            "the list form",
            "write {\"hooks\": {\"EVENT\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"...\"}]}]}}",
        ),
        ("its commands run on", "write them under these events"),
        ("expected a list of strings", "write [\"program\", \"argument\"]"),
        ("the command is", "write \"command\": [\"program\", \"argument\"], or remove the entry"),
        ("there is no event", "write the event's name, such as session.end"),
    ];
    let fix = known.iter().find(|(beginning, _)| message.starts_with(beginning)).map(|(_, fix)| *fix);
    fix.unwrap_or("see docs/hooks.md for what is read").to_owned()
}

/// What is usually the matter where JSON ends.
fn syntax_fix(text: &str, offset: usize) -> String {
    let before = text.get(..offset).unwrap_or(text).trim_end();
    let after = text.get(offset..).unwrap_or_default().trim_start();
    if before.ends_with(',') && after.starts_with(['}', ']']) {
        return "remove the comma before it".to_owned();
    }
    if after.starts_with("//") || after.starts_with("/*") || after.starts_with('#') {
        return "remove the comment: JSON has none".to_owned();
    }
    if after.starts_with('\'') || after.starts_with('\u{201c}') {
        return "write \" around texts".to_owned();
    }
    if after.starts_with(['"', '{', '[']) && before.ends_with(['"', '}', ']', 'e', 'l']) {
        return "put a comma before it".to_owned();
    }
    if after.is_empty() {
        return "close what is open: a bracket, a brace or a quote is missing".to_owned();
    }
    "correct the text here".to_owned()
}
