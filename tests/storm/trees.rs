//! B08, B09, B12, B13: whatever ends a handler by force ends all that it has started, wherever that has gone.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Daemon, behavior, codes, commands, handlers_on, outcome, pre, until};
use hooksd_tests::harness::processes::KEPT_BY_JOURNAL;

/// What the issue allows from the answer to the last process gone.
const CLEAN: Duration = Duration::from_secs(2);

/// Of each: processes that have left the group, the session, the parent.
const RUNAWAYS: [&str; 4] = [
    "setsid sleep 77 & wait",
    "(setsid sleep 77 &) ; sleep 77",
    "(setsid sh -c 'sleep 77 & sleep 77' >/dev/null 2>&1 </dev/null &) ; sleep 77",
    "set -m; (sleep 77 &) ; sleep 77 & wait",
];

async fn gone_in_time(daemon: &Daemon, since: Instant) {
    until("no process left", || daemon.alive().is_empty()).await;
    assert!(since.elapsed() < CLEAN, "{:?}", since.elapsed());
    daemon.nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b09_a_timeout_is_answered_in_time_and_leaves_nothing() {
    for line in RUNAWAYS {
        let handler = json!({ "type": "command", "command": line, "timeout": 0.5 });
        let daemon = Daemon::start("", &handlers_on("PreToolUse", vec![handler])).await;
        let agent = daemon.agent().await;
        let result = agent.invoke(&pre()).await;
        let answered = Instant::now();
        assert_eq!((behavior(&result), codes(&result)), ("none", vec!["timeout"]), "{line}");
        gone_in_time(&daemon, answered).await;
        println!("{line}: answer after {} ms, gone {:?} later", result["duration_ms"], answered.elapsed());
        // On an idle machine 0.55 s; ten times the allowance of 0.2 s for a busy one.
        assert!(result["duration_ms"].as_u64().unwrap() < 2500, "{line}: {result}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b13_a_cancel_a_vanished_client_and_a_shutdown_leave_nothing() {
    let started = |daemon: &Daemon| daemon.alive().iter().filter(|line| line.starts_with("sleep 77")).count();
    for line in RUNAWAYS {
        let daemon = Daemon::start("", &commands(&[line])).await;
        let sleeps = line.matches("sleep 77").count();

        let agent = daemon.agent().await;
        let (id, answer) = agent.start(&pre()).await;
        until("started", || started(&daemon) == sleeps).await;
        agent.client.cancel(id).await;
        assert_eq!(outcome(answer).await.unwrap_err()["code"], -32800);
        gone_in_time(&daemon, Instant::now()).await;

        let (_, answer) = agent.start(&pre()).await;
        until("started", || started(&daemon) == sleeps).await;
        drop(agent);
        gone_in_time(&daemon, Instant::now()).await;
        assert!(answer.await.is_err());

        let agent = daemon.agent().await;
        let (_, answer) = agent.start(&pre()).await;
        until("started", || started(&daemon) == sleeps).await;
        let stop = agent.client.call("daemon/shutdown", json!({ "drain_ms": 100 })).await;
        assert_eq!(stop, Ok(json!({})));
        assert_eq!(outcome(answer).await.unwrap_err()["code"], -32006);
        assert_eq!(daemon.ended().await, Some(0));
        assert_eq!(daemon.alive(), [""; 0], "{line}: nothing outlives the daemon");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b12_a_hundred_cancels_leave_no_zombie_no_child_no_descriptor() {
    let daemon = Daemon::start("", &commands(&["(setsid sleep 77 &) ; sleep 77"])).await;
    let agent = daemon.agent().await;
    let baseline = daemon.descriptors() + KEPT_BY_JOURNAL;
    let mut calls = Vec::new();
    for _ in 0..100 {
        calls.push(agent.start(&pre()).await);
    }
    until("handlers run", || daemon.children().len() > 50).await;
    for (id, _) in &calls {
        agent.client.cancel(*id).await;
    }
    for (_, answer) in calls {
        assert_eq!(outcome(answer).await.unwrap_err()["code"], -32800);
    }
    // No request from here on: nothing but the daemon itself can clean up.
    let answered = Instant::now();
    gone_in_time(&daemon, answered).await;
    until("descriptors at the baseline", || daemon.descriptors() <= baseline).await;
    println!("100 cancelled calls: nothing left after {:?}", answered.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d1_a_helper_of_a_handler_that_ended_by_itself_lives_on_and_is_reaped() {
    let line =
        "(setsid sh -c 'while [ ! -e $W/stop ]; do sleep 0.05; done' >/dev/null 2>&1 </dev/null &); exit 2";
    let daemon = Daemon::start("", &commands(&[line, "exit 3"])).await;
    let agent = daemon.agent().await;
    let result = agent.invoke(&pre()).await;
    assert_eq!((behavior(&result), codes(&result)), ("deny", vec!["nonzero_exit"]));
    until("only the helper is left, as the daemon's child", || daemon.children().len() == 1).await;
    std::fs::write(daemon.path("stop"), "").unwrap();
    daemon.nothing_left().await;
}
