//! legacy/emit: commands of list-shaped documents on events that agents report in the older form.

use hooksd_tests::harness::{World, events, until, world};
use serde_json::{Value, json};

fn document(commands: &[(&str, Value)]) -> Value {
    let entry = |(script, events): &(&str, Value)| {
        let mut entry = json!({ "command": ["/bin/sh", "-c", script] });
        if !events.is_null() {
            entry["events"] = events.clone();
        }
        entry
    };
    json!({ "hooks": commands.iter().map(entry).collect::<Vec<Value>>() })
}

async fn line_of(world: &World, name: &str) -> String {
    world.appears(name).await;
    until(&format!("{name} is whole"), || world.read(name).is_some_and(|text| text.ends_with('}'))).await;
    world.read(name).unwrap()
}

/// The answer comes at once with the number of commands; each gets the event with its fields, in ASCII.
#[test]
fn the_commands_of_an_event_start_and_nobody_waits() {
    world(async |world| {
        let all = "cat > $W/$$; mv $W/$$ $W/all";
        let slow = "touch $W/started; exec sleep 60";
        world.user(&document(&[
            (all, Value::Null),
            ("cat > $W/tool", json!(["tool.result", "nonsense"])),
            (slow, json!(["tool.result"])),
            ("touch $W/never", json!("tool.result")),
            ("touch $W/never", json!(["Tool.Result"])),
        ]));
        let mut agent = world.agent().await;
        let payload = json!({
            "tool_name": "execute", "tool_id": "c1", "tool_args": { "command": "ü" }, "tool_status": "success",
            "tool_output": "ü".repeat(5_000),
        });
        let params = json!({ "session": agent.session(), "event": "tool.result", "payload": payload });
        let emitted = agent.line.call("legacy/emit", params).await.unwrap();
        assert_eq!(emitted, json!({ "accepted": true, "handlers": 3 }));
        world.appears("started").await;
        let text = line_of(world, "tool").await;
        assert!(text.starts_with(r#"{"event": "tool.result", "#) && text.is_ascii(), "{text}");
        let mut got: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(got["tool_output"], "ü".repeat(2_000));
        got["tool_output"] = payload["tool_output"].clone();
        let mut expected = payload.clone();
        expected["event"] = json!("tool.result");
        assert_eq!(got, expected);
        assert_eq!(line_of(world, "all").await, text);
        assert!(!world.at("never").exists());
        // The slow one is killed after 5 s; nothing of it is left.
        world.nothing_runs().await;
    });
}

/// The document counts as it was when the session was opened, also when no event has come before the edit.
#[test]
fn d39_a_list_document_is_pinned_when_the_session_is_opened() {
    world(async |world| {
        world.user(&document(&[("touch $W/old", Value::Null)]));
        let mut agent = world.agent().await;
        world.user(&document(&[("touch $W/new", Value::Null)]));
        let params = json!({ "session": agent.session(), "event": "user.prompt" });
        let emitted = agent.line.call("legacy/emit", params).await.unwrap();
        assert_eq!(emitted, json!({ "accepted": true, "handlers": 1 }));
        world.appears("old").await;
        assert!(!world.at("new").exists());
        world.nothing_runs().await;
    });
}

/// Requests are read strictly; nothing runs on one that does not fit.
#[test]
fn reports_are_read_strictly() {
    world(async |world| {
        world.user(&document(&[("touch $W/ran", Value::Null)]));
        let mut agent = world.agent().await;
        let session = agent.session().to_owned();
        let cases = [
            (json!({ "session": session, "event": "Stop", "payload": {} }), "event"),
            (json!({ "session": session, "payload": {} }), "event"),
            (json!({ "session": session, "event": "session.end", "payload": {} }), "payload.thread_id"),
            (
                json!({ "session": session, "event": "user.prompt", "payload": { "prompt": "x" } }),
                "payload.prompt",
            ),
            (json!({ "session": session, "event": "user.prompt", "more": 1 }), "more"),
            (json!({ "event": "user.prompt" }), "session"),
        ];
        for (params, field) in cases {
            let (code, data) = agent.line.refusal("legacy/emit", params).await;
            assert_eq!((code, &data["field"]), (-32602, &json!(field)));
        }
        let unknown = json!({ "session": "x", "event": "user.prompt" });
        assert_eq!(agent.line.refusal("legacy/emit", unknown).await.0, -32002);
        assert!(!world.at("ran").exists());
    });
}

/// A report is run once, also when the client goes at once; a session that reports the older form gets nothing derived
/// from events of today on top.
#[test]
fn d11_reports_outlive_their_client_and_run_once() {
    world(async |world| {
        world.user(&document(&[("cat >/dev/null; sleep 0.3; echo x >> $W/log", json!(["session.end"]))]));
        let mut agent = world.agent().await;
        let params =
            json!({ "session": agent.session(), "event": "session.end", "payload": { "thread_id": "s1" } });
        agent.line.request("legacy/emit", &params).await;
        drop(agent.line);
        world.appears("log").await;
        world.nothing_runs().await;
        assert_eq!(world.read("log").as_deref(), Some("x\n"));

        let mut agent = world.agent().await;
        let params =
            json!({ "session": agent.session(), "event": "session.end", "payload": { "thread_id": "s1" } });
        let before = agent.invoke(&events::session_end()).await;
        // It runs, and is no part of the answer (D32).
        assert_eq!(before.handlers(), Vec::<String>::new());
        agent.line.call("legacy/emit", params).await.unwrap();
        assert_eq!(agent.invoke(&events::session_end()).await.handlers(), Vec::<String>::new());
        until("the report has run", || world.read("log").as_deref() == Some("x\nx\nx\n")).await;
    });
}
