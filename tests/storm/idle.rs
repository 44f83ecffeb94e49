//! Very many idle connections: whoever comes next is served at once, and one costs little memory.
//!
//! `cargo test --release -p hooksd-tests --test storm idle -- --ignored --nocapture` holds 10,000 and prints memory.

use std::time::{Duration, Instant};

use hooksd_system::{Limits, limits, set_limits};
use nix::sys::resource::Resource;
use serde_json::json;
use tokio::net::UnixStream;

use crate::support::{Daemon, behavior, commands, pre};

/// What an idle connection may take. Bytes.
const EACH_MOST: usize = 16 * 1024;

/// What the daemon may take beside that. Bytes.
const BASE_MOST: usize = 32 * 1024 * 1024;

/// Between the beginning of a connection and the answer to its request. Accepting never waits for anybody.
const AT_ONCE: Duration = Duration::from_secs(2);

/// Connections beside the idle ones. Connections.
const SPARE: u64 = 100;

/// Holds so many connections, or as many as the limits allow.
async fn idle(wanted: usize) {
    // This process and the daemon hold an end of each. The daemon raises its own limit as far as it may.
    let limit = limits(Resource::RLIMIT_NOFILE);
    let hard = limit.hard.unwrap_or(u64::MAX);
    let needed = (wanted as u64 + 2 * SPARE).max(limit.soft.unwrap_or(u64::MAX)).min(hard);
    set_limits(Resource::RLIMIT_NOFILE, Limits { soft: Some(needed), ..limit }).unwrap();
    let daemon = Daemon::start("", &commands(&["exit 2"])).await;
    let handlers = daemon.status().await["max_handlers"].as_u64().unwrap();
    let most = (hard / 3).max((hard - hard / 4).saturating_sub(4 * handlers)).min(needed);
    let count = wanted.min(usize::try_from(most - SPARE).unwrap());
    let agent = daemon.agent().await;
    let before = daemon.resident();
    let mut all = Vec::with_capacity(count);
    let mut longest = Duration::ZERO;
    for number in 0..count {
        all.push(UnixStream::connect(daemon.path("run/socket")).await.unwrap());
        if number % 500 == 0 {
            let started = Instant::now();
            let new = daemon.connect().await;
            new.call("session/list", json!({})).await.unwrap();
            longest = longest.max(started.elapsed());
        }
    }
    hooksd_tests::harness::eventually("all are accepted", async || {
        let stats = agent.client.call("daemon/stats", json!({})).await.unwrap();
        assert_eq!(stats["connections_refused"], 0);
        (stats["connections"].as_u64().unwrap() > count as u64).then_some(())
    })
    .await;
    assert_eq!(behavior(&agent.invoke(&pre()).await), "deny");
    let grown = daemon.resident().saturating_sub(before);
    println!(
        "{count} idle connections: {} KiB before, {} KiB more, {} bytes each; a new one is served within {longest:?}",
        before / 1024,
        grown / 1024,
        grown / count
    );
    assert!(longest < AT_ONCE, "a new connection has waited {longest:?}");
    assert!(grown < count * EACH_MOST + BASE_MOST, "{grown} bytes more");
    drop(all);
    hooksd_tests::harness::eventually("they have gone", async || {
        let stats = agent.client.call("daemon/stats", json!({})).await.unwrap();
        (stats["connections"] == 1).then_some(())
    })
    .await;
    daemon.nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b79_idle_connections_hold_up_nobody() {
    idle(300).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs 20,000 descriptors; run it with --release"]
async fn ten_thousand_idle_connections_hold_up_nobody() {
    idle(10_000).await;
}
