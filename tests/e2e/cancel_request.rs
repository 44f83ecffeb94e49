//! `$/cancelRequest`: kills what runs and answers -32800.

use std::time::{Duration, Instant};

use hooksd_tests::harness::{error_of, events, until, world};
use serde_json::{Value, json};

#[test]
fn a_cancelled_event_is_killed_and_answered() {
    world(async |world| {
        let mut agent =
            world.agent_of(&events::shell("PreToolUse", "sleep 30 & sleep 30; touch $W/ran")).await;
        let id = agent.start(&events::pre()).await;
        until("the tree runs", || world.alive().iter().filter(|line| *line == "sleep 30").count() == 2).await;
        let start = Instant::now();
        agent.line.cancel(id).await;
        assert_eq!(error_of(agent.line.answer(id).await, "cancelled"), (-32800, Value::Null));
        world.nothing_runs().await;
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        assert_eq!(world.read("ran"), None);
    });
}

/// Cancelled before it has begun: request and cancel in one write.
#[test]
fn a_cancel_may_come_with_the_request() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "sleep 30")).await;
        let request = json!({ "jsonrpc": "2.0", "id": "a", "method": "hook/invoke", "params": agent.params(&events::pre()) });
        let cancel = json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": "a" } });
        agent.line.send_bytes(format!("{request}\n{cancel}\n").as_bytes()).await;
        let answer = agent.line.message().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("a"), &json!(-32800)));
        world.nothing_runs().await;
    });
}

/// It is a notification; sent as a request it is answered, whatever there was to cancel.
#[test]
fn a_cancel_with_an_id_is_answered() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "sleep 30")).await;
        let id = agent.start(&events::pre()).await;
        for other in [id, id + 100] {
            let asked = agent.line.call("$/cancelRequest", json!({ "id": other })).await;
            assert_eq!(asked, Ok(Value::Null));
        }
        assert_eq!(agent.line.answer(id).await.unwrap_err()["code"], -32800);
        world.nothing_runs().await;
    });
}

/// Only the request with exactly this id is cancelled; "1" is not 1. A cancel of nothing is nothing.
#[test]
fn other_ids_are_left_alone() {
    world(async |world| {
        let mut agent = world
            .agent_of(&events::shell(
                "PreToolUse",
                "touch $W/runs; until [ -e $W/go ]; do sleep 0.02; done; exit 2",
            ))
            .await;
        let id = agent.start(&events::pre()).await;
        world.appears("runs").await;
        let mut other = world.connect().await;
        other.cancel(id).await;
        for params in [
            json!({ "id": id.to_string() }),
            json!({ "id": id + 100 }),
            json!({ "id": null }),
            json!({}),
            json!([id]),
            json!({ "id": id, "zzz": 1 }),
            Value::Null,
        ] {
            agent.line.notify("$/cancelRequest", &params).await;
        }
        for line in [&mut agent.line, &mut other] {
            line.call("daemon/status", json!({})).await.unwrap();
        }
        world.write("go", "");
        assert_eq!(agent.answer(id).await.behavior(), "deny");
        // It is answered already: too late, and harmless.
        agent.line.cancel(id).await;
        agent.line.call("daemon/status", json!({})).await.unwrap();
    });
}
