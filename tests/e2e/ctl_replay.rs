//! `hooksctl replay`: recorded and hand-written events against the hooks of today.

use hooksd_tests::harness::{Setup, World, daemon, events, world_with};
use serde_json::{Value, json};

use crate::ctl::ctl;

const GUARD: &str = "if grep -q 'rm -rf'; then echo 'not that' >&2; exit 2; fi";

async fn replay(world: &World, arguments: &[&str]) -> (Option<i32>, Value) {
    let config = world.text_at("config");
    let done = ctl(world, &[&["--json", "replay", "--config-dir", &config], arguments].concat()).await;
    assert_eq!(done.stderr, "", "{done:?}");
    (done.status, serde_json::from_str(&done.stdout).unwrap())
}

#[test]
fn a_recorded_event_is_decided_again() {
    let environment = vec![("HOOKSD_JOURNAL_PAYLOADS".to_owned(), "true".to_owned())];
    world_with(Setup { program: true, environment, ..Setup::default() }, async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", GUARD)).await;
        let event = events::tool("PreToolUse", "execute", json!({ "command": "rm -rf x" }));
        let answer = agent.invoke(&event).await.0;
        let id = answer["invocation_id"].as_str().unwrap();
        agent.invoke(&events::stop(0)).await;
        let stops = agent.line.call("journal/query", json!({ "event": "Stop" })).await.unwrap();

        let (status, same) = replay(world, &[id]).await;
        assert_eq!(
            (status, &same["same"], &same["cases"][0]["result"]),
            (Some(0), &json!(1), &json!("same"))
        );
        // What was named by its beginning is named in full.
        assert_eq!(same["cases"][0]["name"], json!(id));

        world.user(&events::shell("PreToolUse", "echo 'never ever' >&2; exit 2"));
        let (status, other) = replay(world, &[&id[..13]]).await;
        assert_eq!(
            (status, &other["cases"][0]["differences"]),
            (Some(1), &json!([{ "path": "reason", "then": "not that", "now": "never ever" }]))
        );
        world.user(&json!({ "hooks": {} }));
        let config = world.text_at("config");
        let text = ctl(world, &["replay", "--config-dir", &config, id]).await;
        assert_eq!(text.status, Some(1), "{text:?}");
        assert!(text.stdout.contains("    outcome: \"deny\" then, \"none\" now"), "{text:?}");
        assert!(text.stdout.ends_with("0 the same, 1 differ, 0 written, 0 not replayed\n"), "{text:?}");

        // No handler was for it, so nothing was kept of it.
        let stop = stops["records"][0]["invocation_id"].as_str().unwrap();
        let none = ctl(world, &["replay", "--config-dir", &config, stop]).await;
        assert_eq!((none.status, none.stdout.as_str()), (Some(2), ""), "{none:?}");
        assert!(none.stderr.contains("without its payload"), "{none:?}");
    });
}

#[test]
fn a_folder_of_events_is_a_test_of_hooks() {
    daemon(async |world| {
        world.user(&events::shell("PreToolUse", GUARD));
        let event = |command: &str| events::tool("PreToolUse", "execute", json!({ "command": command }));
        world.write("cases/bad.event.json", event("rm -rf /").to_string());
        let payload = json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": world.text_at("project"),
            "tool_name": "Bash", "tool_input": { "command": "ls" } });
        world.write("cases/good.event.json", payload.to_string());
        world.write("cases/README", "not an event");
        let cases = world.text_at("cases");

        // Nothing to compare with: said before anything runs.
        let none = ctl(world, &["replay", &cases]).await;
        assert_eq!((none.status, none.stdout.as_str()), (Some(2), ""), "{none:?}");
        assert!(none.stderr.contains("bad.decision.json is not there"), "{none:?}");

        world
            .write("cases/bad.decision.json", r#"{"outcome": "deny", "permission": {"reason": "not that"}}"#);
        world.write("cases/good.decision.json", r#"{"outcome": "none", "context": []}"#);
        let (status, done) = replay(world, &[&cases]).await;
        assert_eq!((status, &done["same"], &done["differs"]), (Some(0), &json!(2), &json!(0)), "{done}");

        world.user(&events::shell("PreToolUse", "exit 0"));
        let (status, done) = replay(world, &[&cases]).await;
        assert_eq!((status, &done["same"], &done["differs"]), (Some(1), &json!(1), &json!(1)), "{done}");
        let paths: Vec<&Value> = done["cases"][0]["differences"].as_array().unwrap().iter().collect();
        assert_eq!(
            paths,
            [
                &json!({ "path": "outcome", "then": "deny", "now": "none" }),
                &json!({ "path": "permission.reason", "then": "not that", "now": null }),
            ]
        );

        let (status, done) = replay(world, &["--update", &cases]).await;
        assert_eq!((status, &done["written"]), (Some(0), &json!(2)), "{done}");
        let written: Value = serde_json::from_str(&world.read("cases/bad.decision.json").unwrap()).unwrap();
        assert_eq!(
            (&written["outcome"], &written["permission"]["behavior"]),
            (&json!("none"), &json!("none"))
        );
        assert_eq!(replay(world, &[&cases]).await.0, Some(0));

        // One that the daemon refuses costs that one alone.
        world.write(
            "cases/lost.event.json",
            r#"{"hook_event_name": "", "session_id": "s", "cwd": "relative"}"#,
        );
        world.write("cases/lost.decision.json", r#"{"outcome": "none"}"#);
        let (status, done) = replay(world, &[&cases]).await;
        assert_eq!((status, &done["same"], &done["not_replayed"]), (Some(1), &json!(2), &json!(1)), "{done}");

        for (content, wrong) in [("[]", "expected an object"), ("{", "EOF"), ("{}", "expected an object")] {
            world.write("cases/bad.decision.json", content);
            let done = ctl(world, &["replay", &cases]).await;
            assert!(done.status == Some(2) && done.stderr.contains(wrong), "{content}: {done:?}");
        }
        let gone = ctl(world, &["replay", "gone/x.event.json"]).await;
        assert_eq!(gone.status, Some(2), "{gone:?}");
    });
}
