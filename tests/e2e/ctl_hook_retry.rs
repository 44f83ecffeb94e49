//! `hooksctl hook` while its daemon is stopped, replaced or overrun: the guard is asked all the same.

use std::cell::Cell;
use std::process::{Child, Command, Stdio};

use hooksd_tests::harness::{World, daemon, events, until};
use serde_json::json;

use crate::ctl::ctl;
use crate::ctl_hook::gate;
use crate::start_on_demand::nobody;

/// How often each of four agents calls, all of them at once.
const CALLS: usize = 12;

fn bridge(world: &World) -> Command {
    world.ctl(&["hook", "--agent", "claude-code"])
}

/// Calls the bridge with a shell command; what it answers.
async fn asked(world: &World, command: &str) -> String {
    let done =
        hooksd_tests::harness::program::run_with(bridge(world), &gate(world, "claude-code", command)).await;
    format!("{}{}", done.stdout, done.stderr)
}

/// A daemon that is replaced again and again, under agents that call all the time: each of them gets the deny, from
/// the old one or from the new one, and no guard runs twice for one call.
#[test]
fn no_deny_is_lost_to_a_restart() {
    nobody(async |world| {
        let guard = events::shell("PreToolUse", "echo x >> $W/runs; echo no >&2; exit 2");
        // Where a daemon on demand looks for it.
        world.write("home/.deepagents/hooks.json", guard.to_string());
        let agent = async |agent: usize| {
            let mut lost = Vec::new();
            for call in 0..CALLS {
                // The id of a call is made of the length of its command.
                let said = asked(world, &"x".repeat(1 + agent * CALLS + call)).await;
                if !said.contains(r#""permissionDecision":"deny""#) {
                    lost.push(said);
                }
            }
            lost
        };
        let done = Cell::new(false);
        let agents = async {
            let (first, second, third, fourth) = tokio::join!(agent(0), agent(1), agent(2), agent(3));
            done.set(true);
            [first, second, third, fourth].concat()
        };
        let restarts = async {
            while !done.get() {
                let done = ctl(world, &["restart"]).await;
                assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
            }
        };
        let (lost, ()) = tokio::join!(agents, restarts);
        assert_eq!(lost, Vec::<String>::new());
        assert_eq!(world.read("runs").unwrap().lines().count(), 4 * CALLS);
    });
}

/// A daemon that has no connection left says when to ask again: the bridge does, within its agent's patience.
#[test]
fn an_overrun_daemon_is_asked_again() {
    daemon(async |world| {
        world.stop().await;
        world.user(&events::shell("PreToolUse", "exit 2"));
        let mut command = world.daemon_command();
        let log = std::fs::File::create(world.at("limited.log")).unwrap();
        command.env("HOOKSD_LIMITS_CONNECTIONS", "1").stderr(log);
        let mut limited: Child = command.spawn().unwrap();
        until("it listens", || world.socket().exists()).await;
        let mut only = world.connect().await;
        only.call("session/list", json!({})).await.unwrap();
        let late = bridge(world).args(["--deadline", "0.5"]).stdin(Stdio::piped()).spawn().unwrap();
        let late = answer(late, gate(world, "claude-code", "x"));
        assert!(late.contains("connections are open"), "{late}");
        let patient = bridge(world).stdin(Stdio::piped()).spawn().unwrap();
        let refusals =
            || world.read("limited.log").unwrap_or_default().matches("refused a connection").count();
        let before = refusals();
        let payload = gate(world, "claude-code", "x");
        let patient = std::thread::spawn(move || answer(patient, payload));
        until("it was refused", || refusals() > before).await;
        drop(only);
        until("it has an answer", || patient.is_finished()).await;
        let said = patient.join().unwrap();
        assert!(said.contains(r#""permissionDecision":"deny""#), "{said}");
        ctl(world, &["shutdown"]).await;
        until("it ends", || limited.try_wait().unwrap().is_some()).await;
    });
}

fn answer(mut bridge: Child, payload: String) -> String {
    use std::io::Write;
    bridge.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    let done = bridge.wait_with_output().unwrap();
    format!("{}{}", String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap())
}
