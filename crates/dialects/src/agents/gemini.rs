//! Gemini CLI. Recorded with 0.61.0.
//!
//! It ignores Claude's words for a deny, takes JSON on stderr for the answer when stdout is empty (so stdout never is),
//! and hangs on `ask` when nobody is there; when somebody is, an ask also overrules its own denies. An ask is said only
//! where a person was promised, and is a deny otherwise.

use hooksd_json::Value;
use hooksd_protocol::event::EventName::*;

use super::shared::*;
use crate::dialect::*;

const REFUSE: Members = &[("decision", Put::Word("deny")), ("reason", Put::It)];

/// The table of the agent that this module is about.
pub static GEMINI: Dialect = Dialect {
    name: "gemini-cli",
    aliases: &["gemini"],
    events: &[
        ("BeforeTool", "PreToolUse"),
        ("AfterTool", "PostToolUse"),
        ("BeforeAgent", "UserPromptSubmit"),
        ("AfterAgent", "Stop"),
        ("PreCompress", "PreCompact"),
    ],
    fields: &[("prompt_response", "last_assistant_message")],
    tools: &[
        ("run_shell_command", "Bash", &[]),
        ("write_file", "Write", &[]),
        ("replace", "Edit", &[]),
        ("read_file", "Read", &[]),
        ("glob", "Glob", &[]),
        ("grep_search", "Grep", &[]),
        ("search_file_content", "Grep", &[]),
        ("list_directory", "LS", &[("dir_path", "path")]),
        ("web_fetch", "WebFetch", &[]),
        ("google_web_search", "WebSearch", &[]),
    ],
    mcp: mcp_name,
    unnamed: no_event,
    derive,
    twins: no_twins,
    skip: no_reason,
    folders: &["GEMINI_CWD", "GEMINI_PROJECT_DIR"],
    rows: &[
        row(&[PreToolUse, PostToolUse, PostToolUseFailure], Wish::StopAgent, How::Json(STOP)),
        row(GATES, Wish::Deny, How::Json(REFUSE)),
        attended(GATES, Wish::Ask, How::Json(&[("decision", Put::Word("ask")), ("reason", Put::It)])),
        row(GATES, Wish::Ask, How::Instead(Wish::Deny)),
        row(GATES, Wish::UpdatedInput, How::Json(&[("hookSpecificOutput.tool_input", Put::It)])),
        row(&[UserPromptSubmit], Wish::BlockPrompt, How::Json(REFUSE)),
        row(&[PostToolUse, PostToolUseFailure], Wish::Feedback, How::Json(REFUSE)),
        row(&[Stop], Wish::GoOn, How::Json(REFUSE)),
        row(
            &[UserPromptSubmit, PostToolUse, PostToolUseFailure, SessionStart],
            Wish::Context,
            How::Json(CONTEXT),
        ),
        row(ALL_EVENTS, Wish::Notice, How::Json(NOTICE)),
    ],
    neutral: Neutral::Object,
    longest: 1024 * 1024,
    notes_on_stderr: false,
    attendance: Attendance::Unknown,
    identity: Identity::None,
    patience_ms: 60_000,
    patience_at_end_ms: 60_000,
};

/// `mcp_SERVER_TOOL` says only in its context where the server's name ends.
fn mcp_name(payload: &Value<'_>, _: &str) -> Option<String> {
    let context = payload.get("mcp_context")?;
    let word = |name: &str| context.get(name)?.as_str().filter(|word| !word.is_empty());
    Some(format!("mcp__{}__{}", word("server_name")?, word("tool_name")?))
}

/// A failed tool is an event of its own to handlers.
fn derive(payload: &Value<'_>, event: &str) -> Derived {
    let error = || payload.get("tool_response")?.get("error").filter(|error| !error.is_null());
    match (event, error()) {
        ("AfterTool", Some(error)) => {
            let message = error.get("message").filter(|message| message.as_str().is_some());
            let message = message.map_or_else(|| error.raw().to_owned(), |message| message.raw().to_owned());
            vec![("hook_event_name", "\"PostToolUseFailure\"".to_owned()), ("error", message)]
        }
        _ => Vec::new(),
    }
}
