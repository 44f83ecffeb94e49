//! D8, D22: a handler that never got its turn is told apart, and fails closed where it should.

use serde_json::json;

use crate::support::{Daemon, behavior, codes, handlers_on, outcome, pre, until};

/// Two places on the first level, of which one session may hold one.
const TIGHT: &str = "ulimit -n 64";

fn seconds_from_now(seconds: f64) -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64() + seconds
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queued_out_at_the_deadline_counts_as_a_failure() {
    let handler = |command: &str, on_failure: &str| json!({ "type": "command", "command": command, "onFailure": on_failure });
    let document = json!({ "hooks": {
        "SessionStart": [{ "hooks": [handler("sleep 77", "ignore")] }],
        "PreToolUse": [{ "hooks": [handler("exit 0", "ignore"), handler("exit 0", "block")] }],
    }});
    let daemon = Daemon::start(TIGHT, &document).await;
    let agent = daemon.agent().await;
    let (id, hog) = agent.start(&json!({ "event": "SessionStart", "cause": "startup" })).await;
    until("the place is taken", || daemon.alive().iter().any(|line| line == "sleep 77")).await;

    let deadline = json!({ "deadline": seconds_from_now(0.5) });
    let (_, waiting) = agent.client.start("hook/invoke", agent.params(&pre(), deadline)).await;
    let mut seen = false;
    while !seen {
        seen = daemon.status().await["queued_handlers"] == 2;
    }
    let result = outcome(waiting).await.unwrap();
    assert_eq!(
        (behavior(&result), codes(&result)),
        ("deny", vec!["queued_out", "queued_out", "failure_blocked"])
    );
    let reason = result["decision"]["permission"]["reason"].as_str().unwrap();
    assert!(reason.contains("never got its turn: too many handlers were running for 0."), "{reason}");
    let handlers = result["handlers"].as_array().unwrap();
    assert_eq!((&handlers[0]["status"], &handlers[1]["status"]), (&json!("queued_out"), &json!("blocked")));
    for handler in handlers {
        assert!(handler["queue_ms"].as_u64().unwrap() >= 400 && handler["duration_ms"] == 0, "{handler}");
        assert_eq!((&handler["exit_code"], &handler["warm"]), (&json!(null), &json!(false)));
    }

    // Another session has a place all the while.
    let other = daemon.agent().await;
    assert_eq!(behavior(&other.invoke(&pre()).await), "none");

    agent.client.cancel(id).await;
    assert_eq!(outcome(hog).await.unwrap_err()["code"], -32800);
    assert_eq!(codes(&agent.invoke(&pre()).await), [""; 0]);
    daemon.nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_time_in_the_queue_is_not_the_handlers() {
    let handler = json!({ "type": "command", "command": "sleep 0.3; echo no >&2; exit 2", "timeout": 2 });
    let daemon = Daemon::start(TIGHT, &handlers_on("PreToolUse", vec![handler; 12])).await;
    let agent = daemon.agent().await;
    // One after the other: 3.6 s, longer than any handler may take.
    let result = agent.invoke(&pre()).await;
    assert_eq!((behavior(&result), codes(&result)), ("deny", vec![]), "{result}");
    assert!(
        result["handlers"]
            .as_array()
            .unwrap()
            .iter()
            .any(|handler| handler["queue_ms"].as_u64().unwrap() > 2000)
    );
    daemon.nothing_left().await;
}
