//! `hook/invoke` reads requests strictly (D23): they are made by code, and a typo must fail loudly, before anything runs.

use hooksd_tests::harness::{events, world};
use serde_json::{Value, json};

use crate::{refuses, with, without};

#[test]
fn refuses_params_that_do_not_fit() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "touch $W/ran")).await;
        let good = agent.params(&events::pre());
        let open = world.open_params();
        let cases = [
            (Value::Null, "params"),
            (json!([]), "params"),
            (json!(5), "params"),
            (without(&good, "session"), "session"),
            (with(&good, "session", json!(5)), "session"),
            (with(&good, "session", Value::Null), "session"),
            (with(&good, "session", json!({})), "session.thread_id"),
            (with(&good, "session", with(&open, "cwd", json!("here"))), "session.cwd"),
            (with(&good, "session", with(&open, "zzz", json!(1))), "session.zzz"),
            (with(&good, "session", with(&open, "follow", json!("yes"))), "session.follow"),
            (
                with(&good, "session", with(&open, "trust", json!({ "fingerprint": "x" }))),
                "session.trust.fingerprint",
            ),
            (without(&good, "invocation"), "invocation"),
            (with(&good, "invocation", json!(5)), "invocation"),
            (with(&good, "payload", json!({ "hook_event_name": "Stop" })), "payload"),
            (with(&good, "zzz", json!(1)), "zzz"),
            (with(&good, "protocol_version", json!(2)), "protocol_version"),
            (with(&good, "protocol_version", json!(1.0)), "protocol_version"),
            (with(&good, "protocol_version", json!("1")), "protocol_version"),
            (with(&good, "protocol_version", json!(true)), "protocol_version"),
            (with(&good, "invocation_id", json!("x")), "invocation_id"),
            (with(&good, "invocation_id", json!(5)), "invocation_id"),
            (with(&good, "snapshot_id", json!(5)), "snapshot_id"),
            (with(&good, "run_id", json!(5)), "run_id"),
            (with(&good, "deadline", json!("soon")), "deadline"),
            (with(&good, "deadline", json!("2030-01-02T03:04:05")), "deadline"),
            (with(&good, "deadline", json!("2030-01-02")), "deadline"),
            (with(&good, "deadline", json!("4070912645")), "deadline"),
            (with(&good, "deadline", json!(true)), "deadline"),
            (with(&good, "deadline", json!(-5)), "deadline"),
            (with(&good, "deadline", json!(4_070_912_645_000_u64)), "deadline"),
            (with(&good, "transcript_path", json!(5)), "transcript_path"),
            (with(&good, "agent_transcript_path", json!(5)), "agent_transcript_path"),
            (with(&good, "progress", json!("yes")), "progress"),
            (with(&good, "progress", json!(1)), "progress"),
        ];
        refuses(&mut agent.line, "hook/invoke", &cases).await;
        assert_eq!(world.read("ran"), None);
    });
}

#[test]
fn refuses_events_that_do_not_fit() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "touch $W/ran")).await;
        let good = agent.params(&events::pre());
        let context = good["invocation"]["context"].clone();
        let contexts = [
            (with(&context, "cwd", json!("here")), "cwd"),
            (with(&context, "cwd", json!("")), "cwd"),
            (with(&context, "cwd", json!(5)), "cwd"),
            (without(&context, "cwd"), "cwd"),
            (without(&context, "thread_id"), "thread_id"),
            (without(&context, "approval_mode"), "approval_mode"),
            (with(&context, "approval_mode", json!("default")), "approval_mode"),
            (with(&context, "effort", json!("huge")), "effort"),
            (with(&context, "prompt_id", json!("x")), "prompt_id"),
            (with(&context, "agent", json!({ "id": "a" })), "agent.name"),
            (with(&context, "zzz", json!(1)), "zzz"),
        ];
        let mut cases = Vec::new();
        for (context, field) in contexts {
            let mut params = good.clone();
            params["invocation"]["context"] = context;
            cases.push((params, format!("invocation.context.{field}")));
        }
        let call = json!({ "id": "c", "name": "x", "args": {} });
        let events = [
            (json!({}), "event"),
            (json!({ "event": "Nope" }), "event"),
            (json!({ "event": "pretooluse", "call": call }), "event"),
            (json!({ "event": "PreToolUse" }), "call"),
            (json!({ "event": "PreToolUse", "call": call, "zzz": 1 }), "zzz"),
            (json!({ "event": "PreToolUse", "call": ["c", "x", {}] }), "call"),
            (json!({ "event": "PreToolUse", "call": with(&call, "args", json!([])) }), "call.args"),
            (json!({ "event": "PreToolUse", "call": without(&call, "args") }), "call.args"),
            (json!({ "event": "PreToolUse", "call": with(&call, "id", json!(5)) }), "call.id"),
            (json!({ "event": "PreToolUse", "call": with(&call, "zzz", json!(5)) }), "call.zzz"),
            (json!({ "event": "PostToolUse", "call": call }), "result"),
            (json!({ "event": "PostToolUseFailure", "call": call }), "error"),
            (
                json!({ "event": "PostToolUseFailure", "call": call, "error": "e", "is_interrupt": "no" }),
                "is_interrupt",
            ),
            (json!({ "event": "SessionStart", "cause": "boot" }), "cause"),
            (json!({ "event": "SessionEnd", "cause": "startup" }), "cause"),
            (json!({ "event": "UserPromptSubmit" }), "prompt"),
            (json!({ "event": "PreCompact", "trigger": "x" }), "trigger"),
            (json!({ "event": "Notification", "notification": { "type": "x" } }), "notification.message"),
            (
                json!({ "event": "Stop", "continuation_count": "1", "last_assistant_message": "x" }),
                "continuation_count",
            ),
            (
                json!({ "event": "Stop", "continuation_count": 1.0, "last_assistant_message": "x" }),
                "continuation_count",
            ),
            (json!({ "event": "Stop", "continuation_count": 1 }), "last_assistant_message"),
            (json!({ "event": "SubagentStart" }), "agent"),
        ];
        for (event, field) in events {
            let mut params = good.clone();
            params["invocation"]["event"] = event;
            cases.push((params, format!("invocation.event.{field}")));
        }
        let invocation = &good["invocation"];
        cases.push((with(&good, "invocation", without(invocation, "event")), "invocation.event".to_owned()));
        cases.push((
            with(&good, "invocation", without(invocation, "context")),
            "invocation.context".to_owned(),
        ));
        cases.push((
            with(&good, "invocation", with(invocation, "zzz", json!(1))),
            "invocation.zzz".to_owned(),
        ));
        let cases: Vec<(Value, &str)> =
            cases.iter().map(|(params, field)| (params.clone(), field.as_str())).collect();
        refuses(&mut agent.line, "hook/invoke", &cases).await;
        assert_eq!(world.read("ran"), None);
    });
}

#[test]
fn names_an_unknown_session_and_another_snapshot() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "touch $W/ran")).await;
        let params = with(&agent.params(&events::pre()), "session", json!("none"));
        assert_eq!(agent.line.refusal("hook/invoke", params).await, (-32002, json!({ "session": "none" })));
        let params = agent.params_with(&events::pre(), json!({ "snapshot_id": "x" }));
        let mismatch = json!({ "expected": agent.snapshot(), "got": "x" });
        assert_eq!(agent.line.refusal("hook/invoke", params).await, (-32003, mismatch));
        assert_eq!(world.read("ran"), None);

        // What was right before a reload is wrong after it.
        let before = agent.snapshot().to_owned();
        world.user(&events::shell("PreToolUse", "true"));
        agent.reload().await;
        let params = agent.params_with(&events::pre(), json!({ "snapshot_id": before }));
        let mismatch = json!({ "expected": agent.snapshot(), "got": before });
        assert_eq!(agent.line.refusal("hook/invoke", params).await, (-32003, mismatch));
    });
}
