//! B45, D5: scarce descriptors and processes delay handlers; the guard among them decides all the same.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Daemon, STRANGER, as_user, behavior, codes, commands, pre, until};
use hooksd_tests::harness::processes::KEPT_BY_JOURNAL;

/// So many handlers that sleep, and a last one that denies.
fn storm(count: usize, sleep: &str) -> Value {
    let mut all = vec![sleep; count];
    all.push("echo no >&2; exit 2");
    commands(&all)
}

fn denied_and_nothing_lost(result: &Value) {
    assert_eq!((behavior(result), codes(result)), ("deny", vec![]), "{result}");
    let handlers = result["handlers"].as_array().unwrap();
    let failed =
        handlers.iter().filter(|handler| handler["status"] != "ok" && handler["status"] != "blocked");
    assert_eq!(failed.count(), 0, "{result}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b45_a_hundred_handlers_and_a_guard_under_96_descriptors() {
    let daemon = Daemon::start("ulimit -n 96", &storm(100, "sleep 0.5")).await;
    let agent = daemon.agent().await;
    let baseline = daemon.descriptors() + KEPT_BY_JOURNAL;
    let (_, answer) = agent.start(&pre()).await;
    until("a queue", || !daemon.children().is_empty()).await;
    // New connections are taken all the while, and see it.
    let mut most_waiting = 0;
    for _ in 0..20 {
        let status = daemon.status().await;
        assert!(status["running_handlers"].as_u64() <= status["max_handlers"].as_u64(), "{status}");
        most_waiting = most_waiting.max(status["queued_handlers"].as_u64().unwrap());
    }
    assert!(most_waiting > 50, "{most_waiting}");
    let result = crate::support::outcome(answer).await.unwrap();
    denied_and_nothing_lost(&result);
    println!(
        "100 x sleep 0.5 and a guard under ulimit -n 96: {} after {} ms",
        behavior(&result),
        result["duration_ms"]
    );
    daemon.nothing_left().await;
    until("descriptors at the baseline", || daemon.descriptors() <= baseline).await;
}

/// The daemon takes what it may have, for its connections; handlers have the limit that it was started with. It is set
/// once they are there: the first of what they do may be before that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handlers_have_the_descriptors_that_the_daemon_was_started_with() {
    let command = "until [ $(ulimit -Sn) = 300 ]; do sleep 0.02; done; ulimit -Sn >$W/limit";
    let daemon = Daemon::start("ulimit -Sn 300; ulimit -Hn 2000", &commands(&[command])).await;
    daemon.agent().await.invoke(&pre()).await;
    assert_eq!(std::fs::read_to_string(daemon.path("limit")).unwrap(), "300\n");
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", daemon.pid())).unwrap();
    let own = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    assert_eq!(own.split_whitespace().skip(3).take(2).collect::<Vec<_>>(), ["2000", "2000"]);
    daemon.nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b45_connections_do_not_take_the_handlers_descriptors_for_good() {
    let daemon = Daemon::start("ulimit -n 96", &storm(40, "sleep 0.1")).await;
    let agent = daemon.agent().await;
    // More connections than there are descriptors: what is left over waits to be accepted.
    let mut idle = Vec::new();
    for _ in 0..90 {
        idle.push(tokio::net::UnixStream::connect(daemon.path("run/socket")).await.unwrap());
    }
    let (_, answer) = agent.start(&pre()).await;
    drop(idle);
    denied_and_nothing_lost(&crate::support::outcome(answer).await.unwrap());
    daemon.nothing_left().await;
}

/// The kernel does not count root's processes, and other tests of the same user would be counted in: the daemon runs as
/// a user of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b45_a_guard_when_processes_run_short() {
    if !nix::unistd::geteuid().is_root() {
        println!("skipped: a user of the test's own takes root");
        return;
    }
    const LIMIT: usize = 40;
    const ATTEMPTS: usize = 10;
    // Not every shell has `ulimit -u`.
    let limit = format!("prlimit --pid $$ --nproc={LIMIT}:{LIMIT} || exit 1");
    // The shell becomes the handler: one that had to fork would end at once where it cannot, and nobody would wait.
    let daemon = Daemon::start_as(Some(STRANGER), &limit, &storm(30, "exec sleep 0.2")).await;
    // Somebody else takes all but three of the user's processes, for a second. When the daemon starts a thread meanwhile
    // those are too many, the shell gives up, and its output ends with the last of what it has started.
    let mut attempts = 0..ATTEMPTS;
    let mut hog = loop {
        attempts.next().expect("processes are short at last");
        let tasks = std::fs::read_dir(format!("/proc/{}/task", daemon.pid())).unwrap().count();
        let hogs = LIMIT - tasks - 3;
        let line = format!("{limit}; for i in $(seq {hogs}); do sleep 1 & done; touch $0; wait");
        let mut hog = as_user(Some(STRANGER), &["/bin/sh", "-c", &line])
            .arg(daemon.path("hogged"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let hogged = || daemon.path("hogged").exists();
        until("processes are short", || hogged() || hog.try_wait().unwrap().is_some()).await;
        if hogged() {
            break hog;
        }
        hog.wait_with_output().unwrap();
    };
    // The daemon listens to its own user only.
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "t", "cwd": daemon.path("project"), "tool_name": "Bash",
        "tool_input": {}, "tool_use_id": "c1"
    });
    std::fs::write(daemon.path("event.json"), payload.to_string()).unwrap();
    let ctl = daemon.path("hooksctl");
    let invoke = tokio::task::spawn_blocking({
        let mut command = as_user(Some(STRANGER), &[ctl.to_str().unwrap(), "--json", "invoke"]);
        command.arg(daemon.path("event.json")).env("HOOKSD_SOCKET", daemon.path("run/socket"));
        command.current_dir(daemon.path("project")).stdin(Stdio::null());
        move || command.output().unwrap()
    });
    let output = invoke.await.unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let result: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {output:?} {}", daemon.log()));
    denied_and_nothing_lost(&result);
    let waited =
        result["handlers"].as_array().unwrap().iter().map(|handler| handler["queue_ms"].as_u64().unwrap());
    println!("30 x sleep 0.2 and a guard near ulimit -u {LIMIT}: deny after {} ms", result["duration_ms"]);
    assert!(waited.max().unwrap() > 200, "processes were not short: {result}");
    hog.wait().unwrap();
    daemon.nothing_left().await;
}
