//! Goose. Documented, not recorded.
//!
//! Only a tool and a stop can be blocked. An entry with `on_failure: "block"` takes silence before a tool for a
//! failure; it goes with `--fail closed`, which is why "no opinion" is an allow there.

use hooksd_json::Value;
use hooksd_protocol::event::EventName::*;

use super::shared::*;
use crate::dialect::*;

/// The table of the agent that this module is about.
pub static GOOSE: Dialect = Dialect {
    name: "goose",
    aliases: &[],
    events: &[],
    fields: &[
        ("event", "hook_event_name"),
        ("working_dir", "cwd"),
        ("tool_call_id", "tool_use_id"),
        ("tool_output", "tool_response"),
    ],
    tools: &[
        ("developer__shell", "Bash", &[]),
        ("shell", "Bash", &[]),
        ("write", "Write", &[("path", "file_path")]),
        ("edit", "Edit", &[("path", "file_path"), ("before", "old_string"), ("after", "new_string")]),
    ],
    mcp: no_name,
    unnamed: no_event,
    derive,
    twins: no_twins,
    skip: no_reason,
    folders: &[],
    rows: &[
        row(GATES, Wish::Deny, How::Json(BLOCK)),
        row(GATES, Wish::Ask, How::Instead(Wish::Deny)),
        row(GATES, Wish::Allow, How::Json(&[("decision", Put::Word("allow"))])),
        row(&[Stop], Wish::GoOn, How::Json(BLOCK)),
    ],
    neutral: Neutral::EmptyOrAllow,
    longest: 1024 * 1024,
    notes_on_stderr: false,
    attendance: Attendance::Unknown,
    identity: Identity::Call(&["tool_use_id"]),
    patience_ms: 10_000,
    patience_at_end_ms: 10_000,
};

fn derive(payload: &Value<'_>, event: &str) -> Derived {
    match (event, raw(payload, "message"), raw(payload, "matcher_context")) {
        ("UserPromptSubmit", Some(message), _) => vec![("prompt", message)],
        ("SessionStart", _, Some(context)) => vec![("source", context)],
        _ => Vec::new(),
    }
}
