//! Kind 3: exit status.

use hooksd_tests::harness::{Answer, decision, deny, events, world};
use serde_json::{Value, json};

/// No opinion, and one remark on the first handler.
fn none_with(code: &str) -> Value {
    decision("PreToolUse", json!({ "diagnostics": [format!("{code} PreToolUse:0:0")] }))
}

/// Death by a signal is a failure of its own, not exit 0, 1 or 2, and half an answer does not count.
#[test]
fn b15_death_by_signal_is_no_verdict() {
    world(async |world| {
        for (signal, number, name) in [("-9", 9, "KILL"), ("-INT", 2, "INT")] {
            let document = events::shell("PreToolUse", &format!("cat $DENY; kill {signal} $$"));
            let answer = world.agent_of(&document).await.invoke(&events::pre()).await;
            assert_eq!(answer.decision(), none_with("nonzero_exit"));
            assert_eq!(answer.handlers(), [format!("PreToolUse:0:0 failed signal {number}")]);
            let message = answer.message("nonzero_exit");
            assert!(message.contains(&format!("signal {number} ({name})")), "{message}");
        }
    });
}

/// Only 2 blocks. Another status is a diagnostic, also beside a perfect answer on stdout.
#[test]
fn b16_an_odd_exit_status_does_not_block() {
    world(async |world| {
        for status in [1, 3, 126, 127, 255] {
            let document = events::shell("PreToolUse", &format!("cat $DENY; exit {status}"));
            let answer = world.agent_of(&document).await.invoke(&events::pre()).await;
            assert_eq!(answer.decision(), none_with("nonzero_exit"), "exit {status}");
            assert_eq!(answer.handlers(), [format!("PreToolUse:0:0 failed exit {status}")]);
            assert!(answer.message("nonzero_exit").contains(&status.to_string()));
        }
        // The system keeps eight bits.
        let answer = world
            .agent_of(&events::shell("PreToolUse", "cat $DENY; exit 258"))
            .await
            .invoke(&events::pre())
            .await;
        let expected = json!({ "permission": deny("Hook blocked the operation") });
        assert_eq!(answer.decision(), decision("PreToolUse", expected));
    });
}

/// Exit 2 means block, whoever says it; the reason shows the mistake. What cannot run at all does not block.
#[test]
fn b17_exit_two_blocks_and_the_reason_shows_the_mistake() {
    world(async |world| {
        // An interpreter without its script, and a shell that does not understand.
        for (command, shown) in [("awk -f /nonexistent.awk", "/nonexistent.awk"), ("if", "yntax error")] {
            let answer =
                world.agent_of(&events::shell("PreToolUse", command)).await.invoke(&events::pre()).await;
            assert_eq!(answer.handlers(), ["PreToolUse:0:0 blocked exit 2"], "{command}");
            assert!(answer.reason().contains(shown), "{}", answer.reason());
            assert_eq!(
                answer.decision(),
                decision("PreToolUse", json!({ "permission": deny(answer.reason()) }))
            );
        }
        let document = events::shell("PreToolUse", "ghost-interp /nonexistent.py");
        let answer = world.agent_of(&document).await.invoke(&events::pre()).await;
        assert_eq!(answer.decision(), none_with("nonzero_exit"));
        assert_eq!(answer.handlers(), ["PreToolUse:0:0 failed exit 127"]);

        let document = events::program("PreToolUse", &["/nonexistent/x"]);
        let answer = world.agent_of(&document).await.invoke(&events::pre()).await;
        assert_eq!(answer.decision(), none_with("launch_failed"));
        assert_eq!(answer.handlers(), ["PreToolUse:0:0 failed -"]);
        assert!(answer.message("launch_failed").contains("/nonexistent/x"));
    });
}

/// A handler that could not start is said to be so, and a sibling's deny still counts.
#[test]
fn b19_a_spawn_that_failed_is_not_a_clean_run() {
    world(async |world| {
        let script = world.script("noexec.sh", "#!/bin/sh\nexit 2\n", 0o644);
        let command = |command: &str| json!({ "type": "command", "command": command });
        let cases = [
            (json!({ "type": "command", "command": "true", "argv": [script] }), "launch_failed", "-"),
            (command(&script), "nonzero_exit", "exit 126"),
            (command("true \u{0} x"), "launch_failed", "-"),
            (command(" \t\n "), "invalid_command", "-"),
            (command(&format!(": {}", "x".repeat(200_000))), "launch_failed", "-"),
        ];
        for (handler, code, end) in cases {
            let document =
                events::hooks("PreToolUse", json!([handler, { "type": "command", "command": "cat $DENY" }]));
            let answer: Answer = world.agent_of(&document).await.invoke(&events::pre()).await;
            let expected =
                json!({ "permission": deny("no"), "diagnostics": [format!("{code} PreToolUse:0:0")] });
            assert_eq!(answer.decision(), decision("PreToolUse", expected));
            let handlers =
                [format!("PreToolUse:0:0 failed {end}"), "PreToolUse:0:1 blocked exit 0".to_owned()];
            assert_eq!(answer.handlers(), handlers);
        }
    });
}
