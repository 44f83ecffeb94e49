//! `hook/cancel`: stops a running event by its invocation id, from any connection.

use hooksd_tests::harness::{events, until, world};
use serde_json::json;

use crate::ctl::ctl;
use crate::refuses;

#[test]
fn a_running_event_is_stopped_by_the_beginning_of_its_id() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "touch $W/on; sleep 60")).await;
        let id = "0f0f0f0f-1111-4222-8333-444444444444";
        let params = agent.params_with(&events::pre(), json!({ "invocation_id": id }));
        let request = agent.line.request("hook/invoke", &params).await;
        world.appears("on").await;
        let mut other = world.connect().await;
        let stopped = other.call("hook/cancel", json!({ "invocation_id": "0F0F" })).await.unwrap();
        let session = agent.session().to_owned();
        assert_eq!(stopped, json!({ "invocation_id": id, "event": "PreToolUse", "session": session }));
        assert_eq!(agent.line.answer(request).await.unwrap_err()["code"], -32800);
        until("the handler is gone", || world.alive().is_empty()).await;
        // It runs no longer, so there is nothing to stop.
        refuses(
            &mut other,
            "hook/cancel",
            &[
                (json!({ "invocation_id": id }), "invocation_id"),
                (json!({ "invocation_id": "0f0" }), "invocation_id"),
                (json!({}), "invocation_id"),
            ],
        )
        .await;
    });
}

/// Two sessions may use one id, which nothing more of the id tells apart.
#[test]
fn an_id_of_two_sessions_is_stopped_in_neither_and_the_way_out_is_said() {
    world(async |world| {
        world.user(&events::shell("PreToolUse", "touch $W/on.$$; sleep 60"));
        let (mut one, mut two) = (world.agent().await, world.agent().await);
        let id = json!({ "invocation_id": "0f0f0f0f-1111-4222-8333-444444444444" });
        let mut requests = Vec::new();
        for agent in [&mut one, &mut two] {
            let params = agent.params_with(&events::pre(), id.clone());
            requests.push(agent.line.request("hook/invoke", &params).await);
        }
        until("both run", || world.alive().iter().filter(|line| *line == "sleep 60").count() == 2).await;
        let error = world.connect().await.call("hook/cancel", id).await.unwrap_err();
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("2 sessions run") && message.contains("$/cancelRequest"), "{message}");
        for (agent, request) in [&mut one, &mut two].into_iter().zip(requests) {
            agent.line.cancel(request).await;
            assert_eq!(agent.line.answer(request).await.unwrap_err()["code"], -32800);
        }
    });
}

#[test]
fn kill_does_it_from_the_command_line() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "touch $W/on; sleep 60")).await;
        let id = "0a0a0a0a-1111-4222-8333-444444444444";
        let params = agent.params_with(&events::pre(), json!({ "invocation_id": id }));
        let request = agent.line.request("hook/invoke", &params).await;
        world.appears("on").await;
        let done = ctl(world, &["kill", "0a0a0a0a"]).await;
        let session = agent.session().to_owned();
        assert_eq!(done.stdout, format!("PreToolUse {id} of session {session} was told to stop\n"));
        assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
        assert_eq!(agent.line.answer(request).await.unwrap_err()["code"], -32800);
        let done = ctl(world, &["kill", "0a0a0a0a"]).await;
        assert_eq!((done.status, done.stdout.as_str()), (Some(2), ""));
        assert!(
            done.stderr.contains("no running event has an id that begins with 0a0a0a0a"),
            "{}",
            done.stderr
        );
    });
}
