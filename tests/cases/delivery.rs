//! Kind 1: payload delivery on stdin.

use std::collections::VecDeque;
use std::time::Duration;

use hooksd_tests::harness::{Agent, alone, daemon, decision, deny, events, no_opinion, until, within};
use serde_json::{Value, json};

/// Events that are under way at the same time in B01.
const IN_FLIGHT: usize = 16;

async fn always_denied(agent: &mut Agent, event: &Value, times: usize) {
    let expected = decision("PreToolUse", json!({ "permission": deny("no") }));
    let mut running = VecDeque::new();
    for _ in 0..times {
        if running.len() == IN_FLIGHT {
            let id = running.pop_front().unwrap();
            assert_eq!(agent.answer(id).await.decision(), expected);
        }
        running.push_back(agent.start(event).await);
    }
    for id in running {
        assert_eq!(agent.answer(id).await.decision(), expected);
    }
}

/// A handler that answers without reading its stdin has answered: a broken pipe is no failure.
#[test]
fn b01_a_handler_may_answer_without_reading_stdin() {
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "cat $DENY")).await;
        always_denied(&mut agent, &events::pre(), 200).await;
    });
}

/// The same with payloads that no pipe holds, so that the write is under way when the handler ends.
#[test]
fn b01_a_handler_may_leave_a_long_payload_unread() {
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "cat $DENY")).await;
        let three_pipes = events::tool("PreToolUse", "execute", json!({ "command": "x".repeat(200_000) }));
        always_denied(&mut agent, &three_pipes, 48).await;
        always_denied(&mut agent, &events::pre_2mb(), 4).await;
    });
}

/// stdin, stdout and stderr move at the same time: a handler that copies its input does not deadlock.
#[test]
fn b03_a_handler_may_copy_its_input_to_both_outputs() {
    alone(async |world| {
        let document = events::shell_within("PreToolUse", "tee /dev/stderr", 10.0);
        let mut agent = world.agent_of(&document).await;
        let event = events::pre_2mb();
        let answer = agent.invoke(&event).await;
        let took = answer.0["handlers"][0]["duration_ms"].as_u64().unwrap();
        assert!(took < 1000, "{took} ms");
        let diagnostics = [
            "stdout_truncated PreToolUse:0:0",
            "stderr_truncated PreToolUse:0:0",
            "malformed_json PreToolUse:0:0",
        ];
        let expected = json!({ "permission": no_opinion(), "diagnostics": diagnostics });
        assert_eq!(answer.decision(), decision("PreToolUse", expected));
    });
}

/// stdin ends right after the payload, for each of many handlers, also beside one that keeps running: no handler holds
/// another's pipe.
#[test]
fn b04_stdin_ends_right_after_the_payload() {
    alone(async |world| {
        let count = "n=$(cat | wc -c); read x; echo got $n";
        world.user(&json!({ "hooks": {
            "SessionStart": [{ "hooks": [{ "type": "command", "timeout": 5, "command": count }] }],
            "UserPromptSubmit": [{ "hooks": [{ "type": "command", "command": "sleep 30" }] }],
            "SubagentStart": [{ "hooks": [{ "type": "command", "command": "true" }] }],
        }}));
        let mut agent = world.agent().await;
        let slow = agent.start(&events::prompt()).await;
        until("the slow handler runs", || world.alive().iter().any(|line| line == "sleep 30")).await;

        let mut contexts = Vec::new();
        within(Duration::from_secs(1), async || {
            contexts.clear();
            let mut ids = Vec::new();
            for _ in 0..50 {
                ids.push(agent.start(&events::session_start()).await);
            }
            for id in ids {
                contexts.push(agent.answer(id).await.context());
            }
        })
        .await;

        world.user(&events::shell("SessionStart", "cat"));
        agent.reload().await;
        let payload = agent.invoke(&events::session_start()).await;
        let length = payload.0["handlers"][0]["stdout_bytes"].as_u64().unwrap();
        assert_eq!(contexts, vec![vec![format!("got {length}")]; 50]);
        agent.line.cancel(slow).await;
        assert_eq!(agent.line.answer(slow).await.unwrap_err()["code"], -32800);
    });
}
