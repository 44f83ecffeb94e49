//! Trust: a project's hooks run after a grant for exactly their bytes, and before that not at all.

use std::fs;

use hooksd_tests::harness::{Agent, World, decision, events, eventually, world};
use serde_json::{Value, json};

/// A project whose every hook leaves a trace, and a user document that leaves another.
fn trap(world: &World) {
    let hooks = |file: &str| {
        let group = json!([{ "hooks": [{ "type": "command", "command": format!("touch $W/{file}") }] }]);
        json!({ "hooks": { "SessionStart": group, "UserPromptSubmit": group, "PreToolUse": group, "SessionEnd": group } })
    };
    world.project(&hooks("pwn"));
    world.user(&hooks("ok"));
}

async fn all_events(agent: &mut Agent) {
    for event in [events::session_start(), events::prompt(), events::pre(), events::session_end()] {
        let name = event["event"].as_str().unwrap();
        let answer = agent.invoke(&event).await;
        assert_eq!(answer.decision(), decision(name, json!({})));
        assert_eq!(answer.handlers(), [format!("{name}:0:0 ok exit 0")]);
    }
}

#[test]
fn an_untrusted_project_runs_nothing_and_leaves_no_trace_in_the_snapshot() {
    world(async |world| {
        trap(world);
        let fingerprint_of_nothing = world.agent().await.snapshot().to_owned();
        let mut agent = world.agent().await;
        assert_eq!(agent.load_diagnostics(), ["project_untrusted hooks.json"]);
        all_events(&mut agent).await;
        agent.reload().await;
        all_events(&mut agent).await;
        // Not even broken or other content shows in the id or the diagnostics.
        for content in ["{bad", "[]", r#"{"hooks":{"Zzz":[]}}"#] {
            world.write("project/.deepagents/hooks.json", content);
            agent.reload().await;
            assert_eq!(agent.snapshot(), fingerprint_of_nothing);
            assert_eq!(agent.load_diagnostics(), ["project_untrusted hooks.json"]);
        }
        fs::remove_file(world.at("project/.deepagents/hooks.json")).unwrap();
        // A deletion counts once it has lasted (D2).
        eventually("the deletion counts", async || {
            agent.reload().await;
            assert_eq!(agent.snapshot(), fingerprint_of_nothing);
            agent.load_diagnostics().is_empty().then_some(())
        })
        .await;
        assert_eq!((world.read("pwn"), world.read("ok").is_some()), (None, true));
    });
}

async fn loaded(world: &World, trust: Value) -> (bool, bool) {
    let agent = world.agent_with(json!({ "trust": trust })).await;
    let events = agent.info["snapshot"]["events"].as_array().unwrap();
    (agent.info["project"]["trusted"].as_bool().unwrap(), events.contains(&json!("PreToolUse")))
}

#[test]
fn a_grant_is_explicit_or_names_the_bytes() {
    world(async |world| {
        world.project(&events::shell("PreToolUse", "exit 2"));
        let fingerprint = world.agent().await.info["project"]["fingerprint"].clone();
        assert_eq!(loaded(world, json!("explicit")).await, (true, true));
        assert_eq!(loaded(world, json!({ "fingerprint": fingerprint })).await, (true, true));
        assert_eq!(loaded(world, json!({ "fingerprint": "0".repeat(64) })).await, (false, false));
        assert_eq!(loaded(world, Value::Null).await, (false, false));

        let mut agent = world.agent_with(json!({ "trust": { "fingerprint": fingerprint } })).await;
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
        // What was shown is not what is there now.
        world.project(&events::shell("PreToolUse", "touch $W/pwn"));
        assert_eq!(loaded(world, json!({ "fingerprint": fingerprint })).await, (false, false));
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
    });
}

/// A grant, the explicit one too, is for the bytes that were loaded: after an edit a reload loads nothing.
#[test]
fn a_grant_is_bound_to_the_bytes_across_reloads() {
    world(async |world| {
        for explicit in [true, false] {
            world.project(&events::shell("PreToolUse", "exit 2"));
            let fingerprint = world.agent().await.info["project"]["fingerprint"].clone();
            let trust = if explicit { json!("explicit") } else { json!({ "fingerprint": fingerprint }) };
            let mut agent = world.agent_with(json!({ "trust": trust })).await;
            agent.reload().await;
            assert_eq!(agent.info["project"]["trusted"], true);

            world.project(&events::shell("PreToolUse", "touch $W/pwn; exit 2"));
            agent.reload().await;
            assert_eq!(agent.info["project"]["trusted"], false);
            assert_eq!(agent.invoke(&events::pre()).await.behavior(), "none");
            // The old bytes are still granted; the new ones need a new grant.
            world.project(&events::shell("PreToolUse", "exit 2"));
            agent.reload().await;
            assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
            assert_eq!(world.read("pwn"), None);
        }
    });
}

/// Moving to another folder resolves trust anew; a grant in the same request is for the new folder.
#[test]
fn moving_resolves_trust_anew() {
    world(async |world| {
        let document = events::shell("PreToolUse", "exit 2");
        world.project(&document);
        world.write("home/.deepagents/hooks.json", document.to_string());
        let mut agent = world.agent_with(json!({ "trust": "explicit" })).await;
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
        // The same bytes, but nobody has looked at that folder.
        agent.reload_with(json!({ "cwd": world.text_at("home") })).await;
        assert_eq!(agent.info["project"]["trusted"], false);
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "none");
        // Nor does going back bring the grant back.
        agent.reload_with(json!({ "cwd": world.text_at("project") })).await;
        assert_eq!(agent.info["project"]["trusted"], false);
        agent.reload_with(json!({ "cwd": world.text_at("home"), "trust": "explicit" })).await;
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
    });
}

/// A grant is the session's own.
#[test]
fn a_grant_is_for_one_session() {
    world(async |world| {
        world.project(&events::shell("PreToolUse", "exit 2"));
        let mut trusting = world.agent_with(json!({ "trust": "explicit" })).await;
        let mut other = world.agent().await;
        assert_eq!(trusting.invoke(&events::pre()).await.behavior(), "deny");
        assert_eq!(other.invoke(&events::pre()).await.behavior(), "none");
        assert_ne!(trusting.snapshot(), other.snapshot());
    });
}
