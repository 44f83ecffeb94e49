//! OpenAI Codex CLI. Recorded with 0.171.0.
//!
//! An answer with a key it does not know is no answer, and the tool runs; so is `ask`, `allow` without `updatedInput`,
//! a deny without a reason, and `continue: false` before a tool. An ask becomes a deny: a handler that asks says that
//! nothing may happen unseen.

use hooksd_protocol::event::EventName::*;

use super::shared::*;
use crate::dialect::*;

/// The table of the agent that this module is about.
pub static CODEX: Dialect = Dialect {
    name: "codex",
    aliases: &["codex-cli"],
    events: &[],
    fields: &[],
    // apply_patch is several edits in one text: handlers see it as it is.
    tools: &[],
    mcp: no_name,
    unnamed: no_event,
    derive: no_members,
    twins: no_twins,
    skip: no_reason,
    folders: &[],
    rows: &[
        row(
            &[SessionStart, SubagentStart, PermissionRequest, PostToolUse, SubagentStop],
            Wish::StopAgent,
            How::Json(STOP),
        ),
        row(&[PreCompact], Wish::BlockCompact, How::Json(STOP)),
        row(GATES, Wish::Deny, How::Json(DENY)),
        row(GATES, Wish::Ask, How::Instead(Wish::Deny)),
        row(
            GATES,
            Wish::UpdatedInput,
            How::Json(&[
                ("hookSpecificOutput.permissionDecision", Put::Word("allow")),
                ("hookSpecificOutput.updatedInput", Put::It),
            ]),
        ),
        row(&[PermissionRequest], Wish::Deny, How::Json(PERMISSION_DENY)),
        row(&[PermissionRequest], Wish::Allow, How::Json(PERMISSION_ALLOW)),
        row(&[UserPromptSubmit], Wish::BlockPrompt, How::Json(BLOCK)),
        row(&[PostToolUse], Wish::Feedback, How::Json(BLOCK)),
        row(&[Stop, SubagentStop], Wish::GoOn, How::Json(BLOCK)),
        row(
            &[PreToolUse, PostToolUse, UserPromptSubmit, SessionStart, SubagentStart],
            Wish::Context,
            How::Json(CONTEXT),
        ),
        row(
            &[
                PreToolUse,
                PermissionRequest,
                PostToolUse,
                UserPromptSubmit,
                SessionStart,
                SubagentStart,
                Stop,
                SubagentStop,
                PreCompact,
            ],
            Wish::Notice,
            How::Json(NOTICE),
        ),
    ],
    neutral: Neutral::Empty,
    longest: 1024 * 1024,
    notes_on_stderr: true,
    attendance: Attendance::Unknown,
    identity: Identity::Call(&["tool_use_id"]),
    patience_ms: 600_000,
    patience_at_end_ms: 1_000,
};
