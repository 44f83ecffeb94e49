//! D10: output fields that a session accepts come back in the decision; others are remarked on.

use hooksd_tests::harness::{Agent, World, allow, decision, events, world};
use serde_json::{Value, json};

/// An agent that accepts these, whose handlers print these on an event.
async fn accepting(world: &World, accepts: Value, event: &str, outputs: &[String]) -> Agent {
    let handlers: Vec<Value> = outputs
        .iter()
        .enumerate()
        .map(|(number, output)| {
            world.write(&format!("out{number}"), output);
            json!({ "type": "command", "command": format!("cat $W/out{number}") })
        })
        .collect();
    world.user(&events::hooks(event, json!(handlers)));
    world.agent_with(json!({ "accepts": accepts })).await
}

fn update(word: &str, input: &str) -> String {
    format!(
        r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"{word}","updatedInput":{input}}}}}"#
    )
}

#[test]
fn an_accepted_input_comes_back_and_the_allow_counts() {
    world(async |world| {
        let outputs = [update("allow", r#"{"command":"ls -l"}"#)];
        let mut agent = accepting(world, json!(["updated_input"]), "PreToolUse", &outputs).await;
        let expected = json!({ "permission": allow(None), "updated_input": { "command": "ls -l" } });
        assert_eq!(agent.invoke(&events::pre()).await.decision(), decision("PreToolUse", expected));

        let mut agent = accepting(world, json!(["session_title"]), "PreToolUse", &outputs).await;
        let expected = json!({ "diagnostics": ["unsupported_field PreToolUse:0:0 updatedInput"] });
        assert_eq!(agent.invoke(&events::pre()).await.decision(), decision("PreToolUse", expected));
    });
}

/// Two handlers that rewrite the same input: the first in configuration order wins, whichever ends first.
#[test]
fn the_first_rewrite_wins() {
    world(async |world| {
        world.write("first", update("allow", r#"{"command":"first"}"#));
        world.write("second", update("allow", r#"{"command":"second"}"#));
        world.user(&events::hooks(
            "PreToolUse",
            json!([
                { "type": "command", "command": "until [ -e $W/ended ]; do sleep 0.02; done; cat $W/first" },
                { "type": "command", "command": "cat $W/second; touch $W/ended" },
            ]),
        ));
        let mut agent = world.agent_with(json!({ "accepts": ["updated_input"] })).await;
        let expected = json!({
            "permission": allow(None),
            "updated_input": { "command": "first" },
            "diagnostics": ["ignored_update PreToolUse:0:1 updatedInput"],
        });
        assert_eq!(agent.invoke(&events::pre()).await.decision(), decision("PreToolUse", expected));
    });
}

/// D4: what a handler wants applied comes back as it spelled it.
#[test]
fn an_accepted_value_keeps_its_spelling() {
    world(async |world| {
        let input = r#"{"b":123456789012345678901234567890,"a":1.0,"c":-0.0,"d":"\u00e9"}"#;
        let mut agent =
            accepting(world, json!(["updated_input"]), "PreToolUse", &[update("allow", input)]).await;
        agent.start(&events::pre()).await;
        let line = agent.line.next_line().await.unwrap();
        assert!(line.contains(&format!(r#""updated_input":{input}"#)), "{line}");
    });
}

#[test]
fn every_field_can_be_accepted() {
    world(async |world| {
        let specific = |event: &str, fields: Value| {
            let mut output = fields;
            output["hookEventName"] = json!(event);
            json!({ "hookSpecificOutput": output }).to_string()
        };
        let rule = json!({
            "type": "addRules", "rules": [{ "toolName": "Bash" }], "behavior": "allow", "destination": "session",
        });
        let behavior =
            json!({ "behavior": "allow", "updatedInput": { "a": 1 }, "updatedPermissions": [rule] });
        let start = json!({
            "sessionTitle": "T", "initialUserMessage": "M", "watchPaths": ["/a"], "reloadSkills": true,
            "additionalContext": "C",
        });
        let call = json!({ "id": "c", "name": "x", "args": {} });
        let cases = [
            (
                events::session_start(),
                specific("SessionStart", start),
                json!({
                    "context": ["C"], "session_title": "T", "initial_user_message": "M", "watch_paths": ["/a"],
                    "reload_skills": true,
                }),
            ),
            (
                events::post(),
                specific("PostToolUse", json!({ "updatedToolOutput": [1], "updatedMCPToolOutput": "x" })),
                json!({ "updated_tool_output": [1], "updated_mcp_tool_output": "x" }),
            ),
            (
                json!({ "event": "PermissionRequest", "call": call }),
                specific("PermissionRequest", json!({ "decision": behavior })),
                json!({ "permission": allow(None), "updated_input": { "a": 1 }, "updated_permissions": [rule] }),
            ),
            (
                events::prompt(),
                specific("UserPromptSubmit", json!({ "sessionTitle": "P", "suppressOriginalPrompt": true })),
                json!({ "session_title": "P", "suppress_original_prompt": true }),
            ),
        ];
        let all = json!([
            "updated_input",
            "updated_permissions",
            "updated_tool_output",
            "updated_mcp_tool_output",
            "session_title",
            "initial_user_message",
            "watch_paths",
            "reload_skills",
        ]);
        for (event, output, expected) in cases {
            let name = event["event"].as_str().unwrap();
            let mut agent = accepting(world, all.clone(), name, &[output]).await;
            assert_eq!(agent.invoke(&event).await.decision(), decision(name, expected));
        }
    });
}
