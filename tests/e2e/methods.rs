//! What holds for every method: unknown ones, many at once, answers in any order.

use hooksd_tests::harness::{events, until, world};
use serde_json::json;

#[test]
fn an_unknown_method_is_an_error_and_an_unknown_notification_is_nothing() {
    world(async |world| {
        let mut line = world.connect().await;
        for method in ["nope", "", "hook/Invoke", "hook/invoke ", "$/unknown"] {
            let (code, _) = line.refusal(method, json!({})).await;
            assert_eq!(code, -32601, "{method:?}");
        }
        line.notify("nope", &json!({})).await;
        // The next line is the answer to this, not one to the notification.
        let id = line.request("daemon/status", &json!({})).await;
        assert_eq!(line.message().await["id"], id);
    });
}

/// A notification of a method runs it and is not answered.
#[test]
fn a_notification_is_not_answered() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "touch $W/ran; exit 2")).await;
        let params = agent.params(&events::pre());
        agent.line.notify("hook/invoke", &params).await;
        world.appears("ran").await;
        until("it has ended", || world.alive().is_empty()).await;
        let id = agent.line.request("daemon/status", &json!({})).await;
        assert_eq!(agent.line.message().await["id"], id);
    });
}

/// Ids are the client's: numbers of any size, strings, null; spelled back as they came.
#[test]
fn ids_come_back_as_they_were_spelled() {
    world(async |world| {
        let mut line = world.connect().await;
        for id in [
            "0",
            "-7",
            "123456789012345678901234567890",
            "1.50",
            "\"a\"",
            r#""\ud83d""#,
            r#""\u0041""#,
            "null",
        ] {
            line.send_line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"session/list"}}"#)).await;
            let answer = line.next_line().await.unwrap();
            assert_eq!(answer, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"sessions":[]}}}}"#));
        }
    });
}

/// Answers come as they finish: a quick event overtakes a slow one, of the same session and of another.
#[test]
fn answers_come_in_any_order() {
    world(async |world| {
        world.user(&json!({ "hooks": {
            "PreToolUse": [{ "hooks": [{ "type": "command", "command": "until [ -e $W/go ]; do sleep 0.02; done; exit 2" }] }],
            "SessionStart": [{ "hooks": [{ "type": "command", "command": "echo on" }] }],
        }}));
        let mut agent = world.agent().await;
        let slow = agent.start(&events::pre()).await;
        let quick = agent.start(&events::session_start()).await;
        let listed = agent.line.request("session/list", &json!({})).await;
        assert_eq!(agent.answer(quick).await.context(), ["on"]);
        agent.line.answer(listed).await.unwrap();
        world.write("go", "");
        assert_eq!(agent.answer(slow).await.behavior(), "deny");
    });
}

/// One connection carries any number of sessions, each with its own documents and environment.
#[test]
fn many_sessions_share_a_connection() {
    world(async |world| {
        let mut line = world.connect().await;
        let mut sessions = Vec::new();
        for number in 0..20 {
            world.user(&events::shell("SessionStart", &format!("echo {number} $NAME")));
            let mut params = world.open_params();
            params["thread_id"] = json!(format!("t{number}"));
            params["env"] = json!({ "PATH": "/usr/bin:/bin", "NAME": format!("name-{number}") });
            sessions.push(line.call("session/open", params).await.unwrap()["session"].clone());
        }
        let mut ids = Vec::new();
        for session in &sessions {
            let context =
                json!({ "thread_id": "t", "cwd": world.text_at("project"), "approval_mode": "manual" });
            let invocation = json!({ "context": context, "event": events::session_start() });
            ids.push(
                line.request("hook/invoke", &json!({ "session": session, "invocation": invocation })).await,
            );
        }
        for (number, id) in ids.into_iter().enumerate().rev() {
            let answer = line.answer(id).await.unwrap();
            assert_eq!(answer["decision"]["context"], json!([format!("{number} name-{number}")]));
        }
    });
}

/// An id that is still in use would make two answers that nobody can tell apart.
#[test]
fn an_id_in_use_is_refused() {
    world(async |world| {
        let mut agent =
            world.agent_of(&events::shell("PreToolUse", "until [ -e $W/go ]; do sleep 0.02; done")).await;
        let request = json!({ "jsonrpc": "2.0", "id": "same", "method": "hook/invoke", "params": agent.params(&events::pre()) });
        agent.line.send_line(&request.to_string()).await;
        agent.line.send_line(&request.to_string()).await;
        let refused = agent.line.message().await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!("same"), &json!(-32600)));
        world.write("go", "");
        let answered = agent.line.message().await;
        assert_eq!((&answered["id"], answered["result"].is_object()), (&json!("same"), true));
    });
}
