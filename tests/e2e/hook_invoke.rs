//! `hook/invoke` with the domain form of an event: the answer as a whole, inline sessions, what handlers read.

use hooksd_tests::harness::{Answer, Line, World, decision, deny, events, world};
use serde_json::{Value, json};

/// The result with its times set to 0.
fn timeless(mut result: Value) -> Value {
    assert!(result["duration_ms"].is_u64());
    result["duration_ms"] = json!(0);
    for handler in result["handlers"].as_array_mut().unwrap() {
        for time in ["duration_ms", "queue_ms"] {
            assert!(handler[time].is_u64(), "{handler}");
            handler[time] = json!(0);
        }
    }
    result
}

#[test]
fn the_answer_as_a_whole() {
    world(async |world| {
        world.user(&json!({ "hooks": { "PreToolUse": [
            { "matcher": "Bash", "hooks": [
                { "type": "command", "command": "cat > /dev/null; echo '{\"systemMessage\":\"hi\"}'" },
                { "type": "command", "command": "echo no >&2; exit 2" },
                { "type": "command", "command": "kill -TERM $$" },
            ]},
            { "matcher": "Write", "hooks": [{ "type": "command", "command": "true" }] },
        ]}}));
        let mut agent = world.agent().await;
        let id = "0f8fad5b-d9cb-469f-a165-70867728950e";
        let answer = agent
            .invoke_with(&events::pre(), json!({
                "protocol_version": 1, "invocation_id": id, "snapshot_id": agent.snapshot(), "run_id": "r1",
                "deadline": "2999-01-02T03:04:05+01:00", "transcript_path": "/t", "agent_transcript_path": "/a",
                "progress": false,
            }))
            .await
            .unwrap();
        let source = world.text_at("config/hooks.json");
        let handler = |number: u32,
                       status: &str,
                       exit_code: Option<i32>,
                       signal: Option<i32>,
                       bytes: [u32; 2]| {
            json!({
                "id": format!("PreToolUse:0:{number}"), "source": source, "status": status, "exit_code": exit_code,
                "signal": signal, "duration_ms": 0, "queue_ms": 0, "stdout_bytes": bytes[0],
                "stderr_bytes": bytes[1], "truncated": false, "warm": false,
            })
        };
        assert_eq!(
            timeless(answer.0),
            json!({
                "protocol_version": 1,
                "invocation_id": id,
                "snapshot_id": agent.snapshot(),
                "decision": {
                    "event": "PreToolUse", "continue_processing": true, "stop_reason": null, "user_notices": ["hi"],
                    "terminal_sequences": [],
                    "diagnostics": [{
                        "code": "nonzero_exit", "severity": "warning", "message": "was killed by signal 15 (TERM)",
                        "handler_id": "PreToolUse:0:2", "field": null,
                    }],
                    "permission": { "behavior": "deny", "reason": "no", "interrupt": false },
                    "context": [],
                },
                "handlers": [
                    handler(0, "ok", Some(0), None, [23, 0]),
                    handler(1, "blocked", Some(2), None, [0, 3]),
                    handler(2, "failed", None, Some(15), [0, 0]),
                ],
                "duration_ms": 0,
            })
        );
    });
}

/// Every event has its own shape of decision, also when nothing is configured for it.
#[test]
fn every_event_has_its_neutral_decision() {
    world(async |world| {
        let mut agent = world.agent().await;
        let call = json!({ "id": "c", "name": "x", "args": {} });
        let agent_of = json!({ "id": "a", "name": "explorer" });
        let all = [
            events::session_start(),
            events::prompt(),
            events::session_end(),
            json!({ "event": "PermissionRequest", "call": call }),
            json!({ "event": "Notification", "notification": { "type": "agent_completed", "message": "m" } }),
            events::pre(),
            events::post(),
            json!({ "event": "PostToolUseFailure", "call": call, "error": "e", "is_interrupt": false }),
            json!({ "event": "PreCompact", "trigger": "auto", "custom_instructions": "" }),
            events::stop(0),
            json!({ "event": "SubagentStart", "agent": agent_of }),
            json!({ "event": "SubagentStop", "agent": agent_of, "continuation_count": 0, "last_assistant_message": "x" }),
        ];
        for event in all {
            let answer = agent.invoke(&event).await;
            assert_eq!(answer.decision(), decision(event["event"].as_str().unwrap(), json!({})));
            assert_eq!(answer.0["handlers"], json!([]));
        }
    });
}

/// One round trip for one-shot clients: the session in the request, opened for it alone.
#[test]
fn an_inline_session_is_opened_for_one_request() {
    world(async |world| {
        world.user(&events::shell("PreToolUse", "echo $NAME >&2; exit 2"));
        let mut line = world.connect().await;
        let mut open = world.open_params();
        open["env"] = json!({ "PATH": "/usr/bin:/bin", "NAME": "inline" });
        let context =
            json!({ "thread_id": "s1", "cwd": world.text_at("project"), "approval_mode": "manual" });
        let params = json!({ "session": open, "invocation": { "context": context, "event": events::pre() } });
        let answer = Answer(line.call("hook/invoke", params).await.unwrap());
        assert_eq!(answer.decision(), decision("PreToolUse", json!({ "permission": deny("inline") })));
        assert_eq!(line.call("session/list", json!({})).await, Ok(json!({ "sessions": [] })));
    });
}

/// The line of a request whose event is given as raw text.
fn raw_request(world: &World, session: &str, event: &str) -> String {
    let cwd = world.text_at("project");
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"hook/invoke","params":{{"session":"{session}","transcript_path":"/t","invocation":{{"context":{{"thread_id":"s1","cwd":"{cwd}","approval_mode":"yolo"}},"event":{event}}}}}}}"#
    )
}

async fn answered(line: &mut Line, request: &str) -> Value {
    line.send_line(request).await;
    line.answer(1).await.unwrap_or_else(|error| panic!("{error}: {request}"))
}

/// JSON that no reader of numbers or strings would give back as it was.
const ODD: &str = r#"{"b":123456789012345678901234567890,"a":1.0,"é":-0.0,"c":[1E5,1e-7,0.10],"b2":"\u00e9\/\ud83d","d":{"z":1,"y":null,"":[]},"e":"𝄞\u0000"}"#;

/// D4: arguments and results reach handlers as they were spelled.
#[test]
fn arguments_and_results_reach_handlers_untouched() {
    world(async |world| {
        world.user(&json!({ "hooks": {
            "PreToolUse": [{ "hooks": [{ "type": "command", "command": "cat > $W/pre" }] }],
            "PostToolUse": [{ "hooks": [{ "type": "command", "command": "cat > $W/post" }] }],
        }}));
        let mut agent = world.agent().await;
        let session = agent.session().to_owned();
        let cwd = world.text_at("project");
        let call = format!(r#"{{"id":"c\ud83d","name":"my_tool","args":{ODD}}}"#);
        let common = |event: &str| {
            format!(
                r#""session_id":"s1","transcript_path":"/t","cwd":"{cwd}","hook_event_name":"{event}","permission_mode":"bypassPermissions""#
            )
        };
        let event = format!(r#"{{"event":"PreToolUse","call":{call}}}"#);
        let answer = answered(&mut agent.line, &raw_request(world, &session, &event)).await;
        assert_eq!(Answer(answer).handlers(), ["PreToolUse:0:0 ok exit 0"]);
        let expected = format!(
            r#"{{{},"tool_name":"my_tool","tool_input":{ODD},"tool_use_id":"c\ud83d"}}"#,
            common("PreToolUse")
        );
        assert_eq!(world.read("pre").unwrap(), expected);

        for result in [ODD, "null", "[1.0,2E3]", r#""\ud83d""#, "123456789012345678901234567890"] {
            let event =
                format!(r#"{{"event":"PostToolUse","call":{call},"result":{result},"duration_ms":12}}"#);
            answered(&mut agent.line, &raw_request(world, &session, &event)).await;
            let expected = format!(
                r#"{{{},"tool_name":"my_tool","tool_input":{ODD},"tool_response":{result},"tool_use_id":"c\ud83d","duration_ms":12}}"#,
                common("PostToolUse")
            );
            assert_eq!(world.read("post").unwrap(), expected);
        }
    });
}

/// D19: tools that return nothing are tools too.
#[test]
fn d19_a_null_result_is_a_result() {
    world(async |world| {
        let mut agent =
            world.agent_of(&events::shell("PostToolUse", "grep -q '\"tool_response\":null' && exit 2")).await;
        let mut event = events::post();
        event["result"] = Value::Null;
        let feedback = json!({ "feedback": ["Hook blocked the operation"] });
        assert_eq!(agent.invoke(&event).await.decision(), decision("PostToolUse", feedback));
    });
}

/// A session whose client names no transcript gets a path of its own, the same for all its events.
#[test]
fn a_session_without_transcript_has_a_path_of_its_own() {
    world(async |world| {
        let mut agent =
            world.agent_of(&events::shell("SessionStart", "grep -o '\"transcript_path\":\"[^\"]*\"'")).await;
        // Named after the thread, so that a session opened again goes on with it.
        let beginning =
            format!("\"transcript_path\":\"{}/s1-", world.text_at("config/.state/hooksd/transcripts"));
        let first = agent.invoke(&events::session_start()).await.context();
        assert!(first[0].starts_with(&beginning) && first[0].ends_with(".jsonl\""), "{first:?}");
        let mut again = world.agent().await;
        for agent in [&mut agent, &mut again] {
            assert_eq!(agent.invoke(&events::session_start()).await.context(), first);
        }
    });
}

/// What cannot be put into handlers' terms runs nothing and says so; the session goes on.
#[test]
fn what_cannot_be_projected_runs_nothing() {
    world(async |world| {
        world.user(&json!({ "hooks": {
            "SubagentStop": [{ "hooks": [{ "type": "command", "command": "touch $W/ran" }] }],
            "Notification": [{ "hooks": [{ "type": "command", "command": "touch $W/ran" }] }],
        }}));
        let mut agent = world.agent().await;
        let stop = json!({
            "event": "SubagentStop", "agent": { "id": "a", "name": "x" }, "continuation_count": 0,
            "last_assistant_message": "x",
        });
        let notice =
            json!({ "event": "Notification", "notification": { "type": "unheard_of", "message": "m" } });
        for event in [&stop, &notice] {
            let answer = agent.invoke(event).await;
            let name = event["event"].as_str().unwrap();
            assert_eq!(answer.decision(), decision(name, json!({ "diagnostics": ["projection_failed"] })));
            assert_eq!(answer.0["handlers"], json!([]));
        }
        assert_eq!(world.read("ran"), None);
        let answer = agent.invoke_with(&stop, json!({ "agent_transcript_path": "/a" })).await.unwrap();
        assert_eq!(answer.handlers(), ["SubagentStop:0:0 ok exit 0"]);
    });
}
