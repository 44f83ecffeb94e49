//! Finds out which agent has called, for configuration files that several agents read. Where a file belongs to one
//! agent, the name in the file counts instead, for agents set each other's variables and read each other's files.

use hooksd_json::{Dialect as JsonDialect, Value};

use crate::agents;
use crate::dialect::Dialect;

/// The dialect of the agent that has called, by its payload and its variables. When nothing says otherwise it is
/// Claude Code, whose files the others read.
#[must_use]
pub fn sniff(stdin: &[u8], variable: &dyn Fn(&str) -> Option<String>) -> &'static Dialect {
    let text = String::from_utf8_lossy(stdin);
    let json = text.strip_prefix('\u{feff}').unwrap_or(&text).trim();
    let payload =
        Value::parse(json, JsonDialect::Python).or_else(|_| Value::parse("{}", JsonDialect::Strict));
    match payload {
        Ok(payload) => by_signs(&payload, variable),
        Err(_) => &agents::CLAUDE_CODE,
    }
}

fn by_signs(payload: &Value<'_>, variable: &dyn Fn(&str) -> Option<String>) -> &'static Dialect {
    let has = |name: &str| payload.get(name).is_some();
    let is = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let word = |name: &str| payload.get(name).and_then(|value| value.as_str()).unwrap_or_default();
    let (event, mode, tool) = (word("hook_event_name"), word("permission_mode"), word("tool_name"));
    let number = |name: &str| payload.get(name).is_some_and(|value| value.raw().parse::<f64>().is_ok());
    let nested =
        |outer: &str, inner: &str| payload.get(outer).is_some_and(|value| value.get(inner).is_some());
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| event.starts_with(prefix));
    if (has("conversation_id") && has("cursor_version")) || is("CURSOR_VERSION") {
        return &agents::CURSOR;
    }
    if is("COPILOT_CLI")
        || (has("sessionId") && number("timestamp"))
        || nested("tool_result", "text_result_for_llm")
    {
        return &agents::COPILOT;
    }
    if has("event") && !has("hook_event_name") {
        return &agents::GOOSE;
    }
    if is("QWEN_CODE_CLI") || (has("timestamp") && matches!(mode.as_ref(), "plan" | "auto_edit" | "yolo")) {
        return &agents::QWEN;
    }
    if is("GEMINI_SESSION_ID")
        || starts(&["BeforeTool", "BeforeAgent", "BeforeModel", "After", "PreCompress"])
    {
        return &agents::GEMINI;
    }
    if matches!(mode.as_ref(), "off" | "spec" | "auto-low" | "auto-medium" | "auto-high") {
        return &agents::DROID;
    }
    if is("CLAUDECODE") && variable("CLAUDE_CODE_SESSION_ID").as_deref() == Some(word("session_id").as_ref())
    {
        return &agents::CLAUDE_CODE;
    }
    if is("DEEPAGENTS_CODE_SERVER_CWD") || is("DEEPAGENTS_HOME") {
        return &agents::DCODE;
    }
    if has("turn_id") && has("model") || word("transcript_path").contains("/.codex/") {
        return &agents::CODEX;
    }
    if has("tool_call_id") || matches!(tool.as_ref(), "Shell" | "WriteFile" | "StrReplaceFile") {
        return &agents::KIMI;
    }
    if has("timestamp") && has("tool_use_id") && mode.is_empty() {
        return &agents::VSCODE;
    }
    if has("timestamp") && has("tool_name") && !has("tool_use_id") && !has("transcript_path") {
        return &agents::COPILOT;
    }
    if matches!(event.as_ref(), "agentSpawn" | "userPromptSubmit" | "preToolUse" | "postToolUse" | "stop") {
        return &agents::KIRO;
    }
    &agents::CLAUDE_CODE
}
