//! D11: a client that goes takes its events with it, except SessionEnd; one that only stops sending gets its answers.

use std::time::{Duration, Instant};

use hooksd_tests::harness::{events, until, world};
use serde_json::json;

/// A client that has closed its sending side still reads: it gets its answers, then the end.
#[test]
fn a_half_closed_connection_still_gets_its_answers() {
    world(async |world| {
        let mut agent = world
            .agent_of(&events::shell("PreToolUse", "until [ -e $W/go ]; do sleep 0.02; done; exit 2"))
            .await;
        let ids = [agent.start(&events::pre()).await, agent.start(&events::pre()).await];
        agent.line.half_close().await;
        world.write("go", "");
        for id in ids {
            assert_eq!(agent.answer(id).await.behavior(), "deny");
        }
        assert_eq!(agent.line.next_line().await, None);
    });
}

/// A half-closed connection that then closes entirely is gone.
#[test]
fn a_half_closed_connection_can_go_as_well() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "sleep 30")).await;
        agent.start(&events::pre()).await;
        agent.line.half_close().await;
        until("it runs", || world.alive().iter().any(|line| line == "sleep 30")).await;
        drop(agent);
        let start = Instant::now();
        world.nothing_runs().await;
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    });
}

#[test]
fn session_end_finishes_exactly_once_without_its_client() {
    world(async |world| {
        let command = "touch $W/runs; until [ -e $W/go ]; do sleep 0.02; done; echo x >> $W/done";
        let mut agent = world.agent_of(&events::shell("SessionEnd", command)).await;
        let params = agent.params_with(
            &events::session_end(),
            json!({ "invocation_id": "0f8fad5b-d9cb-469f-a165-70867728950e" }),
        );
        agent.line.request("hook/invoke", &params).await;
        world.appears("runs").await;
        drop(agent);
        let mut again = world.connect().await;
        hooksd_tests::harness::eventually("the first client is gone", async || {
            let status = again.call("daemon/status", json!({})).await.unwrap();
            (status["connections"] == 1).then_some(())
        })
        .await;
        // An agent that retries because it saw no answer gets the one of the same run.
        let id = again.request("hook/invoke", &params).await;
        world.write("go", "");
        assert_eq!(again.answer(id).await.unwrap()["handlers"][0]["status"], "ok");
        assert_eq!(world.read("done").unwrap(), "x\n");
    });
}
