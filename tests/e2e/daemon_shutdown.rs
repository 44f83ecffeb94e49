//! `daemon/shutdown` and the drain: new events are refused, running ones get their answer within the budget.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hooksd_tests::harness::{
    Agent, Setup, World, decision, deny, error_of, events, until, world, world_with,
};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use crate::refuses;

/// An agent with a running event, its id, and another connection to stop the daemon by.
async fn running(world: &World, command: &str) -> (Agent, u64) {
    let command = format!("touch $W/runs; {command}");
    let mut agent = world.agent_of(&events::shell("PreToolUse", &command)).await;
    let id = agent.start(&events::pre()).await;
    world.appears("runs").await;
    (agent, id)
}

#[test]
fn a_running_event_gets_its_answer_and_new_ones_are_refused() {
    world(async |world| {
        let wait = "until [ -e $W/go ]; do sleep 0.02; done; echo no >&2; exit 2";
        let (mut agent, id) = running(world, wait).await;
        let mut other = world.connect().await;
        assert_eq!(other.call("daemon/shutdown", json!({})).await, Ok(json!({})));
        // Told once more, it is stopping all the same.
        assert_eq!(other.call("daemon/shutdown", json!({})).await, Ok(json!({})));
        let params = agent.params(&events::pre());
        assert_eq!(agent.line.refusal("hook/invoke", params).await.0, -32006);
        assert_eq!(agent.line.refusal("session/open", world.open_params()).await.0, -32006);
        // Questions are still answered.
        assert_eq!(other.call("daemon/status", json!({})).await.unwrap()["running_handlers"], 1);
        until("new connections are not accepted", || {
            std::os::unix::net::UnixStream::connect(world.socket()).is_err()
        })
        .await;

        world.write("go", "");
        let denied = decision("PreToolUse", json!({ "permission": deny("no") }));
        assert_eq!(agent.answer(id).await.decision(), denied);
        assert_eq!(agent.line.next_line().await, None, "the connection ends");
        world.ended().await;
        assert!(!world.socket().exists());
    });
}

/// A client that sends without a pause gets its answers together: also those that wait for the next one at the end.
#[test]
fn every_event_that_was_run_before_the_end_is_answered() {
    world(async |world| {
        let mut agent = world.agent().await;
        let params = agent.params(&events::stop(0));
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "hook/invoke", "params": params });
        let flood = format!("{request}\n").repeat(100);
        let (answers, mut requests) = UnixStream::connect(world.socket()).await.unwrap().into_split();
        let sending =
            tokio::spawn(async move { while requests.write_all(flood.as_bytes()).await.is_ok() {} });
        let answered = Arc::new(AtomicUsize::new(0));
        let counter = answered.clone();
        let reading = tokio::spawn(async move {
            let mut lines = BufReader::new(answers).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                counter.fetch_add(usize::from(line.contains("\"result\"")), Ordering::Relaxed);
            }
        });
        until("the flood flows", || answered.load(Ordering::Relaxed) > 100).await;
        assert_eq!(agent.line.call("daemon/shutdown", json!({})).await, Ok(json!({})));
        world.ended().await;
        reading.await.unwrap();
        sending.await.unwrap();

        world.start().await;
        let (mut line, mut kept, mut cursor) = (world.connect().await, 0, Value::Null);
        loop {
            let page = line.call("journal/query", json!({ "cursor": cursor })).await.unwrap();
            kept +=
                page["records"].as_array().unwrap().iter().filter(|record| record["event"] == "Stop").count();
            cursor = page["cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        let answered = answered.load(Ordering::Relaxed);
        assert!(kept > 100 && kept <= answered, "{kept} events were run, {answered} answered");
    });
}

#[test]
fn an_event_longer_than_the_drain_is_cut_and_answered() {
    world(async |world| {
        let (mut agent, id) = running(world, "sleep 30").await;
        let start = Instant::now();
        assert_eq!(agent.line.call("daemon/shutdown", json!({ "drain_ms": 100 })).await, Ok(json!({})));
        assert_eq!(error_of(agent.line.answer(id).await, "the cut event").0, -32006);
        world.ended().await;
        assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
        world.nothing_runs().await;
    });
}

/// Whoever stops the daemon can change their mind about the wait.
#[test]
fn a_long_drain_can_be_cut_short() {
    for again in [Some(json!({ "drain_ms": 0 })), None] {
        world(async |world| {
            let (mut agent, id) = running(world, "sleep 30").await;
            let start = Instant::now();
            world.tell_to_stop();
            let longest = json!({ "drain_ms": u64::MAX });
            assert_eq!(agent.line.call("daemon/shutdown", longest).await, Ok(json!({})));
            match again {
                Some(params) => assert_eq!(agent.line.call("daemon/shutdown", params).await, Ok(json!({}))),
                None => world.tell_to_stop(),
            }
            assert_eq!(error_of(agent.line.answer(id).await, "the cut event").0, -32006);
            world.ended().await;
            assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
            world.nothing_runs().await;
        });
    }
}

/// Without events to wait for, it ends at once, whatever the budget and whoever is connected.
#[test]
fn an_idle_daemon_ends_at_once() {
    world(async |world| {
        let mut idle = world.agent().await;
        let start = Instant::now();
        let mut line = world.connect().await;
        assert_eq!(line.call("daemon/shutdown", json!({ "drain_ms": 600_000 })).await, Ok(json!({})));
        world.ended().await;
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        assert_eq!(idle.line.next_line().await, None);
        assert_eq!(line.next_line().await, None);
    });
}

/// The budget is the daemon's own unless the request says otherwise.
#[test]
fn the_daemons_own_budget_is_the_default() {
    let setup = Setup { drain: Duration::from_millis(100), ..Setup::default() };
    world_with(setup, async |world| {
        let (mut agent, id) = running(world, "sleep 30").await;
        world.tell_to_stop();
        assert_eq!(error_of(agent.line.answer(id).await, "the cut event").0, -32006);
        world.ended().await;
        world.nothing_runs().await;
    });
}

/// Everybody who waits for the same execution is answered.
#[test]
fn repeated_deliveries_are_drained_too() {
    world(async |world| {
        let mut agent = world
            .agent_of(&events::shell(
                "PreToolUse",
                "echo x >> $W/runs; until [ -e $W/go ]; do sleep 0.02; done; exit 2",
            ))
            .await;
        let params = agent
            .params_with(&events::pre(), json!({ "invocation_id": "0f8fad5b-d9cb-469f-a165-70867728950e" }));
        let ids = [
            agent.line.request("hook/invoke", &params).await,
            agent.line.request("hook/invoke", &params).await,
        ];
        world.appears("runs").await;
        // Both are in: the daemon reads one line after the other.
        agent.line.call("daemon/status", json!({})).await.unwrap();
        world.tell_to_stop();
        world.write("go", "");
        for id in ids {
            assert_eq!(agent.answer(id).await.behavior(), "deny");
        }
        world.ended().await;
        assert_eq!(world.read("runs").unwrap(), "x\n");
    });
}

#[test]
fn refuses_params_that_do_not_fit_and_goes_on() {
    world(async |world| {
        let mut line = world.connect().await;
        let cases = [
            (json!([]), "params"),
            (json!({ "drain_ms": -1 }), "drain_ms"),
            (json!({ "drain_ms": 1.5 }), "drain_ms"),
            (json!({ "drain_ms": "5" }), "drain_ms"),
            (json!({ "zzz": 1 }), "zzz"),
        ];
        refuses(&mut line, "daemon/shutdown", &cases).await;
        world.agent().await;
    });
}
