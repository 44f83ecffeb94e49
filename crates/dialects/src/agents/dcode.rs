//! Deep Agents Code (`dcode`), whose contract the handlers' is. Recorded with 0.2.2.
//!
//! It cuts an answer at 100,000 bytes and cannot read what is left, so that a deny with a long reason would be none;
//! and it approves an `ask` by itself when nobody is there.

use hooksd_protocol::event::EventName::*;

use super::shared::*;
use crate::dialect::*;

/// The table of the agent that this module is about.
pub static DCODE: Dialect = Dialect {
    name: "deepagents",
    aliases: &["dcode", "deepagents-code"],
    events: &[],
    fields: &[],
    tools: &[],
    mcp: no_name,
    unnamed: no_event,
    derive: no_members,
    twins: no_twins,
    skip: no_reason,
    folders: &["DEEPAGENTS_CODE_SERVER_CWD"],
    rows: &[
        row(ALL_EVENTS, Wish::StopAgent, How::Json(STOP)),
        row(GATES, Wish::Deny, How::Json(DENY)),
        attended(GATES, Wish::Ask, How::Json(ASK)),
        row(GATES, Wish::Ask, How::Instead(Wish::Deny)),
        row(GATES, Wish::Allow, How::Json(ALLOW)),
        row(&[PermissionRequest], Wish::Deny, How::Json(PERMISSION_DENY)),
        row(
            &[PermissionRequest],
            Wish::Interrupt,
            How::Json(&[("hookSpecificOutput.decision.interrupt", Put::Flag(true))]),
        ),
        row(&[PermissionRequest], Wish::Allow, How::Json(PERMISSION_ALLOW)),
        row(&[UserPromptSubmit], Wish::BlockPrompt, How::Json(BLOCK)),
        row(
            &[UserPromptSubmit],
            Wish::SuppressPrompt,
            How::Json(&[("hookSpecificOutput.suppressOriginalPrompt", Put::Flag(true))]),
        ),
        row(&[PreCompact], Wish::BlockCompact, How::Json(BLOCK)),
        row(&[PostToolUse, PostToolUseFailure], Wish::Feedback, How::Json(BLOCK)),
        row(&[Stop, SubagentStop], Wish::GoOn, How::Json(BLOCK)),
        row(
            &[
                PreToolUse,
                PostToolUse,
                PostToolUseFailure,
                UserPromptSubmit,
                SessionStart,
                SubagentStart,
                SubagentStop,
            ],
            Wish::Context,
            How::Json(CONTEXT),
        ),
        row(ALL_EVENTS, Wish::Notice, How::Json(NOTICE)),
        row(ALL_EVENTS, Wish::Terminal, How::Json(TERMINAL)),
    ],
    neutral: Neutral::Empty,
    longest: 96_000,
    notes_on_stderr: true,
    attendance: Attendance::Variable("DEEPAGENTS_CODE_SERVER_INTERACTIVE", &["true", "1"]),
    identity: Identity::Call(&["tool_use_id"]),
    patience_ms: 30_000,
    patience_at_end_ms: 1_800,
};
