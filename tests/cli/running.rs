//! Events that are run: `invoke`, `hook`.

use hooksd_tests::harness::events;
use serde_json::json;

use crate::transcript::{denied, document, transcript};

#[test]
fn invoke() {
    transcript("invoke", async |page| {
        page.both_with(&["invoke"], &[], &denied().to_string()).await;
        page.user(&document());
        page.both_with(&["invoke"], &[], &denied().to_string()).await;
        let write = events::tool("PreToolUse", "write_file", json!({}));
        for event in [write, events::session_start(), events::stop(0), events::session_end()] {
            page.run_with(&["invoke"], &[], &event.to_string()).await;
        }
        page.project(&json!({ "hooks": { "PreToolUse": [
            { "hooks": [{ "type": "command", "command": "sleep 30", "timeout": 0.1 }] },
            { "hooks": [{ "type": "command", "command": "kill -9 $$" }] },
            { "hooks": [{ "type": "command", "command": "true", "argv": ["/nowhere/guard"] }] },
            { "hooks": [{ "type": "command", "command": "echo nonsense" }] },
            { "hooks": [{ "type": "command", "command": "printf 'red \\033[31m' >&2; exit 2" }] },
        ]}}));
        page.run_with(&["invoke", "--trust", "explicit"], &[], &events::pre().to_string()).await;
        for wrong in ["{", "{}", r#"{"event":"PreToolUs"}"#, r#"{"event":"PreToolUse"}"#] {
            page.run_with(&["invoke"], &[], wrong).await;
        }
        page.run(&["invoke", "gone.json"]).await;
        page.run(&["invoke", "--timeout", "0"]).await;
        page.run_with(&["invoke", "--session", "none"], &[], &denied().to_string()).await;
    });
}

#[test]
fn hook() {
    transcript("hook", async |page| {
        page.user(&document());
        let payload = |command: &str| {
            let cwd = page.world.text_at("project");
            json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": cwd, "tool_name": "Bash",
                "tool_input": { "command": command }, "tool_use_id": "c" })
            .to_string()
        };
        let (bad, good) = (payload("rm -rf build"), payload("ls"));
        page.run_with(&["hook", "--agent", "claude-code"], &[], &bad).await;
        page.run_with(&["hook", "--agent", "claude-code"], &[], &good).await;
        page.run_with(&["hook", "--agent", "kimi"], &[], &bad).await;
        page.run_with(&["hook", "--agent", "nobody"], &[], &bad).await;
        page.run_with(&["hook"], &[], &bad).await;
        page.run_with(&["hook", "--agent", "claude-code"], &[], "nonsense").await;
        page.world.stop().await;
        let alone = [("HOOKSD_AUTOSTART", "0")];
        page.run_with(&["hook", "--agent", "claude-code"], &alone, &bad).await;
        page.run_with(&["hook", "--agent", "claude-code", "--fail", "closed"], &alone, &bad).await;
        page.world.start().await;
    });
}
