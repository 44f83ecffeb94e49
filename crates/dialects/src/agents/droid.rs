//! Factory Droid. Documented, not recorded. Claude's contract with tools of its own and no ids of calls.

use hooksd_protocol::event::EventName::*;

use super::shared::*;
use crate::dialect::*;

/// The table of the agent that this module is about.
pub static DROID: Dialect = Dialect {
    name: "droid",
    aliases: &["factory", "factory-droid"],
    events: &[],
    fields: &[],
    tools: &[
        ("Execute", "Bash", &[]),
        ("Create", "Write", &[("path", "file_path")]),
        ("Edit", "Edit", &[("path", "file_path"), ("old_str", "old_string"), ("new_str", "new_string")]),
        ("Read", "Read", &[("path", "file_path")]),
        ("Glob", "Glob", &[]),
        ("Grep", "Grep", &[]),
        ("LS", "LS", &[]),
    ],
    mcp: no_name,
    unnamed: no_event,
    derive: no_members,
    twins: no_twins,
    skip: no_reason,
    folders: &["FACTORY_PROJECT_DIR"],
    rows: &[
        row(ALL_EVENTS, Wish::StopAgent, How::Json(STOP)),
        row(GATES, Wish::Deny, How::Json(DENY)),
        attended(GATES, Wish::Ask, How::Json(ASK)),
        row(GATES, Wish::Ask, How::Instead(Wish::Deny)),
        row(GATES, Wish::Allow, How::Json(ALLOW)),
        row(GATES, Wish::UpdatedInput, How::Json(UPDATED_INPUT)),
        row(&[UserPromptSubmit], Wish::BlockPrompt, How::Json(BLOCK)),
        row(&[PostToolUse], Wish::Feedback, How::Json(BLOCK)),
        row(&[Stop, SubagentStop], Wish::GoOn, How::Json(BLOCK)),
        row(&[PreToolUse, PostToolUse, UserPromptSubmit, SessionStart], Wish::Context, How::Json(CONTEXT)),
        row(ALL_EVENTS, Wish::Notice, How::Json(NOTICE)),
    ],
    neutral: Neutral::Empty,
    longest: 1024 * 1024,
    notes_on_stderr: false,
    attendance: Attendance::Unknown,
    identity: Identity::None,
    patience_ms: 60_000,
    patience_at_end_ms: 60_000,
};
