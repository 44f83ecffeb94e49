//! Events, as the `event` of an invocation. The names are those of the cases.

use serde_json::{Value, json};

/// PRE: the agent is about to run `ls`.
#[must_use]
pub fn pre() -> Value {
    tool("PreToolUse", "execute", json!({ "command": "ls" }))
}

/// PRE of a tool by its native name.
#[must_use]
pub fn pre_of(name: &str) -> Value {
    tool("PreToolUse", name, json!({}))
}

/// PRE of a tool that an MCP server offers.
#[must_use]
pub fn pre_mcp(server: &str, name: &str) -> Value {
    let mut event = pre_of(name);
    event["call"]["mcp_server"] = json!(server);
    event
}

/// PRE-2MB.
#[must_use]
pub fn pre_2mb() -> Value {
    tool("PreToolUse", "execute", json!({ "command": "x".repeat(2_000_000) }))
}

/// An event about a call of a tool.
#[must_use]
pub fn tool(event: &str, name: &str, args: Value) -> Value {
    json!({ "event": event, "call": { "id": "c1", "name": name, "args": args } })
}

/// POST: a tool was called and said "ok".
#[must_use]
pub fn post() -> Value {
    let mut event = tool("PostToolUse", "execute", json!({}));
    event["result"] = json!("ok");
    event
}

/// SS: the session began.
#[must_use]
pub fn session_start() -> Value {
    json!({ "event": "SessionStart", "cause": "startup" })
}

/// UPS: the person said "hi".
#[must_use]
pub fn prompt() -> Value {
    json!({ "event": "UserPromptSubmit", "prompt": "hi" })
}

/// STOP(n).
#[must_use]
pub fn stop(continuation_count: u32) -> Value {
    json!({ "event": "Stop", "continuation_count": continuation_count, "last_assistant_message": "x" })
}

/// SE: the session ended.
#[must_use]
pub fn session_end() -> Value {
    json!({ "event": "SessionEnd", "cause": "other" })
}

/// A document with these handlers in one group of one event.
#[must_use]
pub fn hooks(event: &str, handlers: Value) -> Value {
    json!({ "hooks": { event: [{ "hooks": handlers }] } })
}

/// A document with one shell command on one event.
#[must_use]
pub fn shell(event: &str, command: &str) -> Value {
    hooks(event, json!([{ "type": "command", "command": command }]))
}

/// The same with a time limit. Seconds.
#[must_use]
pub fn shell_within(event: &str, command: &str, timeout: f64) -> Value {
    hooks(event, json!([{ "type": "command", "command": command, "timeout": timeout }]))
}

/// A document with one program on one event, run without a shell.
#[must_use]
pub fn program(event: &str, argv: &[&str]) -> Value {
    hooks(event, json!([{ "type": "command", "command": "true", "argv": argv }]))
}
