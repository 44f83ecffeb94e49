//! Kimi Code CLI. Read in its source, not recorded.
//!
//! Exit status 2 with words blocks, plain output is context; no other JSON than a deny is read. A hook that a signal
//! kills counts as one that has no objection.

use hooksd_protocol::event::EventName::*;

use super::shared::*;
use crate::dialect::*;

/// The table of the agent that this module is about.
pub static KIMI: Dialect = Dialect {
    name: "kimi",
    aliases: &["kimi-code", "kimi-cli"],
    events: &[],
    fields: &[
        ("tool_call_id", "tool_use_id"),
        ("tool_output", "tool_response"),
        ("agent_name", "agent_type"),
        ("body", "message"),
        ("response", "last_assistant_message"),
    ],
    tools: &[
        ("Shell", "Bash", &[]),
        ("WriteFile", "Write", &[("path", "file_path")]),
        ("StrReplaceFile", "Edit", &[("path", "file_path")]),
        ("ReadFile", "Read", &[("path", "file_path"), ("line_offset", "offset"), ("n_lines", "limit")]),
        ("Glob", "Glob", &[]),
        ("Grep", "Grep", &[]),
    ],
    mcp: no_name,
    unnamed: no_event,
    derive: no_members,
    twins: no_twins,
    skip: no_reason,
    folders: &[],
    rows: &[
        row(GATES, Wish::Deny, How::Exit2),
        row(GATES, Wish::Ask, How::Instead(Wish::Deny)),
        row(&[UserPromptSubmit], Wish::BlockPrompt, How::Exit2),
        row(&[Stop], Wish::GoOn, How::Exit2),
        row(&[PreToolUse, PostToolUse, UserPromptSubmit, SessionStart], Wish::Context, How::Plain),
        row(&[PostToolUse], Wish::Feedback, How::Plain),
    ],
    neutral: Neutral::Empty,
    longest: 1024 * 1024,
    notes_on_stderr: false,
    attendance: Attendance::Unknown,
    identity: Identity::Call(&["tool_use_id"]),
    patience_ms: 30_000,
    patience_at_end_ms: 30_000,
};
