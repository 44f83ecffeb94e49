//! `session/list`: the open sessions.

use hooksd_tests::harness::{events, world};
use serde_json::json;

use crate::refuses;

#[test]
fn lists_what_is_open_and_what_runs() {
    world(async |world| {
        let wait = "touch $W/runs; until [ -e $W/go ]; do sleep 0.02; done";
        let mut first = world.agent_of(&events::shell("PreToolUse", wait)).await;
        let second = world
            .agent_with(json!({ "thread_id": "s2", "mode": "headless", "cwd": world.text_at("home") }))
            .await;
        let id = first.start(&events::pre()).await;
        world.appears("runs").await;

        let mut listed = world.connect().await.call("session/list", json!({})).await.unwrap();
        for row in listed["sessions"].as_array_mut().unwrap() {
            assert!(row["idle_seconds"].is_u64());
            row["idle_seconds"] = json!(0);
        }
        let row = |agent: &hooksd_tests::harness::Agent,
                   thread: &str,
                   folder: &str,
                   mode: &str,
                   running: u64| {
            json!({
                "session": agent.session(), "thread_id": thread, "cwd": world.text_at(folder), "mode": mode,
                "snapshot_id": agent.snapshot(), "running": running, "idle_seconds": 0,
            })
        };
        let mut rows =
            [row(&first, "s1", "project", "interactive", 1), row(&second, "s2", "home", "headless", 0)];
        // Least recently used first.
        rows.reverse();
        assert_eq!(listed, json!({ "sessions": rows }));

        world.write("go", "");
        first.answer(id).await;
        let listed = first.line.call("session/list", json!({})).await.unwrap();
        assert_eq!(listed["sessions"][1]["running"], 0);
        // A session for one request only is not listed.
        let mut inline = first.params(&events::stop(0));
        inline["session"] = world.open_params();
        first.line.call("hook/invoke", inline).await.unwrap();
        let listed = first.line.call("session/list", json!({})).await.unwrap();
        assert_eq!(listed["sessions"].as_array().unwrap().len(), 2);
    });
}

/// A session outlives its connection: another connection that knows its id goes on with it.
#[test]
fn a_session_outlives_its_connection() {
    world(async |world| {
        let agent = world.agent_of(&events::shell("PreToolUse", "exit 2")).await;
        let params = agent.params(&events::pre());
        drop(agent);
        let answer = world.connect().await.call("hook/invoke", params).await.unwrap();
        assert_eq!(answer["decision"]["permission"]["behavior"], "deny");
    });
}

#[test]
fn refuses_params() {
    world(async |world| {
        let mut line = world.connect().await;
        refuses(
            &mut line,
            "session/list",
            &[(json!({ "zzz": 1 }), "zzz"), (json!([]), "params"), (json!(5), "params")],
        )
        .await;
    });
}
