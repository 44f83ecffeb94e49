//! GitHub Copilot CLI. Recorded with 1.0.102, with event names in PascalCase.
//!
//! A hook that crashes denies; a hook that is late does not. It reads `hookSpecificOutput` before a tool only;
//! elsewhere its words stand at the top. Some events come in camelCase whatever the configuration says, one of them
//! (SubagentStart) without a name.

use hooksd_protocol::event::EventName::*;
use hooksd_protocol::json::Value;

use super::shared::*;
use crate::dialect::*;

const TOP_CONTEXT: Members = &[("additionalContext", Put::It)];

/// See the module.
pub static COPILOT: Dialect = Dialect {
    name: "copilot-cli",
    aliases: &["copilot"],
    events: &[
        ("sessionStart", "SessionStart"),
        ("userPromptSubmitted", "UserPromptSubmit"),
        ("userPromptSubmit", "UserPromptSubmit"),
        ("preToolUse", "PreToolUse"),
        ("permissionRequest", "PermissionRequest"),
        ("postToolUse", "PostToolUse"),
        ("postToolUseFailure", "PostToolUseFailure"),
        ("preCompact", "PreCompact"),
        ("agentStop", "Stop"),
        ("stop", "Stop"),
        ("subagentStart", "SubagentStart"),
        ("subagentStop", "SubagentStop"),
        ("notification", "Notification"),
        ("errorOccurred", "ErrorOccurred"),
        ("sessionEnd", "SessionEnd"),
    ],
    fields: &[
        ("sessionId", "session_id"),
        ("transcriptPath", "transcript_path"),
        ("hookName", "hook_event_name"),
        ("toolName", "tool_name"),
        ("toolInput", "tool_input"),
        ("toolArgs", "tool_input"),
        ("toolResult", "tool_response"),
        ("tool_result", "tool_response"),
        ("permissionSuggestions", "permission_suggestions"),
        ("agentId", "agent_id"),
        ("agentType", "agent_type"),
        ("agentName", "agent_name"),
        ("stopReason", "stop_reason"),
        ("customInstructions", "custom_instructions"),
        ("notificationType", "notification_type"),
    ],
    tools: &[
        ("bash", "Bash", &[]),
        ("powershell", "Bash", &[]),
        ("create", "Write", &[("path", "file_path"), ("file_text", "content")]),
        ("edit", "Edit", &[("path", "file_path"), ("old_str", "old_string"), ("new_str", "new_string")]),
        (
            "str_replace_editor",
            "Edit",
            &[("path", "file_path"), ("old_str", "old_string"), ("new_str", "new_string")],
        ),
        ("view", "Read", &[("path", "file_path")]),
        ("glob", "Glob", &[]),
        ("grep", "Grep", &[]),
        ("rg", "Grep", &[]),
    ],
    mcp: mcp_name,
    unnamed,
    derive: no_members,
    twins: no_twins,
    skip: no_reason,
    folders: &["COPILOT_PROJECT_DIR"],
    rows: &[
        row(GATES, Wish::Deny, How::Json(DENY)),
        row(GATES, Wish::Ask, How::Json(ASK)),
        row(GATES, Wish::Allow, How::Json(ALLOW)),
        row(GATES, Wish::UpdatedInput, How::Json(UPDATED_INPUT)),
        row(
            &[PermissionRequest],
            Wish::Deny,
            How::Json(&[("behavior", Put::Word("deny")), ("message", Put::It)]),
        ),
        row(&[PermissionRequest], Wish::Interrupt, How::Json(&[("interrupt", Put::Flag(true))])),
        row(&[PermissionRequest], Wish::Allow, How::Json(&[("behavior", Put::Word("allow"))])),
        row(&[UserPromptSubmit], Wish::BlockPrompt, How::Json(BLOCK)),
        row(&[PostToolUse], Wish::Feedback, How::Json(BLOCK)),
        row(&[PostToolUseFailure], Wish::Feedback, How::Exit2),
        row(&[PostToolUseFailure], Wish::Context, How::Exit2),
        row(&[Stop, SubagentStop], Wish::GoOn, How::Json(BLOCK)),
        row(GATES, Wish::Context, How::Json(CONTEXT)),
        row(
            &[PostToolUse, UserPromptSubmit, SessionStart, SubagentStart],
            Wish::Context,
            How::Json(TOP_CONTEXT),
        ),
    ],
    neutral: Neutral::Empty,
    longest: 1024 * 1024,
    notes_on_stderr: true,
    attendance: Attendance::Unknown,
    identity: Identity::None,
    patience_ms: 30_000,
    patience_at_end_ms: 30_000,
};

/// `SERVER/TOOL`, as PermissionRequest has it. `SERVER-TOOL`, as tool events have it, does not say where one ends.
fn mcp_name(_: &Value<'_>, tool: &str) -> Option<String> {
    let (server, tool) =
        tool.split_once('/').filter(|(server, tool)| !server.is_empty() && !tool.is_empty())?;
    Some(format!("mcp__{server}__{tool}"))
}

fn unnamed(payload: &Value<'_>) -> Option<&'static str> {
    let has = |name: &str| payload.get(name).is_some();
    if has("toolName") && has("toolResult") {
        return Some("postToolUse");
    }
    if has("toolName") && has("error") {
        return Some("postToolUseFailure");
    }
    if has("toolName") {
        return Some("preToolUse");
    }
    if has("agentName") && has("stopReason") {
        return Some("subagentStop");
    }
    has("agentName").then_some("subagentStart")
}
