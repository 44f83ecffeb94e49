//! Claude Code. Recorded with 2.1.332.
//!
//! Its events and tools are the ones handlers know. It obeys JSON whatever the exit status, drops an answer whose
//! `hookEventName` is missing or wrong, and before a tool takes `continue: false` for "afterwards": a deny goes with
//! it.

use hooksd_protocol::event::EventName::*;

use super::shared::*;
use crate::dialect::*;

/// The table of the agent that this module is about.
pub static CLAUDE_CODE: Dialect = Dialect {
    name: "claude-code",
    aliases: &["claude"],
    events: &[],
    fields: &[],
    tools: &[],
    mcp: no_name,
    unnamed: no_event,
    derive: no_members,
    twins: no_twins,
    skip: no_reason,
    folders: &["CLAUDE_PROJECT_DIR"],
    rows: &[
        row(
            &[PreToolUse, PostToolUse, PostToolUseFailure, UserPromptSubmit],
            Wish::StopAgent,
            How::Json(STOP),
        ),
        row(&[SessionStart, SubagentStart, SubagentStop, Notification], Wish::StopAgent, How::Json(STOP)),
        row(GATES, Wish::Deny, How::Json(DENY)),
        row(GATES, Wish::Ask, How::Json(ASK)),
        row(GATES, Wish::Allow, How::Json(ALLOW)),
        row(GATES, Wish::UpdatedInput, How::Json(UPDATED_INPUT)),
        row(&[PermissionRequest], Wish::Deny, How::Json(PERMISSION_DENY)),
        row(
            &[PermissionRequest],
            Wish::Interrupt,
            How::Json(&[("hookSpecificOutput.decision.interrupt", Put::Flag(true))]),
        ),
        row(&[PermissionRequest], Wish::Allow, How::Json(PERMISSION_ALLOW)),
        row(
            &[PermissionRequest],
            Wish::UpdatedInput,
            How::Json(&[("hookSpecificOutput.decision.updatedInput", Put::It)]),
        ),
        row(
            &[PermissionRequest],
            Wish::UpdatedPermissions,
            How::Json(&[("hookSpecificOutput.decision.updatedPermissions", Put::It)]),
        ),
        row(&[UserPromptSubmit], Wish::BlockPrompt, How::Json(BLOCK)),
        row(
            &[UserPromptSubmit],
            Wish::SuppressPrompt,
            How::Json(&[("hookSpecificOutput.suppressOriginalPrompt", Put::Flag(true))]),
        ),
        row(&[PreCompact], Wish::BlockCompact, How::Json(BLOCK)),
        row(&[PostToolUse], Wish::Feedback, How::Json(BLOCK)),
        row(&[PostToolUseFailure], Wish::Feedback, How::Json(CONTEXT)),
        row(&[Stop, SubagentStop], Wish::GoOn, How::Json(BLOCK)),
        row(
            &[PreToolUse, PostToolUse, PostToolUseFailure, UserPromptSubmit, SessionStart, SubagentStart],
            Wish::Context,
            How::Json(CONTEXT),
        ),
        row(
            &[PostToolUse],
            Wish::UpdatedToolOutput,
            How::Json(&[("hookSpecificOutput.updatedToolOutput", Put::It)]),
        ),
        row(
            &[PostToolUse],
            Wish::UpdatedMcpToolOutput,
            How::Json(&[("hookSpecificOutput.updatedMCPToolOutput", Put::It)]),
        ),
        row(
            &[SessionStart, UserPromptSubmit],
            Wish::SessionTitle,
            How::Json(&[("hookSpecificOutput.sessionTitle", Put::It)]),
        ),
        row(
            &[SessionStart],
            Wish::InitialUserMessage,
            How::Json(&[("hookSpecificOutput.initialUserMessage", Put::It)]),
        ),
        row(&[SessionStart], Wish::WatchPaths, How::Json(&[("hookSpecificOutput.watchPaths", Put::It)])),
        row(&[SessionStart], Wish::ReloadSkills, How::Json(&[("hookSpecificOutput.reloadSkills", Put::It)])),
        row(ALL_EVENTS, Wish::Notice, How::Json(NOTICE)),
        row(ALL_EVENTS, Wish::Terminal, How::Json(TERMINAL)),
    ],
    neutral: Neutral::Empty,
    longest: 1024 * 1024,
    notes_on_stderr: true,
    attendance: Attendance::Variable("CLAUDE_CODE_ENTRYPOINT", &["cli", "claude-vscode", "claude-desktop"]),
    identity: Identity::Call(&["tool_use_id"]),
    patience_ms: 60_000,
    patience_at_end_ms: 1_500,
};
