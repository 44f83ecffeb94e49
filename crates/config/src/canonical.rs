//! The canonical form of a configuration, whose SHA-256 is the snapshot's id: the same configuration has the same
//! id on any machine (contract section 4). Sorted keys, absent fields omitted, numbers as Python writes them.

use std::fmt::Write;

use crate::lifecycle::Lifecycle;
use crate::model::{Group, HandlerDeclaration, OnFailure};
use hooksd_json::RawJson;
use hooksd_protocol::event::EventName;
use hooksd_protocol::methods::LegacyCommand;

/// The canonical text of merged groups.
#[must_use]
pub fn text(events: &[(EventName, Vec<Group>)]) -> String {
    let mut sorted: Vec<&(EventName, Vec<Group>)> = events.iter().collect();
    sorted.sort_by_key(|(event, _)| event.as_str());
    let mut out = String::from("{\"hooks\":{");
    for (index, (event, groups)) in sorted.into_iter().enumerate() {
        comma(&mut out, index);
        string(&mut out, event.as_str());
        out.push_str(":[");
        for (index, group) in groups.iter().enumerate() {
            comma(&mut out, index);
            group_text(&mut out, group);
        }
        out.push(']');
    }
    out.push_str("}}");
    out
}

/// The same with the commands of list-shaped documents. Where they stand does not count.
#[must_use]
pub fn with_legacy(canonical: &str, legacy: &[LegacyCommand]) -> String {
    let mut out = canonical.strip_suffix('}').unwrap_or(canonical).to_owned();
    out.push_str(",\"legacy\":[");
    for (index, command) in legacy.iter().enumerate() {
        comma(&mut out, index);
        out.push_str("{\"argv\":");
        strings(&mut out, &command.argv);
        if let Some(events) = &command.events {
            out.push_str(",\"events\":");
            strings(&mut out, events);
        }
        out.push('}');
    }
    out.push_str("]}");
    out
}

fn strings(out: &mut String, texts: &[String]) {
    out.push('[');
    for (index, text) in texts.iter().enumerate() {
        comma(out, index);
        string(out, text);
    }
    out.push(']');
}

fn comma(out: &mut String, index: usize) {
    if index > 0 {
        out.push(',');
    }
}

fn group_text(out: &mut String, group: &Group) {
    out.push('{');
    if !group.env.is_empty() {
        out.push_str("\"env\":{");
        let mut sorted: Vec<&(String, String)> = group.env.iter().collect();
        sorted.sort();
        for (index, (name, value)) in sorted.into_iter().enumerate() {
            comma(out, index);
            string(out, name);
            out.push(':');
            string(out, value);
        }
        out.push_str("},");
    }
    out.push_str("\"hooks\":[");
    for (index, handler) in group.declaration.handlers.iter().enumerate() {
        comma(out, index);
        handler_text(out, handler);
    }
    out.push(']');
    if let Some(matcher) = &group.declaration.matcher {
        out.push_str(",\"matcher\":");
        string(out, matcher);
    }
    if let Some(origin) = group.source.plugin() {
        out.push_str(",\"origin\":");
        string(out, origin);
    }
    out.push('}');
}

fn handler_text(out: &mut String, handler: &HandlerDeclaration) {
    out.push('{');
    if let Some(argv) = &handler.argv {
        out.push_str("\"argv\":");
        strings(out, argv);
        out.push(',');
    }
    out.push_str("\"command\":");
    string(out, &handler.command);
    if let Some(legacy) = handler.legacy {
        out.push_str(",\"legacy\":");
        string(out, legacy.as_str());
    }
    // Keys that the reference does not know appear only when they change something.
    if handler.lifecycle != Lifecycle::PerEvent {
        out.push_str(",\"lifecycle\":");
        string(out, handler.lifecycle.as_str());
    }
    if handler.on_failure == OnFailure::Block {
        out.push_str(",\"onFailure\":\"block\"");
    }
    if let Some(message) = &handler.status_message {
        out.push_str(",\"statusMessage\":");
        string(out, message);
    }
    if let Some(timeout) = handler.timeout {
        out.push_str(",\"timeout\":");
        out.push_str(&float(timeout));
    }
    out.push_str(",\"type\":\"command\"");
    if handler.workers != 1 {
        // Writing to a String does not fail.
        let _ = write!(out, ",\"workers\":{}", handler.workers);
    }
    out.push('}');
}

fn string(out: &mut String, text: &str) {
    // serde_json escapes what Python's json.dumps(ensure_ascii=False) does, and as it does.
    out.push_str(RawJson::string(text).get());
}

/// A finite float as Python's `repr` spells it: shortest digits, exponent below 1e-4 and from 1e16.
#[must_use]
pub fn float(value: f64) -> String {
    let scientific = format!("{value:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let Ok(exponent) = exponent.parse::<i32>() else { return scientific };
    if (-4..16).contains(&exponent) {
        return format!("{value:?}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::{float, string};

    #[test]
    fn strings_are_spelled_as_python_does() {
        let mut out = String::new();
        string(&mut out, "a\"\\/\n\r\t\u{8}\u{c}\u{1}\u{1f}\u{7f}ü\u{2028}😀");
        assert_eq!(out, "\"a\\\"\\\\/\\n\\r\\t\\b\\f\\u0001\\u001f\u{7f}ü\u{2028}😀\"");
    }

    #[test]
    fn floats_are_spelled_as_python_does() {
        let table = [
            (5.0, "5.0"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.5e-6, "1.5e-06"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.234_567_890_123_456_8e17, "1.2345678901234568e+17"),
            (1e308, "1e+308"),
            (5e-324, "5e-324"),
            (0.300_000_000_000_000_04, "0.30000000000000004"),
        ];
        for (value, expected) in table {
            assert_eq!(float(value), expected);
        }
    }
}
