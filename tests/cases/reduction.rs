//! Kind 7: fan-out and reduction.

use std::time::{Duration, Instant};

use hooksd_tests::harness::{Setup, alone, decision, deny, events, within, world, world_with};
use serde_json::json;

fn all(event: &str, commands: &[&str]) -> serde_json::Value {
    let handlers: Vec<_> =
        commands.iter().map(|command| json!({ "type": "command", "command": command })).collect();
    events::hooks(event, json!(handlers))
}

/// Configuration order decides, not the order of ends; handlers run side by side; the same command twice runs twice.
#[test]
fn b42_configuration_order_decides() {
    world(async |world| {
        let stop = |delay: &str, reason: &str| {
            format!(r#"{delay}echo '{{"continue":false,"stopReason":"{reason}"}}'"#)
        };
        let document = all("UserPromptSubmit", &[&stop("sleep 0.4; ", "A"), &stop("", "B")]);
        let start = Instant::now();
        let answer = world.agent_of(&document).await.invoke(&events::prompt()).await;
        assert!(start.elapsed() < Duration::from_millis(2000), "{:?}", start.elapsed());
        let expected = json!({
            "continue_processing": false, "stop_reason": "A",
            "diagnostics": ["additional_stop_reason UserPromptSubmit:0:1 stopReason"],
        });
        assert_eq!(answer.decision(), decision("UserPromptSubmit", expected));

        let document = all("SessionStart", &["sleep 0.3; echo one", "echo two", "sleep 0.1; echo three"]);
        let answer = world.agent_of(&document).await.invoke(&events::session_start()).await;
        assert_eq!(
            answer.decision(),
            decision("SessionStart", json!({ "context": ["one", "two", "three"] }))
        );
        let document = all("SessionStart", &["echo x", "echo x"]);
        let answer = world.agent_of(&document).await.invoke(&events::session_start()).await;
        assert_eq!(answer.decision(), decision("SessionStart", json!({ "context": ["x", "x"] })));
    });
}

/// Deny beats ask beats allow, whatever happens to the peers; of equals the first keeps its reason; a stop is sticky.
#[test]
fn b43_deny_beats_ask_beats_allow() {
    world(async |world| {
        let say = |word: &str, reason: &str| {
            format!(
                r#"echo '{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"{word}","permissionDecisionReason":"{reason}"}}}}'"#
            )
        };
        let plain = |command: &str| json!({ "type": "command", "command": command });
        world.user(&events::hooks(
            "PreToolUse",
            json!([
                plain("exit 1"),
                { "type": "command", "command": "sleep 9", "timeout": 0.3 },
                plain(&say("allow", "a")),
                plain(&format!("sleep 0.3; {}", say("deny", "d"))),
                plain(&say("ask", "b")),
                plain(&say("deny", "later")),
            ]),
        ));
        let answer = world.agent().await.invoke(&events::pre()).await;
        let expected = json!({
            "permission": deny("d"), "diagnostics": ["nonzero_exit PreToolUse:0:0", "timeout PreToolUse:0:1"],
        });
        assert_eq!(answer.decision(), decision("PreToolUse", expected));

        let stop = r#"echo '{"continue":false,"stopReason":"enough"}'"#;
        let document = all("PreToolUse", &[&say("allow", "a"), stop, &say("ask", "b"), &say("ask", "c")]);
        let answer = world.agent_of(&document).await.invoke(&events::pre()).await;
        let ask = hooksd_tests::harness::ask(Some("b"));
        let expected = json!({ "permission": ask, "continue_processing": false, "stop_reason": "enough" });
        assert_eq!(answer.decision(), decision("PreToolUse", expected));
    });
}

/// Parallel calls of two sessions do not queue behind each other, and nobody's clock runs before his handler does.
#[test]
fn b44_parallel_calls_do_not_queue() {
    alone(async |world| {
        let document = events::shell_within("PreToolUse", "sleep 1; cat $DENY", 2.0);
        let mut agents = [world.agent_of(&document).await, world.agent().await];
        let expected = decision("PreToolUse", json!({ "permission": deny("no") }));
        within(Duration::from_secs(2), async || {
            let mut ids = Vec::new();
            for _ in 0..20 {
                for (index, agent) in agents.iter_mut().enumerate() {
                    ids.push((index, agent.start(&events::pre()).await));
                }
            }
            for (index, id) in ids {
                assert_eq!(agents[index].answer(id).await.decision(), expected);
            }
        })
        .await;
    });
}

/// D5: running out of descriptors delays handlers, it does not drop them: the guard at the end counts.
#[test]
fn b45_a_storm_beyond_the_descriptors_drops_no_guard() {
    let setup = Setup { program: true, limits: "ulimit -n 96".to_owned(), ..Setup::default() };
    world_with(setup, async |world| {
        let mut commands = vec!["sleep 0.5"; 100];
        commands.push("exit 2");
        let mut agent = world.agent_of(&all("PreToolUse", &commands)).await;
        let id = agent.start(&events::pre()).await;
        // It still accepts and answers others meanwhile.
        let mut other = world.connect().await;
        other.call("daemon/status", json!({})).await.unwrap();
        let expected = json!({ "permission": deny("Hook blocked the operation") });
        assert_eq!(agent.answer(id).await.decision(), decision("PreToolUse", expected));
    });
}

/// Handlers can make an agent go on eight times, then it may stop, and is told why.
#[test]
fn b47_the_loop_ends_at_the_cap() {
    world(async |world| {
        let command =
            r#"grep -q '"stop_hook_active":true' && echo again-active >&2 || echo again >&2; exit 2"#;
        let mut agent = world.agent_of(&events::shell("Stop", command)).await;
        for (count, feedback) in [(0, "again"), (1, "again-active"), (7, "again-active")] {
            let expected = json!({ "continue_loop": true, "feedback": [feedback] });
            assert_eq!(
                agent.invoke(&events::stop(count)).await.decision(),
                decision("Stop", expected),
                "{count}"
            );
        }
        for count in [8, 9, 1000] {
            let answer = agent.invoke(&events::stop(count)).await.decision();
            assert_eq!(answer, decision("Stop", json!({ "diagnostics": ["continuation_cap"] })), "{count}");
        }
        let context = r#"echo '{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"more"}}'"#;
        let mut agent = world.agent_of(&all("Stop", &[context, context])).await;
        let expected = json!({ "continue_loop": true, "feedback": ["more", "more"] });
        assert_eq!(agent.invoke(&events::stop(7)).await.decision(), decision("Stop", expected));
        let expected = json!({ "diagnostics": ["continuation_cap", "continuation_cap"] });
        assert_eq!(agent.invoke(&events::stop(8)).await.decision(), decision("Stop", expected));
    });
}
