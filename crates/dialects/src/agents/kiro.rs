//! Kiro: the CLI (also Amazon Q), and the IDE from 1.0. Documented, not recorded.
//!
//! The CLI reads no JSON: exit status 2 with words denies, plain output is context. The IDE reads `decision: block` on
//! Stop besides. IDEs before 1.0 never close standard input and put the event into `USER_PROMPT`, which the caller
//! hands over as the payload; such an entry needs `--event`.

use hooksd_protocol::event::EventName::*;

use super::shared::*;
use crate::dialect::*;

const TOOLS: &[Tool] = &[
    ("execute_bash", "Bash", &[]),
    ("execute_cmd", "Bash", &[]),
    ("fs_write", "Write", &[("path", "file_path"), ("file_text", "content")]),
    ("str_replace", "Edit", &[("path", "file_path"), ("old_str", "old_string"), ("new_str", "new_string")]),
    ("fs_read", "Read", &[("path", "file_path")]),
];

const FIELDS: &[(&str, &str)] = &[
    ("toolName", "tool_name"),
    ("toolArgs", "tool_input"),
    ("toolResult", "tool_response"),
    ("assistant_response", "last_assistant_message"),
];

/// The table of Kiro's CLI.
pub static KIRO: Dialect = Dialect {
    name: "kiro",
    aliases: &["kiro-cli", "q", "amazon-q"],
    events: &[
        ("agentSpawn", "SessionStart"),
        ("userPromptSubmit", "UserPromptSubmit"),
        ("preToolUse", "PreToolUse"),
        ("postToolUse", "PostToolUse"),
        ("stop", "Stop"),
    ],
    fields: FIELDS,
    tools: TOOLS,
    mcp: mcp_name,
    unnamed: no_event,
    derive: no_members,
    twins: no_twins,
    skip: no_reason,
    folders: &[],
    rows: &[
        row(GATES, Wish::Deny, How::Exit2),
        row(GATES, Wish::Ask, How::Instead(Wish::Deny)),
        row(&[SessionStart, UserPromptSubmit], Wish::Context, How::Plain),
    ],
    neutral: Neutral::Empty,
    // max_output_size of an entry is 10,240 unless it says more.
    longest: 10_000,
    notes_on_stderr: false,
    attendance: Attendance::Unknown,
    identity: Identity::None,
    patience_ms: 30_000,
    patience_at_end_ms: 30_000,
};

/// The table of Kiro's IDE.
pub static KIRO_IDE: Dialect = Dialect {
    name: "kiro-ide",
    aliases: &["kiro3"],
    events: &[],
    fields: FIELDS,
    tools: TOOLS,
    mcp: mcp_name,
    unnamed: no_event,
    derive: no_members,
    twins: no_twins,
    skip: no_reason,
    folders: &[],
    rows: &[
        row(GATES, Wish::Deny, How::Exit2),
        row(GATES, Wish::Ask, How::Instead(Wish::Deny)),
        row(&[SessionStart, UserPromptSubmit], Wish::Context, How::Plain),
        row(&[Stop], Wish::GoOn, How::Json(BLOCK)),
    ],
    neutral: Neutral::Empty,
    longest: 10_000,
    notes_on_stderr: false,
    attendance: Attendance::Window(&[], &[]),
    identity: Identity::None,
    patience_ms: 10_000,
    patience_at_end_ms: 10_000,
};

/// The name of an MCP server's tool, which Kiro spells `@SERVER/TOOL`.
fn mcp_name(_: &hooksd_json::Value<'_>, tool: &str) -> Option<String> {
    let (server, tool) = tool.strip_prefix('@')?.split_once('/')?;
    Some(format!("mcp__{server}__{tool}"))
}
