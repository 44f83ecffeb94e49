//! D12: hooks that start agents that have hooks. A nested call never waits for a place that its parent holds.

use serde_json::{Value, json};

use crate::support::{Daemon, behavior, codes, pre};

/// More than there are places on the first level, all of which wait for a nested call.
const PARENTS: usize = 30;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d12_parents_that_hold_all_places_do_not_wait_for_themselves() {
    let nested = |event: &str| {
        format!(
            r#"echo '{{"hook_event_name":"{event}","session_id":"n","source":"startup","cwd":"/"}}' | "$CTL" invoke >/dev/null"#
        )
    };
    let one = |command: &str| json!({ "type": "command", "command": command, "timeout": 40 });
    let mut parents: Vec<Value> = vec![one(&nested("SessionStart")); PARENTS];
    parents.push(one("exit 2"));
    // Three levels: PreToolUse calls SessionStart calls Notification.
    let document = json!({ "hooks": {
        "PreToolUse": [{ "hooks": parents }],
        "SessionStart": [{ "hooks": [one(&format!("{}; echo x >>$W/second", nested("Notification")))] }],
        "SessionEnd": [{ "hooks": [one("echo x >>$W/third")] }],
    }});
    let document = document.to_string().replace("SessionEnd", "Notification");
    let document = document.replace(
        r#"\"source\":\"startup\",\"cwd\""#,
        r#"\"source\":\"startup\",\"message\":\"m\",\"notification_type\":\"agent_completed\",\"cwd\""#,
    );
    let daemon = Daemon::start("ulimit -n 96", &serde_json::from_str(&document).unwrap()).await;
    let agent = daemon.agent().await;
    let result = agent.invoke(&pre()).await;
    assert_eq!((behavior(&result), codes(&result)), ("deny", vec![]), "{result}");
    let lines = |name: &str| std::fs::read_to_string(daemon.path(name)).unwrap_or_default().lines().count();
    assert_eq!((lines("second"), lines("third")), (PARENTS, PARENTS), "{result}");
    println!(
        "{PARENTS} handlers with nested calls two deep under ulimit -n 96: {} ms",
        result["duration_ms"]
    );
    daemon.nothing_left().await;
}
