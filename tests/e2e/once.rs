//! Exactly once: the same invocation delivered again runs nothing and gets the same answer, also while the first runs.

use hooksd_tests::harness::{World, error_of, events, world};
use serde_json::{Value, json};

const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

fn runs(world: &World) -> usize {
    world.read("runs").unwrap_or_default().lines().count()
}

#[test]
fn a_repeated_delivery_gets_the_same_answer() {
    world(async |world| {
        let mut agent = world
            .agent_of(&events::shell("SessionStart", "echo x >> $W/runs; echo $HOOKSD_INVOCATION $$"))
            .await;
        let id = json!({ "invocation_id": ID });
        let first = agent.invoke_with(&events::session_start(), id.clone()).await.unwrap();
        let again = agent.invoke_with(&events::session_start(), id.clone()).await.unwrap();
        assert_eq!(first.0, again.0);
        assert!(first.context()[0].starts_with(ID));
        // From another connection of the same session as well.
        let params = agent.params_with(&events::session_start(), id.clone());
        assert_eq!(world.connect().await.call("hook/invoke", params).await, Ok(first.0.clone()));
        assert_eq!(runs(world), 1);

        // Another id is another event; so is the same id on another snapshot.
        let other = json!({ "invocation_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7" });
        agent.invoke_with(&events::session_start(), other).await.unwrap();
        assert_eq!(runs(world), 2);
        world.user(&events::shell("SessionStart", "echo x >> $W/runs"));
        agent.reload().await;
        agent.invoke_with(&events::session_start(), id).await.unwrap();
        assert_eq!(runs(world), 3);
    });
}

#[test]
fn concurrent_deliveries_share_one_run() {
    world(async |world| {
        let command = "echo x >> $W/runs; until [ -e $W/go ]; do sleep 0.02; done; echo $$";
        let mut agent = world.agent_of(&events::shell("SessionStart", command)).await;
        let mut other = world.connect().await;
        let params = agent.params_with(&events::session_start(), json!({ "invocation_id": ID }));
        let mut ids = Vec::new();
        for _ in 0..10 {
            ids.push(agent.line.request("hook/invoke", &params).await);
        }
        world.appears("runs").await;
        let elsewhere = other.request("hook/invoke", &params).await;
        // Everything is delivered: a connection's lines are taken in one after the other.
        for line in [&mut agent.line, &mut other] {
            line.call("daemon/status", json!({})).await.unwrap();
        }
        world.write("go", "");
        let expected = other.answer(elsewhere).await.unwrap();
        for id in ids {
            assert_eq!(agent.line.answer(id).await, Ok(expected.clone()));
        }
        assert_eq!(runs(world), 1);
    });
}

/// D21: the same id with another event is a mistake of the caller, not somebody else's answer.
#[test]
fn d21_the_same_id_with_other_content_is_refused() {
    world(async |world| {
        let command = "echo x >> $W/runs; [ -e $W/quick ] || until [ -e $W/go ]; do sleep 0.02; done; exit 2";
        world.user(&json!({ "hooks": {
            "PreToolUse": [{ "hooks": [{ "type": "command", "command": command }] }],
            "Stop": [{ "hooks": [{ "type": "command", "command": command }] }],
        }}));
        let mut agent = world.agent().await;
        let id = json!({ "invocation_id": ID });
        let params = agent.params_with(&events::pre(), id.clone());
        let running = agent.line.request("hook/invoke", &params).await;
        world.appears("runs").await;
        let conflict = (-32602, json!({ "field": "invocation_id" }));
        let mut other_args = events::pre();
        other_args["call"]["args"]["command"] = json!("rm");
        for event in [events::stop(0), other_args.clone()] {
            let refusal = agent
                .line
                .refusal("hook/invoke", agent_params(&agent.context, agent.session(), &event))
                .await;
            assert_eq!(refusal, conflict);
        }
        world.write("go", "");
        assert_eq!(agent.answer(running).await.behavior(), "deny");
        // Also once it is finished.
        for event in [events::stop(0), other_args] {
            let answer = agent.invoke_with(&event, id.clone()).await.map(|answer| answer.0);
            assert_eq!(error_of(answer, "other content"), conflict);
        }
        assert_eq!(runs(world), 1);
    });
}

fn agent_params(context: &Value, session: &str, event: &Value) -> Value {
    json!({ "session": session, "invocation_id": ID, "invocation": { "context": context, "event": event } })
}

/// An id means the same in any spelling of a UUID.
#[test]
fn an_id_is_known_in_any_spelling() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "true")).await;
        let spellings: [&dyn Fn(&str) -> String; 5] = [
            &str::to_owned,
            &str::to_uppercase,
            &|id| id.replace('-', ""),
            &|id| format!("{{{id}}}"),
            &|id| format!("urn:uuid:{id}"),
        ];
        for (number, spell) in spellings.iter().enumerate() {
            let id = format!("0f8fad5b-d9cb-469f-a165-70867728951{number}");
            let mut inline = agent.params_with(&events::pre(), json!({ "invocation_id": spell(&id) }));
            inline["session"] = world.open_params();
            assert_eq!(agent.line.call("hook/invoke", inline).await.unwrap()["invocation_id"], id);
        }
    });
}

/// A cancelled event has no answer to repeat: the next delivery runs.
#[test]
fn a_cancelled_event_can_be_delivered_again() {
    world(async |world| {
        let command = "echo x >> $W/runs; [ -e $W/quick ] || sleep 30; exit 2";
        let mut agent = world.agent_of(&events::shell("PreToolUse", command)).await;
        let params = agent.params_with(&events::pre(), json!({ "invocation_id": ID }));
        let id = agent.line.request("hook/invoke", &params).await;
        world.appears("runs").await;
        agent.line.cancel(id).await;
        assert_eq!(error_of(agent.line.answer(id).await, "cancelled").0, -32800);
        world.write("quick", "");
        let answer = agent.line.call("hook/invoke", params).await.unwrap();
        assert_eq!(answer["decision"]["permission"]["behavior"], "deny");
        assert_eq!(runs(world), 2);
    });
}

/// As long as somebody waits, the run goes on.
#[test]
fn a_cancel_leaves_the_run_to_those_who_still_wait() {
    world(async |world| {
        let command = "echo x >> $W/runs; until [ -e $W/go ]; do sleep 0.02; done; exit 2";
        let mut agent = world.agent_of(&events::shell("PreToolUse", command)).await;
        let params = agent.params_with(&events::pre(), json!({ "invocation_id": ID }));
        let mut waiting = world.connect().await;
        let leaving = agent.line.request("hook/invoke", &params).await;
        world.appears("runs").await;
        let staying = waiting.request("hook/invoke", &params).await;
        waiting.call("daemon/status", json!({})).await.unwrap();
        agent.line.cancel(leaving).await;
        assert_eq!(error_of(agent.line.answer(leaving).await, "cancelled").0, -32800);
        world.write("go", "");
        assert_eq!(waiting.answer(staying).await.unwrap()["decision"]["permission"]["behavior"], "deny");
        assert_eq!(runs(world), 1);
    });
}

/// A request that brings its session with it is repeated like any other.
#[test]
fn an_inline_session_repeats_too() {
    world(async |world| {
        world.user(&events::shell("PreToolUse", "echo x >> $W/runs; exit 2"));
        let mut line = world.connect().await;
        let params = |tool: &str| {
            let payload = json!({ "hook_event_name": "PreToolUse", "tool_name": tool, "session_id": "t" });
            json!({ "session": world.open_params(), "invocation_id": ID, "payload": payload })
        };
        for _ in 0..3 {
            let answer = line.call("hook/invoke", params("Bash")).await.unwrap();
            assert_eq!(answer["decision"]["permission"]["behavior"], "deny");
        }
        assert_eq!(runs(world), 1);
        let conflict = (-32602, json!({ "field": "invocation_id" }));
        assert_eq!(line.refusal("hook/invoke", params("Read")).await, conflict);
    });
}

/// Sessions that come with their requests are told apart by their threads: the answer of a guard that one of them has
/// asked is none for another, whose agent happens to count its calls the same way.
#[test]
fn an_inline_session_gets_no_answer_of_another_thread() {
    world(async |world| {
        world.user(&events::shell("PreToolUse", "echo x >> $W/runs; echo \"$MINE\" >&2; exit 2"));
        let mut line = world.connect().await;
        for (thread, runs_then) in [("one", 1), ("two", 2), ("one", 2)] {
            let mut session = world.open_params();
            session["thread_id"] = json!(thread);
            session["env"] = json!({ "PATH": "/usr/bin:/bin", "MINE": thread, "W": world.text_at("") });
            let payload = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash" });
            let params = json!({ "session": session, "invocation_id": ID, "payload": payload });
            let answer = line.call("hook/invoke", params).await.unwrap();
            assert_eq!(answer["decision"]["permission"]["reason"], thread);
            assert_eq!(runs(world), runs_then);
        }
    });
}
