//! VS Code's agent hooks. Read in its source, not recorded.
//!
//! It reads the files Copilot CLI reads: such a file says `--agent auto`. On Stop it looks for the block inside
//! `hookSpecificOutput`; both forms are printed. It names no folder, so that the variables and the hook's own count.

use hooksd_protocol::event::EventName::*;

use super::shared::*;
use crate::dialect::*;

/// The table of the agent that this module is about.
pub static VSCODE: Dialect = Dialect {
    name: "vscode",
    aliases: &["code"],
    events: &[],
    fields: &[
        ("sessionId", "session_id"),
        ("hookEventName", "hook_event_name"),
        ("transcriptPath", "transcript_path"),
        ("toolName", "tool_name"),
        ("toolInput", "tool_input"),
        ("toolUseId", "tool_use_id"),
        ("toolResponse", "tool_response"),
    ],
    tools: &[
        ("run_in_terminal", "Bash", &[]),
        ("create_file", "Write", &[("filePath", "file_path")]),
        (
            "replace_string_in_file",
            "Edit",
            &[("filePath", "file_path"), ("oldString", "old_string"), ("newString", "new_string")],
        ),
        ("insert_edit_into_file", "Edit", &[("filePath", "file_path"), ("code", "new_string")]),
        ("read_file", "Read", &[("filePath", "file_path"), ("offset", "offset"), ("limit", "limit")]),
        ("file_search", "Glob", &[("query", "pattern")]),
        ("grep_search", "Grep", &[("query", "pattern")]),
        ("list_dir", "LS", &[]),
    ],
    mcp: no_name,
    unnamed: no_event,
    derive: no_members,
    twins: no_twins,
    skip: no_reason,
    folders: &["CLAUDE_PROJECT_DIR"],
    rows: &[
        row(ALL_EVENTS, Wish::StopAgent, How::Json(STOP)),
        row(GATES, Wish::Deny, How::Json(DENY)),
        row(GATES, Wish::Ask, How::Json(ASK)),
        row(GATES, Wish::Allow, How::Json(ALLOW)),
        row(GATES, Wish::UpdatedInput, How::Json(UPDATED_INPUT)),
        row(&[UserPromptSubmit], Wish::BlockPrompt, How::Json(BLOCK)),
        row(&[PostToolUse], Wish::Feedback, How::Json(BLOCK)),
        row(
            &[Stop, SubagentStop],
            Wish::GoOn,
            How::Json(&[
                ("decision", Put::Word("block")),
                ("reason", Put::It),
                ("hookSpecificOutput.decision", Put::Word("block")),
                ("hookSpecificOutput.reason", Put::It),
            ]),
        ),
        row(
            &[PreToolUse, PostToolUse, UserPromptSubmit, SessionStart, SubagentStart],
            Wish::Context,
            How::Json(CONTEXT),
        ),
        row(ALL_EVENTS, Wish::Notice, How::Json(NOTICE)),
    ],
    neutral: Neutral::Empty,
    longest: 1024 * 1024,
    notes_on_stderr: false,
    attendance: Attendance::Window(&[], &[]),
    identity: Identity::Call(&["tool_use_id"]),
    patience_ms: 30_000,
    patience_at_end_ms: 30_000,
};
