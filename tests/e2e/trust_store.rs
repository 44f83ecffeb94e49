//! Persisted trust: `<config dir>/.state/hooks_trust.json`, read for interactive sessions only.

use std::fs;

use hooksd_tests::harness::{World, error_of, events, world};
use serde_json::{Value, json};

fn store(world: &World, projects: Value) {
    world.write("config/.state/hooks_trust.json", json!({ "version": 1, "projects": projects }).to_string());
}

fn trusting(world: &World, folder: &str) {
    store(world, json!({ world.text_at(folder): { "trusted_at": "2030-01-02T03:04:05Z" } }));
}

/// D13: an entry with a hash is bound to the bytes; one without, made by another program, is honoured as it is.
#[test]
fn d13_an_entry_may_be_bound_to_the_bytes() {
    world(async |world| {
        world.project(&events::shell("PreToolUse", "exit 2"));
        let fingerprint = world.agent().await.info["project"]["fingerprint"].clone();
        let root = world.text_at("project");
        store(world, json!({ root: { "trusted_at": "t", "sha256": fingerprint } }));
        let mut agent = world.agent().await;
        assert_eq!(agent.info["project"]["trusted"], true);
        world.project(&events::shell("PreToolUse", "touch $W/pwn"));
        agent.reload().await;
        assert_eq!(agent.info["project"]["trusted"], false);
        trusting(world, "project");
        agent.reload().await;
        assert_eq!(agent.info["project"]["trusted"], true);
    });
}

/// A revoked entry holds at once, for sessions that have loaded the project's hooks by it.
#[test]
fn a_revoked_entry_stops_the_sessions_that_rely_on_it() {
    world(async |world| {
        world.project(&events::shell("PreToolUse", "exit 2"));
        trusting(world, "project");
        let mut agent = world.agent().await;
        let mut granted = world.agent_with(json!({ "trust": "explicit" })).await;
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");

        let refused = (-32004, json!({ "root": world.text_at("project") }));
        store(world, json!({}));
        let params = agent.params(&events::pre());
        assert_eq!(agent.line.refusal("hook/invoke", params.clone()).await, refused);
        // Its own grant does not depend on the store.
        assert_eq!(granted.invoke(&events::pre()).await.behavior(), "deny");
        trusting(world, "project");
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
        for broken in ["", "{bad", r#"{"version":2,"projects":{}}"#] {
            world.write("config/.state/hooks_trust.json", broken);
            assert_eq!(agent.line.refusal("hook/invoke", params.clone()).await, refused, "{broken}");
        }
        fs::remove_file(world.at("config/.state/hooks_trust.json")).unwrap();
        let answer = agent.line.call("hook/invoke", params).await;
        assert_eq!(error_of(answer, "no store"), refused);
        // A reload goes on without the project.
        agent.reload().await;
        assert_eq!(agent.info["project"]["trusted"], false);
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "none");
    });
}

/// A store that cannot be read trusts nobody, is said to be so, and is left as it is.
#[test]
fn a_store_that_cannot_be_read_trusts_nobody() {
    world(async |world| {
        world.project(&events::shell("PreToolUse", "exit 2"));
        let entry = json!({ world.text_at("project"): { "trusted_at": "t" } });
        for text in [
            "{bad".to_owned(),
            String::new(),
            json!({ "version": 2, "projects": entry }).to_string(),
            json!({ "version": "1", "projects": entry }).to_string(),
            json!({ "version": 1.0, "projects": entry }).to_string(),
            json!({ "version": 1, "projects": [] }).to_string(),
        ] {
            let path = world.write("config/.state/hooks_trust.json", &text);
            let agent = world.agent().await;
            assert_eq!(agent.info["project"]["trusted"], false, "{text}");
            assert_eq!(
                agent.load_diagnostics(),
                ["trust_store_unreadable", "project_untrusted hooks.json"],
                "{text}"
            );
            assert_eq!(fs::read_to_string(path).unwrap(), text);
        }
    });
}
