//! Cursor: IDE, `cursor-agent`, cloud. Documented, not recorded.
//!
//! One command fires `preToolUse` and `beforeShellExecution` (an MCP tool `beforeMCPExecution`, a file
//! `beforeReadFile`), which do not name the call: both become the same PreToolUse, reduced to what both say, so that
//! handlers run once. After the tool only `postToolUse` is PostToolUse; its twins keep their names and reach nobody.
//! Only the twins enforce `ask`, and both get one decision, so that an ask is a deny.

use hooksd_json::Value;
use hooksd_protocol::event::EventName::*;

use super::shared::*;
use crate::dialect::*;
use crate::rewrite::quoted;

const REFUSE: Members =
    &[("permission", Put::Word("deny")), ("agent_message", Put::It), ("user_message", Put::It)];

/// What both events of one action say.
const COMMON: &[&str] = &[
    "session_id",
    "prompt_id",
    "transcript_path",
    "cwd",
    "hook_event_name",
    "model",
    "cursor_version",
    "workspace_roots",
    "tool_name",
    "tool_input",
];

/// The table of the agent that this module is about.
pub static CURSOR: Dialect = Dialect {
    name: "cursor",
    aliases: &["cursor-agent"],
    events: &[
        ("sessionStart", "SessionStart"),
        ("beforeSubmitPrompt", "UserPromptSubmit"),
        ("preToolUse", "PreToolUse"),
        ("beforeShellExecution", "PreToolUse"),
        ("beforeMCPExecution", "PreToolUse"),
        ("beforeReadFile", "PreToolUse"),
        ("postToolUse", "PostToolUse"),
        ("postToolUseFailure", "PostToolUseFailure"),
        ("preCompact", "PreCompact"),
        ("stop", "Stop"),
        ("subagentStart", "SubagentStart"),
        ("subagentStop", "SubagentStop"),
        ("sessionEnd", "SessionEnd"),
    ],
    fields: &[
        ("conversation_id", "session_id"),
        ("generation_id", "prompt_id"),
        ("tool_output", "tool_response"),
        ("error_message", "error"),
        ("subagent_id", "agent_id"),
        ("subagent_type", "agent_type"),
        ("summary", "last_assistant_message"),
        ("duration", "duration_ms"),
    ],
    tools: &[
        ("Shell", "Bash", &[]),
        ("Write", "Write", &[("path", "file_path"), ("contents", "content")]),
        ("Read", "Read", &[("path", "file_path"), ("target_file", "file_path")]),
        ("Grep", "Grep", &[]),
        ("Task", "task", &[]),
    ],
    mcp: no_name,
    unnamed: no_event,
    derive,
    twins,
    skip: no_reason,
    folders: &["CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
    rows: &[
        row(GATES, Wish::Deny, How::Json(REFUSE)),
        // The same decision answers both events, and preToolUse does not ask: the command would run.
        row(GATES, Wish::Ask, How::Instead(Wish::Deny)),
        row(GATES, Wish::Allow, How::Json(&[("permission", Put::Word("allow"))])),
        row(GATES, Wish::UpdatedInput, How::Json(&[("updated_input", Put::It)])),
        row(
            &[SubagentStart],
            Wish::StopAgent,
            How::Json(&[("permission", Put::Word("deny")), ("user_message", Put::It)]),
        ),
        row(
            &[UserPromptSubmit],
            Wish::BlockPrompt,
            How::Json(&[("continue", Put::Flag(false)), ("user_message", Put::It)]),
        ),
        row(&[PostToolUse, SessionStart], Wish::Context, How::Json(&[("additional_context", Put::It)])),
        row(&[PostToolUse], Wish::Feedback, How::Json(&[("additional_context", Put::It)])),
        row(&[PostToolUse], Wish::UpdatedMcpToolOutput, How::Json(&[("updated_mcp_tool_output", Put::It)])),
        row(&[Stop, SubagentStop], Wish::GoOn, How::Json(&[("followup_message", Put::It)])),
        row(
            &[PreToolUse, UserPromptSubmit, PreCompact],
            Wish::Notice,
            How::Json(&[("user_message", Put::It)]),
        ),
    ],
    neutral: Neutral::Object,
    longest: 1024 * 1024,
    notes_on_stderr: false,
    attendance: Attendance::Window(&["is_background_agent"], &["CURSOR_CODE_REMOTE"]),
    identity: Identity::Turn("prompt_id"),
    patience_ms: 30_000,
    patience_at_end_ms: 30_000,
};

fn derive(payload: &Value<'_>, event: &str) -> Derived {
    let mut made = Derived::new();
    let folder = payload.get("cwd").and_then(|cwd| cwd.as_str()).unwrap_or_default();
    if folder.is_empty()
        && let Some(root) = payload.get("workspace_roots").and_then(|roots| roots.items().first().cloned())
    {
        made.push(("cwd", root.raw().to_owned()));
    }
    match event {
        "preToolUse" | "PreToolUse" => {
            // The folder of a command is the event's.
            if let Some(command) = payload.get("tool_input").and_then(|input| raw(&input, "command")) {
                made.push(("tool_input", format!("{{\"command\":{command}}}")));
            }
        }
        "beforeShellExecution" => {
            made.push(("tool_name", quoted("Shell")));
            made.push((
                "tool_input",
                format!("{{\"command\":{}}}", raw(payload, "command").unwrap_or_default()),
            ));
        }
        "beforeMCPExecution" => {
            let tool = payload.get("tool_name").and_then(|name| name.as_str()).unwrap_or_default();
            let tool = if tool.starts_with("MCP:") { tool.into_owned() } else { format!("MCP:{tool}") };
            made.push(("tool_name", quoted(&tool)));
        }
        "beforeReadFile" => {
            made.push(("tool_name", quoted("Read")));
            let path = raw(payload, "file_path").unwrap_or_else(|| "null".to_owned());
            made.push(("tool_input", format!("{{\"file_path\":{path}}}")));
        }
        "stop" | "subagentStop" => made.extend(active(payload, "loop_count")),
        "sessionStart" => made.push(("source", quoted("startup"))),
        _ => {}
    }
    made
}

fn twins(event: &str) -> Option<&'static [&'static str]> {
    let is_gate = matches!(
        event,
        "preToolUse" | "PreToolUse" | "beforeShellExecution" | "beforeMCPExecution" | "beforeReadFile"
    );
    is_gate.then_some(COMMON)
}
