//! Qwen Code. Recorded with 0.24.4.
//!
//! It fires the prompt again, empty, after every result of a tool: nobody is asked about those. Blocks and exit status
//! 2 after a tool do nothing, so feedback goes as context; a rewritten input and context before a tool do nothing
//! either; `continue: false` on Stop makes it go on.

use hooksd_json::Value;
use hooksd_protocol::event::EventName::*;

use super::shared::*;
use crate::dialect::*;

/// The table of the agent that this module is about.
pub static QWEN: Dialect = Dialect {
    name: "qwen-code",
    aliases: &["qwen"],
    events: &[],
    fields: &[("crons", "session_crons")],
    tools: &[
        ("run_shell_command", "Bash", &[]),
        ("write_file", "Write", &[]),
        ("edit", "Edit", &[]),
        ("read_file", "Read", &[]),
        ("glob", "Glob", &[]),
        ("grep_search", "Grep", &[]),
        ("list_directory", "LS", &[]),
        ("web_fetch", "WebFetch", &[]),
        ("web_search", "WebSearch", &[]),
    ],
    mcp: no_name,
    unnamed: no_event,
    derive: no_members,
    twins: no_twins,
    skip,
    folders: &["QWEN_PROJECT_DIR"],
    rows: &[
        row(&[PreToolUse, UserPromptSubmit], Wish::StopAgent, How::Json(STOP)),
        row(GATES, Wish::Deny, How::Json(DENY)),
        row(GATES, Wish::Ask, How::Json(ASK)),
        row(GATES, Wish::Allow, How::Json(ALLOW)),
        row(&[PermissionRequest], Wish::Deny, How::Json(PERMISSION_DENY)),
        row(
            &[PermissionRequest],
            Wish::Interrupt,
            How::Json(&[("hookSpecificOutput.decision.interrupt", Put::Flag(true))]),
        ),
        row(&[PermissionRequest], Wish::Allow, How::Json(PERMISSION_ALLOW)),
        row(&[UserPromptSubmit], Wish::BlockPrompt, How::Json(BLOCK)),
        row(&[PostToolUse, PostToolUseFailure], Wish::Feedback, How::Json(CONTEXT)),
        row(&[Stop, SubagentStop], Wish::GoOn, How::Json(BLOCK)),
        row(
            &[PostToolUse, PostToolUseFailure, UserPromptSubmit, SessionStart],
            Wish::Context,
            How::Json(CONTEXT),
        ),
    ],
    neutral: Neutral::Object,
    longest: 1024 * 1024,
    notes_on_stderr: true,
    attendance: Attendance::Unknown,
    identity: Identity::Call(&["tool_call_id", "tool_use_id"]),
    patience_ms: 60_000,
    patience_at_end_ms: 60_000,
};

fn skip(payload: &Value<'_>) -> Option<&'static str> {
    let word = |name: &str| payload.get(name).and_then(|value| value.as_str());
    let is_empty = word("hook_event_name")? == "UserPromptSubmit" && word("prompt")?.is_empty();
    is_empty.then_some("an empty prompt is the result of a tool going back to the model")
}
