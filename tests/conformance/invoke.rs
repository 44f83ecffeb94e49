//! Invocations for the areas that need one event in the domain's form.

use hooksd_engine::plan::Input;
use hooksd_json::{Dialect, Reading, Value};
use hooksd_protocol::invocation::Invocation;

use crate::json::{Json, quote};

/// Reads an invocation as leniently as the reference did when the vectors were recorded. That requests are read
/// strictly (D23) is what the area transport is for.
pub(crate) fn lenient(text: &str) -> Result<Invocation, String> {
    let value = Value::parse(text, Dialect::Strict).map_err(|error| format!("not JSON: {error}"))?;
    Invocation::read(&value, Reading::Lenient).map_err(|error| format!("rejected: {error}"))
}

/// An invocation whose matcher target is `target`.
pub(crate) fn with_target(event: &str, target: &Json<'_>) -> Result<Invocation, String> {
    let name = target.get("name").unwrap_or(target).raw;
    let server = target.given("mcp_server").map(|server| format!(",\"mcp_server\":{}", server.raw));
    let call =
        format!("\"call\":{{\"id\":\"c\",\"name\":{name},\"args\":{{}}{}}}", server.unwrap_or_default());
    let agent = format!("\"agent\":{{\"id\":\"a\",\"name\":{name}}}");
    let last = "\"continuation_count\":0,\"last_assistant_message\":\"\"";
    let fields = match event {
        "SessionStart" | "SessionEnd" => format!("\"cause\":{name}"),
        "PreCompact" => format!("\"trigger\":{name}"),
        "Notification" => format!("\"notification\":{{\"type\":{name},\"message\":\"\"}}"),
        "PermissionRequest" | "PreToolUse" => call,
        "PostToolUse" => format!("{call},\"result\":1"),
        "PostToolUseFailure" => format!("{call},\"error\":\"\""),
        "SubagentStart" => agent,
        "SubagentStop" => format!("{agent},{last}"),
        "UserPromptSubmit" => "\"prompt\":\"\"".to_owned(),
        "Stop" => last.to_owned(),
        _ => return Err(format!("unknown event {event:?}")),
    };
    let context = "{\"thread_id\":\"t\",\"cwd\":\"/\",\"approval_mode\":\"manual\"}";
    lenient(&format!("{{\"context\":{context},\"event\":{{\"event\":{},{fields}}}}}", quote(event)))
}

/// As the engine takes it.
pub(crate) fn input(invocation: Invocation) -> Input {
    Input::Invocation(Box::new(invocation))
}
