//! `hook/invoke` with the payload that agents hand to command hooks: passed on byte for byte.

use hooksd_tests::harness::{Agent, Answer, World, decision, deny, events, world};
use serde_json::{Value, json};

async fn send(agent: &mut Agent, payload: &str) -> Result<Value, Value> {
    let session = agent.session().to_owned();
    let id = 7000;
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"hook/invoke","params":{{"session":"{session}","payload":{payload}}}}}"#
    );
    agent.line.send_line(&line).await;
    agent.line.answer(id).await
}

async fn copying(world: &World) -> Agent {
    world.agent_of(&events::shell("PreToolUse", "cat > $W/stdin; echo no >&2; exit 2")).await
}

/// D4: nothing of a payload is read and written again: numbers, key order, escapes, spaces, unknown and repeated keys.
#[test]
fn a_payload_is_passed_on_byte_for_byte() {
    world(async |world| {
        let mut agent = copying(world).await;
        let cwd = world.text_at("project");
        for payload in [
            format!(r#"{{"hook_event_name":"PreToolUse","session_id":"s1","cwd":"{cwd}","tool_name":"Bash","tool_input":{{"command":"ls"}}}}"#),
            format!(
                r#"{{ "zzz" : 123456789012345678901234567890, "tool_input":{{"b":1.0,"a":-0.0,"c":1E5,"d":"\ud83d\u0041\/","e":"é𝄞"}},"tool_name":"Bash" , "hook_event_name":"PreToolUse","cwd":"{cwd}","x":[[],{{}},null]}}"#
            ),
            r#"{"hook_event_name":"Stop","hook_event_name":"PreToolUse","tool_name":"\u0042ash","session_id":"\ud83d"}"#.to_owned(),
        ] {
            let answer = Answer(send(&mut agent, &payload).await.unwrap());
            assert_eq!(answer.decision(), decision("PreToolUse", json!({ "permission": deny("no") })));
            assert_eq!(world.read("stdin").unwrap(), payload);
        }
    });
}

/// Matchers are tested against the payload's own names, which are those of hooks.json already.
#[test]
fn matchers_see_the_payloads_own_names() {
    world(async |world| {
        let fields = [
            ("SessionStart", "source", "resume"),
            ("SessionEnd", "reason", "clear"),
            ("PermissionRequest", "tool_name", "Bash"),
            ("Notification", "notification_type", "agent_completed"),
            ("PreToolUse", "tool_name", "mcp__a__b"),
            ("PostToolUse", "tool_name", "Write"),
            ("PostToolUseFailure", "tool_name", "Write"),
            ("PreCompact", "trigger", "manual"),
            ("SubagentStart", "agent_type", "explorer"),
            ("SubagentStop", "agent_type", "explorer"),
        ];
        let groups: serde_json::Map<String, Value> = fields
            .iter()
            .map(|(event, _, matcher)| {
                let hooks = json!([{ "type": "command", "command": "true" }]);
                ((*event).to_owned(), json!([{ "matcher": matcher, "hooks": hooks }]))
            })
            .collect();
        let mut agent = world.agent_of(&json!({ "hooks": groups })).await;
        for (event, field, subject) in fields {
            for (subject, expected) in [(subject, 1), ("something else", 0)] {
                let payload = json!({ "hook_event_name": event, field: subject });
                let answer = send(&mut agent, &payload.to_string()).await.unwrap();
                assert_eq!(answer["handlers"].as_array().unwrap().len(), expected, "{payload}");
            }
        }
    });
}

/// Where the payload says no cwd, the session's is taken; in it and in the payload's the handlers run.
#[test]
fn handlers_run_in_the_payloads_cwd_or_the_sessions() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("SessionStart", "pwd")).await;
        let home = world.text_at("home");
        for (payload, folder) in [
            (json!({ "hook_event_name": "SessionStart", "cwd": home }), home.clone()),
            (json!({ "hook_event_name": "SessionStart" }), world.text_at("project")),
        ] {
            let answer = send(&mut agent, &payload.to_string()).await.unwrap();
            assert_eq!(answer["decision"]["context"], json!([folder]));
        }
    });
}

/// An event of a newer agent is no fault: nothing can be configured for it, and the answer says so.
#[test]
fn an_unknown_event_gets_a_neutral_decision() {
    world(async |world| {
        let mut agent = copying(world).await;
        for name in ["Zzz", "pretooluse", ""] {
            let answer =
                Answer(send(&mut agent, &json!({ "hook_event_name": name }).to_string()).await.unwrap());
            assert_eq!(
                answer.decision(),
                decision(name, json!({ "diagnostics": ["unknown_event (debug)"] }))
            );
            assert_eq!(answer.0["handlers"], json!([]));
        }
        assert_eq!(world.read("stdin"), None);
    });
}

#[test]
fn refuses_what_is_no_payload() {
    world(async |world| {
        let mut agent = copying(world).await;
        for (payload, field) in [
            ("[]", "payload"),
            ("5", "payload"),
            ("{}", "payload.hook_event_name"),
            (r#"{"hook_event_name":5}"#, "payload.hook_event_name"),
            (r#"{"hook_event_name":"Stop","cwd":"here"}"#, "payload.cwd"),
            (r#"{"hook_event_name":"Stop","cwd":""}"#, "payload.cwd"),
            ("null", "invocation"),
        ] {
            let error = send(&mut agent, payload).await.unwrap_err();
            assert_eq!(
                (&error["code"], &error["data"]),
                (&json!(-32602), &json!({ "field": field })),
                "{payload}"
            );
        }
    });
}
