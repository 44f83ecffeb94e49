//! A process per event, started ahead.

use std::time::Duration;

use hooksd_tests::harness::{Agent, Answer, Setup, decision, deny, events, eventually, world, world_with};
use serde_json::json;

use crate::{close, document, processes, warm};

async fn waits(agent: &mut Agent) {
    eventually("a process waits", async || (processes(agent).await == 1).then_some(())).await;
}

#[test]
fn d9_a_prewarmed_process_waits_for_its_event_and_means_the_same() {
    world(async |world| {
        let command = "cat >/dev/null; echo no >&2; exit 2";
        let handler = json!({ "type": "command", "command": command, "lifecycle": "prewarmed" });
        let mut agent = world.agent_of(&events::hooks("PreToolUse", json!([handler]))).await;
        for was_there in [false, true, true] {
            let answer = agent.invoke(&events::pre()).await;
            assert_eq!(answer.decision(), decision("PreToolUse", json!({ "permission": deny("no") })));
            assert_eq!(answer.handlers(), ["PreToolUse:0:0 blocked exit 2"]);
            assert_eq!(warm(&answer), [was_there]);
            waits(&mut agent).await;
        }
        close(world, agent).await;
    });
}

#[test]
fn d9_a_prewarmed_process_knows_its_session_but_no_event() {
    world(async |world| {
        let command = "cat >/dev/null; echo \"$HOOKSD_LIFECYCLE,$HOOKSD_SESSION,$HOOKSD_INVOCATION,$(pwd)\"";
        let mut agent = world.agent_of(&document(command, json!({ "lifecycle": "prewarmed" }))).await;
        let cold = agent.invoke(&events::session_start()).await;
        let invocation = cold.0["invocation_id"].as_str().unwrap();
        let session = agent.session().to_owned();
        assert_eq!(cold.context(), [format!(",{session},{invocation},{}", world.text_at("project"))]);
        waits(&mut agent).await;
        let answer = agent.invoke(&events::session_start()).await;
        assert_eq!(answer.context(), [format!("prewarmed,{session},,{}", world.text_at("project"))]);
        close(world, agent).await;
    });
}

#[test]
fn d9_time_is_counted_from_the_event_and_kills_the_tree() {
    world(async |world| {
        let command = "cat >/dev/null; setsid sleep 60 & sleep 60";
        let keys = json!({ "lifecycle": "prewarmed", "timeout": 0.3 });
        let mut agent = world.agent_of(&document(command, keys)).await;
        for was_there in [false, true] {
            let answer: Answer = agent.invoke(&events::session_start()).await;
            assert_eq!(answer.handlers(), ["SessionStart:0:0 timeout -"]);
            assert_eq!(warm(&answer), [was_there]);
            waits(&mut agent).await;
            // Longer than the time limit: waiting costs nothing of it.
            tokio::time::sleep(Duration::from_millis(400)).await;
        }
        close(world, agent).await;
    });
}

#[test]
fn d9_an_edit_and_age_end_what_waits() {
    let mut setup = Setup::default();
    setup.warm.idle_prewarmed = Duration::from_millis(300);
    world_with(setup, async |world| {
        let prewarmed = |text: &str| {
            document(&format!("cat >/dev/null; echo {text}"), json!({ "lifecycle": "prewarmed" }))
        };
        world.user(&prewarmed("v1"));
        let mut agent = world.agent_with(json!({ "follow": true })).await;
        assert_eq!(agent.invoke(&events::session_start()).await.context(), ["v1"]);
        world.user(&prewarmed("v2"));
        eventually("the edit is served", async || {
            (agent.invoke(&events::session_start()).await.context() == ["v2"]).then_some(())
        })
        .await;
        eventually("it is too old", async || (processes(&mut agent).await == 0).then_some(())).await;
        assert_eq!(world.alive(), Vec::<String>::new());
    });
}
