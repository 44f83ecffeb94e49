//! GitHub Copilot CLI. Recorded with 1.0.102, with event names in PascalCase.
//!
//! A hook that crashes denies; a hook that is late does not. It reads `hookSpecificOutput` before a tool only, so its
//! words stand at the top everywhere. Some events come in camelCase whatever the configuration says, most of those
//! without a name.

use hooksd_json::Value;
use hooksd_protocol::event::EventName::*;

use super::shared::*;
use crate::dialect::*;

const TOP_DENY: Members = &[("permissionDecision", Put::Word("deny")), ("permissionDecisionReason", Put::It)];
const TOP_ASK: Members = &[("permissionDecision", Put::Word("ask")), ("permissionDecisionReason", Put::It)];
const TOP_ALLOW: Members =
    &[("permissionDecision", Put::Word("allow")), ("permissionDecisionReason", Put::It)];
const TOP_CONTEXT: Members = &[("additionalContext", Put::It)];

/// The table of the agent that this module is about.
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
        row(GATES, Wish::Deny, How::Json(TOP_DENY)),
        row(GATES, Wish::Ask, How::Json(TOP_ASK)),
        row(GATES, Wish::Allow, How::Json(TOP_ALLOW)),
        row(GATES, Wish::UpdatedInput, How::Json(&[("modifiedArgs", Put::It)])),
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
        row(
            &[PreToolUse, PostToolUse, UserPromptSubmit, SessionStart, SubagentStart],
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

/// By what is in it: the names are in no payload in camelCase.
fn unnamed(payload: &Value<'_>) -> Option<&'static str> {
    const SIGNS: [(&[&str], &str); 11] = [
        (&["toolName", "toolResult"], "postToolUse"),
        (&["toolName", "error"], "postToolUseFailure"),
        (&["toolName"], "preToolUse"),
        (&["agentName", "stopReason"], "subagentStop"),
        (&["agentName"], "subagentStart"),
        (&["stopReason"], "agentStop"),
        (&["error"], "errorOccurred"),
        (&["trigger"], "preCompact"),
        (&["prompt"], "userPromptSubmitted"),
        (&["source"], "sessionStart"),
        (&["reason"], "sessionEnd"),
    ];
    let has = |names: &[&str]| names.iter().all(|name| payload.get(name).is_some());
    SIGNS.iter().find(|(names, _)| has(names)).map(|(_, event)| *event)
}
