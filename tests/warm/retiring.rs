//! What a process was started for ends, and the process with it.

use std::time::Duration;

use hooksd_tests::harness::{Agent, Setup, World, daemon, events, eventually, until, world, world_with};
use serde_json::json;

use crate::{close, document, process, processes, speaker, telling, warm};

/// A document whose handler is the speaker, and which differs from others with another name.
fn named(name: &str) -> serde_json::Value {
    document(crate::SPEAKER, json!({ "lifecycle": "persistent", "statusMessage": name }))
}

fn is_alive(world: &World, pid: &str) -> bool {
    !hooksd_tests::harness::processes::read(&format!("/proc/{pid}/cmdline")).is_empty()
        && !world.alive().is_empty()
}

async fn current(agent: &mut Agent) -> String {
    process(&agent.invoke(&events::session_start()).await)
}

#[test]
fn d9_an_edit_retires_the_process() {
    world(async |world| {
        world.user(&named("v1"));
        let mut agent = world.agent_with(json!({ "follow": true })).await;
        let old = current(&mut agent).await;
        world.user(&named("v2"));
        until("the old process has ended", || !is_alive(world, &old)).await;
        let new = agent.invoke(&events::session_start()).await;
        assert_ne!(process(&new), old);
        assert_eq!(warm(&new), [false]);
        close(world, agent).await;
    });
}

#[test]
fn d9_the_event_in_flight_is_answered_before_its_process_ends() {
    world(async |world| {
        let command = "while read -r line; do : > started; sleep 0.5; echo done; done";
        let slow =
            |name: &str| document(command, json!({ "lifecycle": "persistent", "statusMessage": name }));
        world.user(&slow("v1"));
        let mut agent = world.agent_with(json!({ "follow": true })).await;
        let id = agent.start(&events::session_start()).await;
        world.appears("project/started").await;
        world.user(&slow("v2"));
        agent.reload().await;
        assert_eq!(agent.answer(id).await.context(), ["done"]);
        until("the old process has ended", || world.alive().is_empty()).await;
        close(world, agent).await;
    });
}

#[test]
fn d9_another_environment_means_another_process() {
    world(async |world| {
        let mut agent = world.agent_of(&speaker()).await;
        let old = current(&mut agent).await;
        let env = |value: &str| {
            let mut env: serde_json::Map<String, serde_json::Value> =
                world.environment().into_iter().map(|(name, value)| (name, json!(value))).collect();
            env.insert("MORE".to_owned(), json!(value));
            json!({ "env": env })
        };
        agent.reload_with(env("1")).await;
        let new = current(&mut agent).await;
        assert_ne!(new, old);
        until("the old process has ended", || !is_alive(world, &old)).await;
        // A reload without a change starts it anew: its script may have changed.
        agent.reload().await;
        assert_ne!(current(&mut agent).await, new);
        close(world, agent).await;
    });
}

#[test]
fn sessions_with_the_same_environment_share_a_process_until_the_last_is_closed() {
    world(async |world| {
        world.user(&speaker());
        let (mut one, mut other) =
            (world.agent().await, world.agent_with(json!({ "thread_id": "s2" })).await);
        let shared = current(&mut one).await;
        assert_eq!(current(&mut other).await, shared);
        let session = one.session().to_owned();
        one.line.call("session/close", json!({ "session": session })).await.unwrap();
        assert_eq!(current(&mut other).await, shared);
        close(world, other).await;
    });
}

#[test]
fn d9_events_without_a_session_share_a_process_until_an_edit() {
    world(async |world| {
        world.user(&named("v1"));
        let mut line = world.connect().await;
        let params = json!({
            "session": world.open_params(),
            "invocation": {
                "context": { "thread_id": "s1", "cwd": world.text_at("project"), "approval_mode": "manual" },
                "event": events::session_start(),
            },
        });
        let mut pids = Vec::new();
        for _ in 0..2 {
            let answer = line.call("hook/invoke", params.clone()).await.unwrap();
            pids.push(process(&hooksd_tests::harness::Answer(answer)));
        }
        assert_eq!(pids[0], pids[1]);
        world.user(&named("v2"));
        let answer = line.call("hook/invoke", params).await.unwrap();
        assert_ne!(process(&hooksd_tests::harness::Answer(answer)), pids[0]);
        until("the process of before has ended", || !is_alive(world, &pids[0])).await;
        line.call("daemon/reload", json!({})).await.unwrap();
        until("the other has ended too", || world.alive().is_empty()).await;
    });
}

#[test]
fn d9_a_project_that_is_no_longer_trusted_loses_its_processes() {
    world(async |world| {
        world.project(&speaker());
        let store = |projects: serde_json::Value| {
            let store = json!({ "version": 1, "projects": projects });
            world.write("config/.state/hooks_trust.json", store.to_string());
        };
        let entry = json!({ "trusted_at": "2026-01-01T00:00:00Z" });
        store(json!({ world.text_at("project"): entry }));
        let mut agent = world.agent().await;
        current(&mut agent).await;
        store(json!({}));
        let refused = agent.invoke_with(&events::session_start(), json!({})).await;
        assert_eq!(refused.unwrap_err()["code"], json!(-32004));
        until("the process has ended", || world.alive().is_empty()).await;
    });
}

#[test]
fn d9_idle_processes_end() {
    let mut setup = Setup::default();
    setup.warm.idle_persistent = Duration::from_millis(100);
    world_with(setup, async |world| {
        let mut agent = world.agent_of(&speaker()).await;
        current(&mut agent).await;
        eventually("it is gone", async || (processes(&mut agent).await == 0).then_some(())).await;
        assert_eq!(world.alive(), Vec::<String>::new());
    });
}

#[test]
fn d9_nothing_is_left_after_a_shutdown() {
    daemon(async |world| {
        let mut agent = world.agent_of(&speaker()).await;
        current(&mut agent).await;
        agent.start(&telling("do-hang")).await;
        world.tell_to_stop();
        assert_eq!(world.ended().await, Some(0));
        world.nothing_runs().await;
    });
}

#[test]
fn d9_workers_end_when_the_daemon_is_killed() {
    daemon(async |world| {
        let mut agent = world.agent_of(&speaker()).await;
        current(&mut agent).await;
        world.kill().await;
        until("the workers have read the end of their input", || world.alive().is_empty()).await;
    });
}
