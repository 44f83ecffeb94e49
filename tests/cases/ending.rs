//! Kind 2: the end of a handler: exit, end of output, process trees.

use std::time::{Duration, Instant};

use hooksd_tests::harness::{daemon, decision, deny, error_of, events, processes, until};
use serde_json::{Value, json};

fn denied_with_output_left_open() -> Value {
    let diagnostics = ["output_left_open PreToolUse:0:0 (debug)"];
    decision("PreToolUse", json!({ "permission": deny("no"), "diagnostics": diagnostics }))
}

fn timed_out() -> Value {
    decision("PreToolUse", json!({ "diagnostics": ["timeout PreToolUse:0:0"] }))
}

/// D1: a handler's verdict is its exit status. A helper that holds its output does not take the verdict away, and is
/// not killed.
#[test]
fn b06_a_helper_in_the_background_does_not_take_the_verdict_away() {
    daemon(async |world| {
        let document = events::shell_within("PreToolUse", "(sleep 60)& cat $DENY", 1.5);
        let mut agent = world.agent_of(&document).await;
        let start = Instant::now();
        let answer = agent.invoke(&events::pre()).await;
        assert!(start.elapsed() < Duration::from_millis(1500), "only at the timeout: {:?}", start.elapsed());
        assert_eq!(answer.decision(), denied_with_output_left_open());
        assert_eq!(world.alive(), ["sleep 60"]);
        world.kill_helpers();
    });
}

/// D1 for a helper whose descriptors 0 to 2 are clean and that holds the output as another one.
#[test]
fn b07_a_spare_descriptor_does_not_take_the_verdict_away() {
    daemon(async |world| {
        let helper = "sleep 60 </dev/null >/dev/null 2>&1 & cat $DENY";
        for (prefix, expected) in [
            ("exec 3>&1; ", denied_with_output_left_open()),
            ("", decision("PreToolUse", json!({ "permission": deny("no") }))),
        ] {
            let document = events::shell_within("PreToolUse", &format!("{prefix}{helper}"), 1.5);
            let mut agent = world.agent_of(&document).await;
            let start = Instant::now();
            let answer = agent.invoke(&events::pre()).await;
            assert!(
                start.elapsed() < Duration::from_millis(1500),
                "only at the timeout: {:?}",
                start.elapsed()
            );
            assert_eq!(answer.decision(), expected);
            assert_eq!(world.alive(), ["sleep 60"]);
            world.kill_helpers();
            world.nothing_runs().await;
        }
    });
}

/// A timeout kills the whole tree, is answered, and delays nobody else.
#[test]
fn b08_a_timeout_kills_the_tree_and_is_answered() {
    daemon(async |world| {
        let document = events::shell_within("PreToolUse", "sh -c 'sleep 77 & sleep 77' | cat", 1.0);
        let mut agent = world.agent_of(&document).await;
        let mut other = world.agent_of(&events::shell("PreToolUse", "cat $DENY")).await;
        let start = Instant::now();
        let id = agent.start(&events::pre()).await;
        until("the tree runs", || world.alive().iter().filter(|line| *line == "sleep 77").count() == 2).await;
        let answer = other.invoke(&events::pre()).await;
        assert_eq!(answer.decision(), decision("PreToolUse", json!({ "permission": deny("no") })));
        assert!(
            start.elapsed() < Duration::from_secs(1),
            "the other session was delayed: {:?}",
            start.elapsed()
        );
        let answer = agent.answer(id).await;
        let took = start.elapsed();
        assert_eq!(answer.decision(), timed_out());
        assert!((Duration::from_secs(1)..Duration::from_secs(3)).contains(&took), "{took:?}");
        world.nothing_runs().await;
    });
}

/// The answer to a timeout does not depend on a descendant that has left the group and holds the output.
#[test]
fn b09_a_descendant_that_left_the_group_does_not_delay_the_answer() {
    daemon(async |world| {
        let mut agent =
            world.agent_of(&events::shell_within("PreToolUse", "setsid sleep 77 & wait", 0.5)).await;
        let start = Instant::now();
        let answer = agent.invoke(&events::pre()).await;
        assert!(start.elapsed() < Duration::from_millis(2500), "{:?}", start.elapsed());
        assert_eq!(answer.decision(), timed_out());
        if cfg!(target_os = "linux") {
            world.nothing_runs().await;
        }
        world.kill_helpers();
    });
}

/// A handler that ignores TERM, INT and HUP is killed at its timeout all the same.
#[test]
fn b11_a_handler_that_ignores_signals_is_killed() {
    daemon(async |world| {
        let command = "trap '' TERM INT HUP; while :; do sleep 0.05; done";
        let mut agent = world.agent_of(&events::shell_within("UserPromptSubmit", command, 0.5)).await;
        let start = Instant::now();
        let answer = agent.invoke(&events::prompt()).await;
        assert!(start.elapsed() < Duration::from_millis(2500), "{:?}", start.elapsed());
        let expected = json!({ "diagnostics": ["timeout UserPromptSubmit:0:0"] });
        assert_eq!(answer.decision(), decision("UserPromptSubmit", expected));
        world.nothing_runs().await;
    });
}

/// Cancelled requests leave no zombie, no process and no descriptor, without another request that would stir things up.
#[test]
fn b12_cancelled_requests_leave_no_zombies() {
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "sleep 30")).await;
        let mut leaving = world.agent().await;
        let pid = world.pid();
        let before = processes::descriptors(pid);
        let mut ids = Vec::new();
        for _ in 0..50 {
            ids.push(agent.start(&events::pre()).await);
            leaving.start(&events::pre()).await;
        }
        // The case's own pause: some have started by then, some may not have.
        tokio::time::sleep(Duration::from_millis(50)).await;
        for id in &ids {
            agent.line.cancel(*id).await;
        }
        drop(leaving);
        for id in ids {
            assert_eq!(error_of(agent.line.answer(id).await, "cancelled").0, -32800);
        }
        let start = Instant::now();
        until("no child is left, zombies included", || processes::children(pid).is_empty()).await;
        // One connection fewer than before.
        until("the descriptors are back", || processes::descriptors(pid) < before).await;
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        assert_eq!(world.alive(), [""; 0]);
    });
}

/// A vanished client's handlers are killed within two seconds; other sessions do not notice.
#[test]
fn b13_a_vanished_client_takes_its_handlers_with_it() {
    daemon(async |world| {
        world.user(&json!({ "hooks": {
            "PreToolUse": [{ "hooks": [{ "type": "command", "command": "sleep 20; touch $W/ran" }] }],
            "SessionStart": [{ "hooks": [{ "type": "command", "command": "until [ -e $W/go ]; do sleep 0.02; done; echo on" }] }],
        }}));
        let mut leaving = world.agent().await;
        let mut staying = world.agent().await;
        let beside = staying.start(&events::session_start()).await;
        leaving.start(&events::pre()).await;
        let sleeps = || world.alive().iter().any(|line| line == "sleep 20");
        until("the handler runs", sleeps).await;
        drop(leaving);
        let start = Instant::now();
        until("the handler is gone", || !sleeps()).await;
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        world.write("go", "");
        assert_eq!(staying.answer(beside).await.context(), ["on"]);
        assert_eq!(world.read("ran"), None);
    });
}

const SAVES: &str = "trap 'echo x >> $W/trap' EXIT; sleep 1; echo x >> $W/done";

/// D11 across the end of the daemon: what runs is drained.
#[test]
fn b14_session_end_survives_the_end_of_the_daemon() {
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell_within("SessionEnd", SAVES, 5.0)).await;
        agent.start(&events::session_end()).await;
        until("the handler runs", || world.alive().iter().any(|line| line == "sleep 1")).await;
        drop(agent);
        assert_eq!(world.stop().await, Some(0));
        assert_eq!(
            (world.read("done").unwrap().as_str(), world.read("trap").unwrap().as_str()),
            ("x\n", "x\n")
        );
    });
}

/// D11 has bounds: the handler's own timeout, and the daemon's time to drain, whose end is logged.
#[test]
fn b14_session_end_is_bounded() {
    daemon(async |world| {
        let sleeps = || world.alive().iter().any(|line| line == "sleep 30");
        let mut agent = world.agent_of(&events::shell_within("SessionEnd", "sleep 30", 1.0)).await;
        agent.start(&events::session_end()).await;
        until("the handler runs", sleeps).await;
        drop(agent);
        let start = Instant::now();
        until("its timeout has ended it", || !sleeps()).await;
        assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());

        let mut agent = world.agent_of(&events::shell("SessionEnd", "sleep 30")).await;
        agent.start(&events::session_end()).await;
        until("the handler runs", sleeps).await;
        drop(agent);
        let mut line = world.connect().await;
        assert_eq!(line.call("daemon/shutdown", json!({ "drain_ms": 200 })).await, Ok(json!({})));
        assert_eq!(world.ended().await, Some(0));
        world.nothing_runs().await;
        assert!(world.read("daemon.log").unwrap().contains("cutting events that did not end in time"));
    });
}
