//! Makes what commands of the older form read on stdin when an agent reports an event of that form (contract section
//! 11): `{"event": NAME, ...fields}` in ASCII. Code reports such events, so that they are read strictly (D23).

use hooksd_json::python::{ascii_json, ascii_string};
use hooksd_json::{Kind, ReadError, Value};
use hooksd_protocol::methods::LegacyName;

/// How much of a tool's output is passed on. Characters.
pub const MAX_TOOL_OUTPUT: usize = 2_000;

/// What a field may hold.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Text,
    /// A text, or null from agents that have no id to give.
    TextOrNull,
    Texts,
    Any,
    Status,
    Output,
}

/// The fields of an event, each of which is required.
fn fields(event: LegacyName) -> &'static [(&'static str, Shape)] {
    match event {
        LegacyName::SessionStart | LegacyName::SessionEnd | LegacyName::TaskComplete => {
            &[("thread_id", Shape::Text)]
        }
        LegacyName::UserPrompt
        | LegacyName::InputRequired
        | LegacyName::ContextCompact
        | LegacyName::ContextOffload => &[],
        LegacyName::PermissionRequest | LegacyName::ToolError => &[("tool_names", Shape::Texts)],
        LegacyName::ToolUse => {
            &[("tool_name", Shape::Text), ("tool_id", Shape::TextOrNull), ("tool_args", Shape::Any)]
        }
        LegacyName::ToolResult => &[
            ("tool_name", Shape::Text),
            ("tool_id", Shape::TextOrNull),
            ("tool_args", Shape::Any),
            ("tool_status", Shape::Status),
            ("tool_output", Shape::Output),
        ],
        LegacyName::UserNameSet => &[("name", Shape::Text), ("assistant_id", Shape::TextOrNull)],
    }
}

/// Makes what the commands read. The order and the numbers of the payload stay as they are.
///
/// # Errors
/// The path and reason of the first field that does not fit.
pub fn stdin(event: LegacyName, payload: Option<&Value<'_>>) -> Result<String, ReadError> {
    let fail = |key: &str, message: String| ReadError { path: format!("payload.{key}"), message };
    let known = fields(event);
    let mut out = format!("{{\"event\": \"{event}\"");
    let entries = match payload {
        Some(payload) if payload.is_object() => payload.entries(),
        Some(payload) => {
            let message = format!("expected an object, got {}", payload.kind().noun());
            return Err(ReadError { path: "payload".to_owned(), message });
        }
        None => Vec::new(),
    };
    for (key, value) in &entries {
        let Some((name, shape)) = known.iter().find(|(name, _)| name == key) else {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            let names = if names.is_empty() { "no field".to_owned() } else { names.join(", ") };
            return Err(fail(key, format!("unknown field; {event} has {names}")));
        };
        let value = spelled(value, *shape).map_err(|message| fail(name, message))?;
        out.push_str(&format!(", \"{name}\": {value}"));
    }
    if let Some((missing, _)) = known.iter().find(|(name, _)| !entries.iter().any(|(key, _)| key == name)) {
        return Err(fail(missing, "this field is required".to_owned()));
    }
    out.push('}');
    Ok(out)
}

/// Spells the value of a field, or says what was expected.
fn spelled(value: &Value<'_>, shape: Shape) -> Result<String, String> {
    let kind = value.kind();
    let fits = match shape {
        Shape::Any => true,
        Shape::Text | Shape::Output => matches!(kind, Kind::String(_)),
        Shape::TextOrNull => matches!(kind, Kind::String(_) | Kind::Null),
        Shape::Texts => {
            kind == Kind::Array && value.items().iter().all(|item| matches!(item.kind(), Kind::String(_)))
        }
        Shape::Status => value.as_str().is_some_and(|status| status == "success" || status == "error"),
    };
    if !fits {
        let expected = match shape {
            Shape::Texts => "a list of strings",
            Shape::Status => "\"success\" or \"error\"",
            Shape::TextOrNull => "a string or null",
            Shape::Text | Shape::Output | Shape::Any => "a string",
        };
        return Err(format!("expected {expected}, got {}", kind.noun()));
    }
    if let (Shape::Output, Kind::String(text)) = (shape, &kind)
        && let Some((end, _)) = text.char_indices().nth(MAX_TOOL_OUTPUT)
    {
        return Ok(ascii_string(text.get(..end).unwrap_or_default()));
    }
    Ok(ascii_json(value.raw()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hooksd_json::Dialect;

    fn read(event: LegacyName, payload: &str) -> Result<String, String> {
        let payload = Value::parse(payload, Dialect::Strict).unwrap();
        stdin(event, Some(&payload)).map_err(|error| error.to_string())
    }

    #[test]
    fn every_event_has_its_fields_and_no_other() {
        let args = r#"{"n": 123456789012345678901234567890, "ü": "\ud800"}"#;
        let result = format!(
            r#"{{"tool_status": "error", "tool_name": "x", "tool_id": null, "tool_args": {args}, "tool_output": "é"}}"#
        );
        let table = [
            (
                LegacyName::SessionStart,
                r#"{"thread_id": "t"}"#,
                r#"{"event": "session.start", "thread_id": "t"}"#,
            ),
            (LegacyName::UserPrompt, "{}", r#"{"event": "user.prompt"}"#),
            (
                LegacyName::ToolError,
                r#"{"tool_names":["a","ü"]}"#,
                r#"{"event": "tool.error", "tool_names": ["a","\u00fc"]}"#,
            ),
            (
                LegacyName::ToolResult,
                &result,
                r#"{"event": "tool.result", "tool_status": "error", "tool_name": "x", "tool_id": null, "tool_args": {"n": 123456789012345678901234567890, "\u00fc": "\ud800"}, "tool_output": "\u00e9"}"#,
            ),
            (
                LegacyName::UserNameSet,
                r#"{"name": "n", "assistant_id": "a"}"#,
                r#"{"event": "user.name.set", "name": "n", "assistant_id": "a"}"#,
            ),
        ];
        for (event, payload, expected) in table {
            assert_eq!(read(event, payload).as_deref(), Ok(expected));
        }
        for (event, payload, path) in [
            (LegacyName::SessionStart, "{}", "payload.thread_id"),
            (LegacyName::SessionStart, r#"{"thread_id": 5}"#, "payload.thread_id"),
            (LegacyName::UserPrompt, r#"{"prompt": "x"}"#, "payload.prompt"),
            (LegacyName::ToolError, r#"{"tool_names": ["a", 5]}"#, "payload.tool_names"),
            (LegacyName::UserPrompt, "[]", "payload"),
        ] {
            let error = read(event, payload).unwrap_err();
            assert!(error.starts_with(&format!("{path}:")), "{error}");
        }
    }

    #[test]
    fn output_of_tools_is_cut_at_characters() {
        let payload = |output: &str| {
            format!(
                r#"{{"tool_name":"x","tool_id":"i","tool_args":{{}},"tool_status":"success","tool_output":"{output}"}}"#
            )
        };
        let spelled = |output: &str| read(LegacyName::ToolResult, &payload(output)).unwrap();
        assert_eq!(spelled(&"ü".repeat(2_001)), spelled(&"ü".repeat(2_000)));
        assert_ne!(spelled(&"ü".repeat(2_000)), spelled(&"ü".repeat(1_999)));
        assert!(spelled(&r"\ud83d\ude00".repeat(2_001)).ends_with("\\ude00\"}"));
    }
}
