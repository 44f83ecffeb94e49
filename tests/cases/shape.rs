//! Kind 4: reading what a handler printed: its shape.

use hooksd_tests::harness::{allow, decision, events, world};
use serde_json::{Value, json};

use crate::output::{denied, pre_with, printed, reader};

/// A PreToolUse answer with these fields in its specific part.
fn specific(fields: Value) -> String {
    let mut output = json!({ "hookEventName": "PreToolUse" });
    for (key, value) in fields.as_object().unwrap() {
        output[key] = value.clone();
    }
    json!({ "hookSpecificOutput": output }).to_string()
}

/// An unknown key is a remark and costs nothing else: the deny beside it counts.
#[test]
fn b20_an_unknown_key_does_not_cost_the_deny() {
    world(async |world| {
        let mut agent = reader(world, &["PreToolUse"]).await;
        let output = r#"{"zzz":1,"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","denyReason":"x"}}"#;
        let pre = events::pre();
        assert_eq!(printed(world, &mut agent, &pre, output).await, denied(None, &["unsupported_field zzz"]));
        let misspelled = printed(world, &mut agent, &pre, r#"{"decison":"block"}"#).await;
        assert_eq!(misspelled, pre_with(&["unsupported_field decison"]));
    });
}

/// Almost right is not right: each wrong word or shape is a remark and no verdict.
#[test]
fn b21_wrong_words_and_shapes_are_no_verdict() {
    world(async |world| {
        let mut agent =
            reader(world, &["PreToolUse", "PreCompact", "SessionEnd", "Notification", "SessionStart"]).await;
        let pre = events::pre();
        for output in [
            r#"{"decision":"deny"}"#.to_owned(),
            r#"{"decision":"approve"}"#.to_owned(),
            specific(json!({ "permissionDecision": "block" })),
            r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#.to_owned(),
            specific(json!({ "hookEventName": "pretooluse", "permissionDecision": "deny" })),
            "42".to_owned(),
            r#""hi""#.to_owned(),
            "[]".to_owned(),
            "null".to_owned(),
        ] {
            assert_eq!(
                printed(world, &mut agent, &pre, &output).await,
                pre_with(&["invalid_output"]),
                "{output}"
            );
        }
        let flat = r#"{"hookEventName":"PreToolUse","permissionDecision":"deny"}"#;
        let two = ["unsupported_field hookEventName", "unsupported_field permissionDecision"];
        assert_eq!(printed(world, &mut agent, &pre, flat).await, pre_with(&two));
        let other = r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"x"}}"#;
        let mismatched = pre_with(&["mismatched_output hookSpecificOutput.hookEventName"]);
        assert_eq!(printed(world, &mut agent, &pre, other).await, mismatched);
        let defer = specific(json!({ "permissionDecision": "defer" }));
        assert_eq!(
            printed(world, &mut agent, &pre, defer).await,
            pre_with(&["unsupported_field permissionDecision"])
        );

        // An allow of an input that nobody will use is void; a deny stands.
        let update = json!({ "command": "ls -l" });
        let not_applied = ["unsupported_field updatedInput"];
        for word in ["allow", "ask"] {
            let output = specific(json!({ "permissionDecision": word, "updatedInput": update }));
            assert_eq!(printed(world, &mut agent, &pre, output).await, pre_with(&not_applied), "{word}");
        }
        let output = specific(json!({ "permissionDecision": "deny", "updatedInput": update }));
        assert_eq!(printed(world, &mut agent, &pre, output).await, denied(None, &not_applied));
        let output = specific(json!({ "permissionDecision": "allow" }));
        let allowed = decision("PreToolUse", json!({ "permission": allow(None) }));
        assert_eq!(printed(world, &mut agent, &pre, output).await, allowed);

        let notice = json!({ "type": "agent_completed", "message": "m" });
        for event in [
            json!({ "event": "PreCompact", "trigger": "manual" }),
            events::session_end(),
            json!({ "event": "Notification", "notification": notice }),
        ] {
            let name = event["event"].as_str().unwrap();
            let output = json!({ "hookSpecificOutput": { "hookEventName": name } }).to_string();
            let expected = decision(name, json!({ "diagnostics": [format!("invalid_output {name}:0:0")] }));
            assert_eq!(printed(world, &mut agent, &event, output).await, expected);
        }
    });
}

/// On SessionStart, JSON of the wrong shape is invalid and not context; broken JSON is context.
#[test]
fn b21_json_of_another_shape_is_no_context() {
    world(async |world| {
        let mut agent = reader(world, &["SessionStart"]).await;
        for output in ["42", r#"["a"]"#] {
            let expected = json!({ "diagnostics": ["invalid_output SessionStart:0:0"] });
            let answer = printed(world, &mut agent, &events::session_start(), output).await;
            assert_eq!(answer, decision("SessionStart", expected), "{output}");
        }
        let answer = printed(world, &mut agent, &events::session_start(), r#"{"a":"#).await;
        assert_eq!(answer, decision("SessionStart", json!({ "context": [r#"{"a":"#] })));
    });
}

/// Of a repeated key the last value counts, in answers and in hooks.json.
#[test]
fn b22_the_last_of_a_repeated_key_counts() {
    world(async |world| {
        let mut agent = reader(world, &["PreToolUse"]).await;
        let pre = events::pre();
        let stopped = decision("PreToolUse", json!({ "continue_processing": false, "stop_reason": "a" }));
        let output = r#"{"continue":true,"continue":false,"stopReason":"a"}"#;
        assert_eq!(printed(world, &mut agent, &pre, output).await, stopped);
        let output = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecision":"deny"}}"#;
        assert_eq!(printed(world, &mut agent, &pre, output).await, denied(None, &[]));

        world.user_text(r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"true","command":"exit 2"}]}]}}"#);
        agent.reload().await;
        assert_eq!(agent.invoke(&pre).await.decision(), denied(Some("Hook blocked the operation"), &[]));
    });
}

/// Depth and odd numbers in a field that nobody reads do not cost the answer, and no depth costs the daemon.
#[test]
fn b29_depth_and_odd_numbers_do_not_cost_the_answer() {
    world(async |world| {
        let mut agent = reader(world, &["PreToolUse"]).await;
        let pre = events::pre();
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        let stopped =
            json!({ "continue_processing": false, "diagnostics": ["unsupported_field PreToolUse:0:0 zzz"] });
        for odd in [deep.as_str(), "NaN", "1e999", "123456789012345678901234567890"] {
            let output = format!(r#"{{"zzz":{odd},"continue":false}}"#);
            let answer = printed(world, &mut agent, &pre, output).await;
            assert_eq!(answer, decision("PreToolUse", stopped.clone()), "{odd}");
        }
        let brackets = printed(world, &mut agent, &pre, "[".repeat(49_000)).await;
        assert_eq!(brackets, pre_with(&["malformed_json"]));
    });
}

/// Answers are read leniently, as recorded: words and numbers that mean a boolean are one.
#[test]
fn b30_loose_booleans_in_answers() {
    world(async |world| {
        let mut agent = reader(world, &["PreToolUse"]).await;
        let pre = events::pre();
        for loose in [r#""false""#, "0", r#""no""#] {
            let answer = printed(world, &mut agent, &pre, format!(r#"{{"continue":{loose}}}"#)).await;
            assert_eq!(answer, decision("PreToolUse", json!({ "continue_processing": false })), "{loose}");
        }
        for output in [r#"{"continue":null}"#, r#"{"systemMessage":5}"#] {
            assert_eq!(
                printed(world, &mut agent, &pre, output).await,
                pre_with(&["invalid_output"]),
                "{output}"
            );
        }
    });
}

/// The same in hooks.json; what cannot be a time limit costs that handler alone.
#[test]
fn b30_loose_numbers_in_documents() {
    world(async |world| {
        let document = |fields: &str| {
            format!(
                r#"{{"hooks":{{"PreToolUse":[{{"hooks":[
                    {{"type":"command","command":"true",{fields}}},{{"type":"command","command":"exit 2"}}]}}]}}}}"#
            )
        };
        for (fields, loads) in [
            (r#""timeout":"5""#, true),
            (r#""timeout":true"#, true),
            (r#""async":false"#, true),
            (r#""timeout":"5s""#, false),
            (r#""timeout":0"#, false),
            (r#""timeout":-1"#, false),
            (r#""timeout":NaN"#, false),
            (r#""timeout":Infinity"#, false),
            (r#""async":"true""#, false),
        ] {
            world.user_text(document(fields));
            let mut agent = world.agent().await;
            let (diagnostics, handlers) = if loads {
                (vec![], vec!["PreToolUse:0:0 ok exit 0", "PreToolUse:0:1 blocked exit 2"])
            } else {
                (vec!["invalid_config hooks.PreToolUse[0].hooks[0]"], vec!["PreToolUse:0:0 blocked exit 2"])
            };
            assert_eq!(agent.load_diagnostics(), diagnostics, "{fields}");
            assert_eq!(agent.invoke(&events::pre()).await.handlers(), handlers, "{fields}");
        }
        // "5" means five seconds, true means one.
        for (limit, seconds) in [("\"0.2\"", 0.2), ("true", 1.0)] {
            world.user_text(document(&format!(r#""timeout":{limit}"#)).replace("\"true\"", "\"sleep 30\""));
            let answer = world.agent().await.invoke(&events::pre()).await;
            let took = answer.0["handlers"][0]["duration_ms"].as_f64().unwrap() / 1000.0;
            assert_eq!(answer.handlers()[0], "PreToolUse:0:0 timeout -");
            assert!((seconds..seconds + 1.5).contains(&took), "{limit}: {took}");
        }
    });
}
