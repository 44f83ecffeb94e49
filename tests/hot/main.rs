//! Configuration that changes under running sessions: a real file system, the real watcher, and no sleeping blindly.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that fails to set up has failed"
)]

mod broken;
mod folders;
mod inline;
mod links;
mod noise;
mod overlapping;
mod polling;
mod saving;
mod sessions;
mod shortage;

use std::time::{Duration, Instant};

use hooksd_tests::harness::{Agent, World, events, eventually};
use serde_json::{Value, json};

/// How soon new content is served. The promise is one second; a busy machine may need a little longer.
const SOON: Duration = Duration::from_secs(2);

/// A document whose SessionStart handler says `version`.
fn version(version: &str) -> Value {
    events::shell("SessionStart", &format!("echo {version}"))
}

/// A session that edits reach by themselves.
async fn follower(world: &World) -> Agent {
    world.agent_with(json!({ "follow": true })).await
}

/// What the session's handlers say now.
async fn said(agent: &mut Agent) -> Vec<String> {
    let answer = agent.invoke(&events::session_start()).await;
    assert_eq!(answer.diagnostics(), &[] as &[Value], "the handler has run");
    answer.context()
}

/// Waits until the session serves exactly this, and says how long it took.
async fn serves(agent: &mut Agent, expected: &[&str]) -> Duration {
    let start = Instant::now();
    eventually(&format!("{expected:?} is served"), async || (said(agent).await == expected).then_some(()))
        .await;
    let took = start.elapsed();
    assert!(took < SOON, "{expected:?} took {took:?} to be served");
    took
}

/// Whether the daemon really watches: these tests prove nothing otherwise.
async fn is_watching(agent: &mut Agent) {
    let status = agent.line.call("daemon/status", json!({})).await.unwrap();
    assert_eq!(status["changes"], "watching");
}
