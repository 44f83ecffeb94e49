//! Trust for one session: a grant is for exactly the bytes it names. That nothing runs before it: `../cases/trust.rs`.

use hooksd_tests::harness::{World, events, world};
use serde_json::{Value, json};

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
