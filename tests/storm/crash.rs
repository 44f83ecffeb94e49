//! The daemon is killed while events are written down: the journal is whole, and has all but the last of them, or says
//! how many of a flood it has not.
//!
//! `cargo test --release -p hooksd-tests --test storm crash -- --ignored --nocapture` does it 20 times within 10,000
//! events each, and 20 times with handlers.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Daemon, commands, pre};

/// What a daemon that is killed may lose: records of events answered so shortly before. Milliseconds.
const LOST_MS: u64 = 200;

/// Kills a daemon after so many events of so many agents.
async fn killed_after(events: usize, agents: usize, document: &serde_json::Value) {
    let daemon = Daemon::start("", document).await;
    let (answered, answers) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
    let mut tasks = Vec::new();
    for _ in 0..agents {
        let agent = daemon.agent().await;
        let (answered, answers) = (answered.clone(), answers.clone());
        tasks.push(tokio::spawn(async move {
            loop {
                // Without an answer the daemon was killed.
                let Ok(message) = agent.start(&pre()).await.1.await else { return };
                let id = message["result"]["invocation_id"].as_str().unwrap().to_owned();
                answers.lock().unwrap().push((Instant::now(), id));
                answered.fetch_add(1, Ordering::Relaxed);
            }
        }));
    }
    crate::support::until("enough events", || answered.load(Ordering::Relaxed) >= events).await;
    // From here on nobody promises anything: on a busy machine it takes a while until the process has gone.
    let killed = Instant::now();
    daemon.kill();
    let gone = killed.elapsed();
    tasks.iter().for_each(tokio::task::JoinHandle::abort);
    let path = hooksd_journal::path(&daemon.path("config"));
    let database = rusqlite::Connection::open(&path).unwrap();
    let check: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    let found: HashSet<String> = {
        let mut all = database.prepare("SELECT invocation FROM event").unwrap();
        all.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let gaps: Vec<usize> = {
        let mut all = database.prepare("SELECT record ->> 'reason' FROM event WHERE event = 'gap'").unwrap();
        let reasons = all.query_map([], |row| row.get::<_, String>(0)).unwrap();
        reasons.map(|reason| reason.unwrap().split(' ').next().unwrap().parse().unwrap()).collect()
    };
    let told: usize = gaps.iter().sum();
    let answers = answers.lock().unwrap();
    let lost: Vec<Duration> = answers
        .iter()
        .filter(|(_, id)| !found.contains(id))
        .map(|(at, _)| killed.saturating_duration_since(*at))
        .collect();
    let oldest = lost.iter().max().copied().unwrap_or_default();
    let late = lost.iter().filter(|age| **age > Duration::from_millis(LOST_MS)).count();
    println!(
        "killed after {} events, gone {gone:?} later: {} lost, the oldest {oldest:?} old; {told} told as lost",
        answers.len(),
        lost.len()
    );
    assert!(
        late <= told,
        "{late} events answered up to {oldest:?} before are not there, {told} are told as lost"
    );
    // The next daemon goes on with it.
    drop(database);
    let (_writer, aside) = hooksd_journal::Writer::open(&path).unwrap();
    assert_eq!(aside, None);
}

/// Nothing is for PreToolUse: what comes is a flood.
fn no_handler() -> serde_json::Value {
    json!({ "hooks": { "Stop": commands(&["true"])["hooks"]["PreToolUse"] } })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_daemon_leaves_a_whole_journal() {
    for events in [50, 150, 300] {
        killed_after(events, 1, &commands(&["true"])).await;
        killed_after(2 * events, 1, &no_handler()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a minute; run it with --release"]
async fn a_daemon_killed_twenty_times_leaves_whole_journals() {
    for round in 1..=20 {
        killed_after(round * 500, 4, &no_handler()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes; run it with --release"]
async fn a_daemon_killed_twenty_times_with_handlers_leaves_whole_journals() {
    for round in 1..=20 {
        killed_after(round * 50, 4, &commands(&["true"])).await;
    }
}
