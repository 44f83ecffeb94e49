//! The daemon is killed between the bridge's connect and its answer: the next daemon answers, and a deny is not lost.

use std::io::Write;
use std::process::{Child, Stdio};

use hooksd_tests::harness::{World, events, processes, until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::ctl::ctl;
use crate::ctl_hook::gate;
use crate::start_on_demand::{daemons, nobody};

/// Runs until `second` is there; says that it runs, each time.
const GUARD: &str = "echo run >> $W/runs; until [ -e $W/second ]; do sleep 0.02; done; echo no >&2; exit 2";

/// What the user of a daemon on demand has.
fn hooks(world: &World, document: &Value) {
    world.write("home/.deepagents/hooks.json", document.to_string());
}

fn bridge(world: &World, payload: &str) -> Child {
    let mut command = world.ctl(&["hook", "--agent", "claude", "--deadline", "50"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    child
}

async fn said(mut child: Child) -> String {
    until("the bridge has answered", || child.try_wait().unwrap().is_some()).await;
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

async fn first_daemon(world: &World) -> u32 {
    assert_eq!(ctl(world, &["show"]).await.status, Some(0));
    daemons(world)[0]
}

async fn kill(world: &World, daemon: u32) {
    processes::signal(daemon, Signal::SIGKILL);
    until("it has gone", || !daemons(world).contains(&daemon)).await;
}

fn runs(world: &World) -> usize {
    world.read("runs").unwrap_or_default().lines().count()
}

/// What the daemon had not read is asked for again, and runs once.
#[test]
fn a_request_that_was_not_read_is_answered_by_the_next_daemon() {
    nobody(async |world| {
        hooks(world, &events::shell("PreToolUse", GUARD));
        world.write("second", "");
        let daemon = first_daemon(world).await;
        processes::signal(daemon, Signal::SIGSTOP);
        let bridge = bridge(world, &gate(world, "claude-code", "ls"));
        until("it has connected", || is_waiting(&bridge)).await;
        kill(world, daemon).await;
        let said = said(bridge).await;
        assert!(said.contains(r#""permissionDecision":"deny""#), "{said}");
        assert_eq!(runs(world), 1);
    });
}

/// What the daemon had begun is asked for again where a decision is at stake: better twice than a deny that is lost.
#[test]
fn a_guard_that_was_cut_denies_by_the_next_daemon() {
    nobody(async |world| {
        hooks(world, &events::shell("PreToolUse", GUARD));
        let daemon = first_daemon(world).await;
        let bridge = bridge(world, &gate(world, "claude-code", "ls"));
        until("the guard runs", || runs(world) == 1).await;
        kill(world, daemon).await;
        world.write("second", "");
        let said = said(bridge).await;
        assert!(said.contains(r#""permissionDecision":"deny""#), "{said}");
        assert_eq!(runs(world), 2);
    });
}

/// What decides nothing is not run twice.
#[test]
fn the_end_of_a_session_that_was_begun_is_not_repeated() {
    nobody(async |world| {
        hooks(world, &events::shell("SessionEnd", GUARD));
        let daemon = first_daemon(world).await;
        let payload = json!({ "hook_event_name": "SessionEnd", "session_id": "s", "cwd": world.text_at("project"), "reason": "other" });
        let bridge = bridge(world, &payload.to_string());
        until("the handler runs", || runs(world) == 1).await;
        kill(world, daemon).await;
        world.write("second", "");
        assert_eq!(said(bridge).await, "");
        assert_eq!((runs(world), daemons(world)), (1, Vec::new()));
    });
}

/// Whether the bridge has sent its request: it sleeps in a read, with its input closed.
fn is_waiting(bridge: &Child) -> bool {
    let pid = bridge.id();
    let state = processes::read(&format!("/proc/{pid}/stat"));
    let socket = std::fs::read_dir(format!("/proc/{pid}/fd")).is_ok_and(|all| {
        all.flatten()
            .filter_map(|fd| std::fs::read_link(fd.path()).ok())
            .any(|to| to.to_string_lossy().starts_with("socket:"))
    });
    socket && state.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('S'))
}
