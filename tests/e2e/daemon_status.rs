//! `daemon/status`: how the daemon is.

use hooksd_tests::harness::{events, world};
use serde_json::{Value, json};

use crate::refuses;

#[test]
fn tells_what_there_is_and_what_runs() {
    world(async |world| {
        let mut line = world.connect().await;
        let expected = |changes: Value| {
            let mut status = json!({
                "version": env!("CARGO_PKG_VERSION"),
                "protocol_version": 1,
                "pid": std::process::id(),
                "uptime_seconds": 0,
                "socket": world.text_at("run/hooksd.sock"),
                "build": hooksd::BUILD,
                "config_dir": world.text_at("config"),
                "changes": "watching",
                "connections": 1,
                "max_handlers": 1,
                "queued_events": 0,
                "queued_handlers": 0,
                "warm_processes": 0,
                "sessions": 0,
                "sessions_without_environment": 0,
                "running_handlers": 0,
                "events": 0,
            });
            for (key, value) in changes.as_object().unwrap() {
                status[key] = value.clone();
            }
            status
        };
        let mut status = async || {
            let mut status = line.call("daemon/status", json!({})).await.unwrap();
            assert!(status["uptime_seconds"].is_u64());
            status["uptime_seconds"] = json!(0);
            // As the limits of this machine allow.
            assert!(status["max_handlers"].as_u64().unwrap() > 0);
            status["max_handlers"] = json!(1);
            status
        };
        assert_eq!(status().await, expected(json!({})));

        let wait = "touch $W/runs; until [ -e $W/go ]; do sleep 0.02; done";
        let mut agent = world.agent_of(&events::shell("PreToolUse", wait)).await;
        let with_environment = world.agent_with(json!({ "env": {} })).await;
        let id = agent.start(&events::pre()).await;
        world.appears("runs").await;
        let running = json!({
            "connections": 3, "sessions": 2, "sessions_without_environment": 1, "running_handlers": 1,
        });
        assert_eq!(status().await, expected(running));
        world.write("go", "");
        agent.answer(id).await;
        let session = json!({ "session": with_environment.session() });
        agent.line.call("session/close", session).await.unwrap();
        let done = json!({ "connections": 3, "sessions": 1, "sessions_without_environment": 1, "events": 1 });
        assert_eq!(status().await, expected(done));
    });
}

#[test]
fn refuses_params() {
    world(async |world| {
        let mut line = world.connect().await;
        refuses(&mut line, "daemon/status", &[(json!({ "zzz": 1 }), "zzz"), (json!(["x"]), "params")]).await;
    });
}
