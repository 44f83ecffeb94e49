//! Handlers whose processes are there before their event (D9), through the daemon. The rules that need no daemon are
//! tested in `crates/runner/tests/warm.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test that fails to set up has failed"
)]

mod both_ways;
mod endurance;
mod persistent;
mod prewarmed;
mod retiring;

use hooksd_tests::harness::{Agent, Answer, World, events, until};
use serde_json::{Value, json};

/// Says its process and what it was given as context; commands `die`, `twice`, `slow` and `hang` in the payload are
/// obeyed.
const SPEAKER: &str = r#"while read -r line; do
case $line in *do-exit-2*) echo "not that" >&2; exit 2;; *do-die*) kill -9 $$;; *do-hang*) sleep 60;; esac
echo "{\"hookSpecificOutput\":{\"hookEventName\":\"SessionStart\",\"additionalContext\":\"$$\"}}"
case $line in *do-twice*) echo '{}';; esac
done"#;

/// A document with one handler on SessionStart and these keys.
fn document(command: &str, keys: Value) -> Value {
    let mut handler = json!({ "type": "command", "command": command });
    for (key, value) in keys.as_object().unwrap() {
        handler[key] = value.clone();
    }
    events::hooks("SessionStart", json!([handler]))
}

/// The speaker, persistent.
fn speaker() -> Value {
    document(SPEAKER, json!({ "lifecycle": "persistent" }))
}

/// An event whose payload contains this text: the model's name stands in it.
fn telling(text: &str) -> Value {
    json!({ "event": "SessionStart", "cause": "startup", "model": text })
}

/// The only context, which is the id of a process.
fn process(answer: &Answer) -> String {
    let context = answer.context();
    assert_eq!(context.len(), 1, "{answer:?}");
    context[0].clone()
}

/// For each handler, whether its process was there before.
fn warm(answer: &Answer) -> Vec<bool> {
    answer.0["handlers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|handler| handler["warm"].as_bool().unwrap())
        .collect()
}

/// What `daemon/status` says of warm processes.
async fn processes(agent: &mut Agent) -> u64 {
    agent.line.call("daemon/status", json!({})).await.unwrap()["warm_processes"].as_u64().unwrap()
}

/// Closes the session, after which nothing of it is left.
async fn close(world: &World, mut agent: Agent) {
    let session = agent.session().to_owned();
    agent.line.call("session/close", json!({ "session": session })).await.unwrap();
    until("nothing of the session is left", || world.alive().is_empty()).await;
}
