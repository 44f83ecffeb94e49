//! The daemon or a handler is stopped for a while, as a closed laptop or a debugger does: to it the clock jumps.

use std::time::{Duration, Instant};

use hooksd_tests::harness::{World, daemon, events, processes, until};
use nix::sys::signal::Signal;
use serde_json::json;

use crate::after::{denied, sound};

/// How long the daemon is stopped. Longer than any handler's time here.
const STOPPED: Duration = Duration::from_millis(1500);

/// The time of a handler in these tests. Seconds.
const TIMEOUT: f64 = 1.0;

async fn passes(time: Duration) {
    let start = Instant::now();
    until("time passes", || start.elapsed() >= time).await;
}

async fn stop_the_daemon(world: &World) {
    processes::signal(world.pid(), Signal::SIGSTOP);
    passes(STOPPED).await;
    processes::signal(world.pid(), Signal::SIGCONT);
}

/// When the daemon goes on, the handler's time is over and its verdict is there: the verdict counts.
#[test]
fn a_deny_that_came_while_the_daemon_stood_still_is_no_timeout() {
    daemon(async |world| {
        let line = ": >$W/begun; sleep 0.2; echo no >&2; exit 2";
        let mut agent = world.agent_of(&events::shell_within("PreToolUse", line, TIMEOUT)).await;
        for _ in 0..3 {
            let id = agent.start(&events::pre()).await;
            world.appears("begun").await;
            stop_the_daemon(world).await;
            denied(&agent.answer(id).await);
            std::fs::remove_file(world.at("begun")).unwrap();
        }
        sound(world).await;
    });
}

/// The same with a process that stays, whose verdict is a line and not an exit.
#[test]
fn a_line_that_came_while_the_daemon_stood_still_is_no_timeout() {
    daemon(async |world| {
        let line = "while read -r event; do : >$W/begun; sleep 0.2; cat $DENY; echo; done";
        let handler =
            json!({ "type": "command", "command": line, "lifecycle": "persistent", "timeout": TIMEOUT });
        let mut agent = world.agent_of(&events::hooks("PreToolUse", json!([handler]))).await;
        for _ in 0..3 {
            let id = agent.start(&events::pre()).await;
            world.appears("begun").await;
            stop_the_daemon(world).await;
            denied(&agent.answer(id).await);
            std::fs::remove_file(world.at("begun")).unwrap();
        }
        agent.line.call("session/close", json!({ "session": agent.session() })).await.unwrap();
        world.user(&events::shell("PreToolUse", "exit 2"));
        sound(world).await;
    });
}

/// Who has not decided when the daemon goes on has had his time: deadlines hold, and nothing is left.
#[test]
fn a_handler_without_a_verdict_is_timed_out_when_the_daemon_goes_on() {
    daemon(async |world| {
        let line = "[ -e $W/over ] && exit 2; : >$W/begun; setsid sleep 77 & sleep 77";
        let mut agent = world.agent_of(&events::shell_within("PreToolUse", line, TIMEOUT)).await;
        let id = agent.start(&events::pre()).await;
        world.appears("begun").await;
        stop_the_daemon(world).await;
        let went_on = Instant::now();
        let answer = agent.answer(id).await;
        assert_eq!((answer.behavior(), answer.diagnostics()[0]["code"].as_str()), ("none", Some("timeout")));
        assert!(went_on.elapsed() < Duration::from_secs(5), "{:?}", went_on.elapsed());
        world.write("over", "");
        sound(world).await;
    });
}

/// Requests that came meanwhile are answered, each within the time that it gives.
#[test]
fn requests_that_came_while_the_daemon_stood_still_are_answered() {
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 2")).await;
        processes::signal(world.pid(), Signal::SIGSTOP);
        let ids = crate::after::begin(&mut agent, 20).await;
        passes(STOPPED).await;
        processes::signal(world.pid(), Signal::SIGCONT);
        crate::after::all_denied(&mut agent, ids).await;
        sound(world).await;
    });
}

/// A stopped handler is killed at its deadline; one that goes on before decides.
#[test]
fn a_stopped_handler_is_killed_at_its_deadline_or_decides() {
    daemon(async |world| {
        let line = "echo $$ >$W/new; mv $W/new $W/pid; kill -STOP $$; exit 2";
        let mut agent = world.agent_of(&events::shell_within("PreToolUse", line, TIMEOUT)).await;
        let stopped = async |name: &str| -> u32 {
            world.appears(name).await;
            let pid: u32 = world.read(name).unwrap().trim().parse().unwrap();
            until("it has stopped", || {
                processes::read(&format!("/proc/{pid}/stat")).split(' ').nth(2) == Some("T")
            })
            .await;
            std::fs::remove_file(world.at(name)).unwrap();
            pid
        };
        let id = agent.start(&events::pre()).await;
        stopped("pid").await;
        let answer = agent.answer(id).await;
        assert_eq!((answer.behavior(), answer.diagnostics()[0]["code"].as_str()), ("none", Some("timeout")));
        world.user(&events::shell_within("PreToolUse", line, 20.0));
        agent.reload().await;
        let id = agent.start(&events::pre()).await;
        processes::signal(stopped("pid").await, Signal::SIGCONT);
        denied(&agent.answer(id).await);
        world.user(&events::shell("PreToolUse", "exit 2"));
        sound(world).await;
    });
}
