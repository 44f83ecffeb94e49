//! Many connections, and subscribers that never read: every answer comes once, memory is bounded, and who is stuck is
//! told what he has lost.
//!
//! `cargo test --release -p hooksd-tests --test storm subscribers -- --ignored --nocapture` runs 1,000 connections with
//! 100 events each beside 10 stuck subscribers, and prints memory.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use crate::support::{Daemon, commands, pre};

/// How much memory there may be in all, whatever the size. Bytes.
const MEMORY_MOST: usize = 256 * 1024 * 1024;

/// A subscriber that does not read; what it has not read.
async fn stuck(daemon: &Daemon) -> UnixStream {
    let mut stream = UnixStream::connect(daemon.path("run/socket")).await.unwrap();
    for request in [
        json!({ "jsonrpc": "2.0", "method": "initialize", "params": { "client": { "name": "x", "observer": true } } }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "events/subscribe", "params": {} }),
    ] {
        stream.write_all(format!("{request}\n").as_bytes()).await.unwrap();
    }
    stream
}

async fn storm(connections: usize, events: usize, subscribers: usize) {
    // Nothing is for PreToolUse: what is measured are connections.
    let document = json!({ "hooks": { "Stop": commands(&["true"])["hooks"]["PreToolUse"] } });
    let daemon = Daemon::start("ulimit -n 8192", &document).await;
    let first = daemon.agent().await;
    let mut streams = Vec::new();
    for _ in 0..subscribers {
        streams.push(stuck(&daemon).await);
    }
    hooksd_tests::harness::eventually("they have subscribed", async || {
        let stats = first.client.call("daemon/stats", json!({})).await.unwrap();
        (stats["subscribers"] == subscribers).then_some(())
    })
    .await;
    let before = daemon.resident();
    let mut agents = Vec::new();
    for _ in 0..connections {
        agents.push(first.beside(&daemon).await);
    }
    let mut tasks = Vec::new();
    for agent in agents {
        tasks.push(tokio::spawn(async move {
            let mut ids = Vec::new();
            let mut answers = Vec::new();
            for _ in 0..events {
                answers.push(agent.start(&pre()).await.1);
            }
            for answer in answers {
                let answer = crate::support::outcome(answer).await.unwrap();
                ids.push(answer["invocation_id"].as_str().unwrap().to_owned());
            }
            (agent, ids)
        }));
    }
    let (mut all, mut kept) = (HashSet::new(), Vec::new());
    for task in tasks {
        let (agent, ids) = task.await.unwrap();
        assert_eq!(ids.len(), events);
        for id in ids {
            assert!(all.insert(id), "an answer came twice");
        }
        kept.push(agent);
    }
    assert_eq!(all.len(), connections * events);
    let peak = daemon.peak();
    let mib = |bytes: usize| bytes / 1024 / 1024;
    println!(
        "{connections} connections x {events} events, {subscribers} stuck: {} MiB before, at most {} MiB",
        mib(before),
        mib(peak)
    );
    assert!(peak < MEMORY_MOST, "{} MiB", mib(peak));
    let expected = 2 * (connections * events) as u64;
    for stream in streams {
        let mut lines = BufReader::new(stream).lines();
        let (mut items, mut lost) = (0, 0);
        while items + lost < expected {
            let line = tokio::time::timeout(Duration::from_secs(60), lines.next_line()).await.unwrap();
            let message: Value = serde_json::from_str(&line.unwrap().expect("a line")).unwrap();
            match message["method"].as_str() {
                Some("events/item") => items += 1,
                Some("events/gap") => lost += message["params"]["lost"].as_u64().unwrap(),
                Some("events/dropped") => {
                    lost += message["params"]["lost"].as_u64().unwrap();
                    assert!(!message["params"]["reason"].as_str().unwrap().is_empty());
                    break;
                }
                Some(other) => panic!("{other}"),
                // The answers to its own requests.
                None => assert!(message["result"].is_object(), "{message}"),
            }
        }
        assert!(lost > 0 || expected < 2000, "nothing is said to be lost of {expected}");
    }
    drop(kept);
    daemon.nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stuck_subscribers_hold_up_nobody() {
    storm(60, 50, 3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a minute; run it with --release"]
async fn a_thousand_connections_beside_ten_stuck_subscribers() {
    storm(1000, 100, 10).await;
}
