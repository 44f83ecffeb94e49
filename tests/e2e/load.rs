//! Bounds: too many requests at once, clients that do not read, many idle connections.

use hooksd_tests::harness::{events, world};
use serde_json::{Value, json};

/// The most requests of one connection that run at once.
const MAX_IN_FLIGHT: usize = 1024;

#[test]
fn a_flood_of_requests_is_refused_with_a_time_to_retry() {
    world(async |world| {
        let command = "echo x >> $W/runs; until [ -e $W/go ]; do sleep 0.05; done; exit 2";
        let mut agent = world.agent_of(&events::shell("PreToolUse", command)).await;
        // One run, and many who wait for it.
        let params = agent
            .params_with(&events::pre(), json!({ "invocation_id": "0f8fad5b-d9cb-469f-a165-70867728950e" }));
        let mut ids = Vec::new();
        for _ in 0..MAX_IN_FLIGHT + 20 {
            ids.push(agent.line.request("hook/invoke", &params).await);
        }
        for id in ids.split_off(MAX_IN_FLIGHT) {
            let error = agent.line.answer(id).await.unwrap_err();
            assert_eq!((&error["code"], &error["data"]), (&json!(-32005), &json!({ "retry_after_ms": 200 })));
        }
        // Another connection has room of its own, and quick questions are always answered.
        agent.line.call("daemon/status", json!({})).await.unwrap();
        let mut other = world.connect().await;
        let elsewhere = other.request("hook/invoke", &params).await;
        world.write("go", "");
        for id in ids {
            assert_eq!(agent.answer(id).await.behavior(), "deny");
        }
        assert_eq!(other.answer(elsewhere).await.unwrap()["decision"]["permission"]["behavior"], "deny");
        assert_eq!(world.read("runs").unwrap(), "x\n");
        // Whoever was refused can come again.
        assert_eq!(agent.invoke(&events::stop(0)).await.0["handlers"], json!([]));
    });
}

/// A client that does not read holds up only itself; when it reads, everything is there.
#[test]
fn a_slow_reader_holds_up_nobody_and_loses_nothing() {
    world(async |world| {
        let mut agent =
            world.agent_of(&events::shell("SessionStart", "head -c 90000 /dev/zero | tr '\\0' x")).await;
        let mut slow = world.agent().await;
        let mut ids: Vec<(u64, bool)> = Vec::new();
        for _ in 0..20 {
            ids.push((slow.start(&events::session_start()).await, true));
            ids.push((slow.line.request("rpc.discover", &json!({})).await, false));
        }
        for _ in 0..5 {
            assert_eq!(agent.invoke(&events::session_start()).await.context()[0].len(), 90_000);
        }
        for (id, is_event) in ids {
            let answer = slow.line.answer(id).await.unwrap();
            let found = if is_event { &answer["decision"]["context"][0] } else { &answer["openrpc"] };
            assert!(found.is_string(), "{id}");
        }
    });
}

#[test]
fn idle_connections_hold_up_nobody() {
    world(async |world| {
        let mut idle = Vec::new();
        for _ in 0..200 {
            idle.push(world.connect().await);
        }
        let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 2")).await;
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
        let status = agent.line.call("daemon/status", json!({})).await.unwrap();
        assert_eq!(status["connections"], 201);
        assert_ne!(status["socket"], Value::Null);
    });
}
