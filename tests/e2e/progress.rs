//! `hook/progress`: who asks for it hears when a handler begins and ends.

use hooksd_tests::harness::{Agent, events, world};
use serde_json::{Value, json};

const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

/// Sends a SessionStart with these params; every message up to the answer, and the answer.
async fn messages(agent: &mut Agent, more: Value) -> (Vec<Value>, Value) {
    let params = agent.params_with(&events::session_start(), more);
    let id = agent.line.request("hook/invoke", &params).await;
    let mut before = Vec::new();
    loop {
        let message = agent.line.message().await;
        if message["id"] == id {
            return (before, message);
        }
        before.push(message);
    }
}

fn note(handler: &str, active: bool, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "method": "hook/progress", "params": {
        "invocation_id": ID, "handler_id": handler, "event": "SessionStart", "active": active, "message": message,
    }})
}

#[test]
fn tells_when_each_handler_begins_and_ends() {
    world(async |world| {
        world.user(&events::hooks("SessionStart", json!([
            { "type": "command", "command": "until [ -e $W/second ]; do sleep 0.02; done", "statusMessage": "  Looking\n" },
            { "type": "command", "command": "touch $W/second" },
        ])));
        let mut agent = world.agent().await;
        let (notes, answer) = messages(&mut agent, json!({ "invocation_id": ID, "progress": true })).await;
        let (first, second) = ("SessionStart:0:0", "SessionStart:0:1");
        assert_eq!(answer["result"]["invocation_id"], ID);
        assert_eq!(notes.len(), 4, "{notes:?}");
        // All begin at once, in whatever order.
        let mut begun = notes[..2].to_vec();
        begun.sort_by_key(|note| note["params"]["handler_id"].to_string());
        assert_eq!(begun, [note(first, true, "Looking"), note(second, true, "")]);
        // The first waits for the second's work, not for its end.
        let mut ended = notes[2..].to_vec();
        ended.sort_by_key(|note| note["params"]["handler_id"].to_string());
        assert_eq!(ended, [note(first, false, "Looking"), note(second, false, "")]);
    });
}

#[test]
fn is_sent_to_those_who_ask_only() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("SessionStart", "true")).await;
        for quiet in [json!({}), json!({ "progress": false })] {
            assert_eq!(messages(&mut agent, quiet).await.0, [Value::Null; 0]);
        }
        // Nothing matches, nothing begins.
        world.user(&events::shell("Stop", "true"));
        agent.reload().await;
        assert_eq!(messages(&mut agent, json!({ "progress": true })).await.0, [Value::Null; 0]);
    });
}
