//! `session/reload`: moves a session to the documents as they are now. Until then it is pinned.

use hooksd_tests::harness::{decision, deny, events, world};
use serde_json::json;

use crate::refuses;

/// An edit reaches a session by its own reload and no other way.
#[test]
fn edits_reach_a_session_only_by_its_reload() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 2")).await;
        let mut other = world.agent().await;
        let (before, denied) = (
            agent.snapshot().to_owned(),
            decision("PreToolUse", json!({ "permission": deny("Hook blocked the operation") })),
        );
        world.user(&events::shell("PreToolUse", "true"));
        world.agent().await;
        for agent in [&mut agent, &mut other] {
            let answer = agent.invoke(&events::pre()).await;
            assert_eq!(answer.decision(), denied);
            assert_eq!(answer.0["snapshot_id"], before);
        }
        agent.reload().await;
        assert_ne!(agent.snapshot(), before);
        let answer = agent.invoke(&events::pre()).await;
        assert_eq!(answer.decision(), decision("PreToolUse", json!({})));
        assert_eq!(answer.0["snapshot_id"], agent.snapshot());
        assert_eq!(other.invoke(&events::pre()).await.decision(), denied);
        // Going back gives the id of before.
        world.user(&events::shell("PreToolUse", "exit 2"));
        agent.reload().await;
        assert_eq!(agent.snapshot(), before);
    });
}

/// A running event finishes on the snapshot it began with.
#[test]
fn a_running_event_finishes_on_its_snapshot() {
    world(async |world| {
        let wait = "touch $W/runs; until [ -e $W/go ]; do sleep 0.02; done; exit 2";
        let mut agent = world.agent_of(&events::shell("PreToolUse", wait)).await;
        let before = agent.snapshot().to_owned();
        let id = agent.start(&events::pre()).await;
        world.appears("runs").await;
        world.user(&events::shell("PreToolUse", "true"));
        agent.reload().await;
        world.write("go", "");
        let answer = agent.answer(id).await;
        assert_eq!((answer.behavior(), &answer.0["snapshot_id"]), ("deny", &json!(before)));
    });
}

/// However reloads and events meet, an event runs against one whole snapshot: its two handlers are of one document.
#[test]
fn an_event_runs_against_one_whole_snapshot() {
    world(async |world| {
        let document = |version: usize| {
            let say = json!({ "type": "command", "command": format!("echo v{version}") });
            json!({ "hooks": { "SessionStart": [{ "hooks": [say] }, { "hooks": [say] }] } })
        };
        let mut agent = world.agent_of(&document(0)).await;
        let mut reloading = world.connect().await;
        let session = agent.session().to_owned();
        let mut by_id = std::collections::HashMap::from([(agent.snapshot().to_owned(), "v0".to_owned())]);
        for version in 1..=30 {
            let ids =
                [agent.start(&events::session_start()).await, agent.start(&events::session_start()).await];
            world.user(&document(version));
            let info = reloading.call("session/reload", json!({ "session": session })).await.unwrap();
            by_id.insert(info["snapshot"]["id"].as_str().unwrap().to_owned(), format!("v{version}"));
            for id in ids {
                let answer = agent.answer(id).await;
                let said = &by_id[answer.0["snapshot_id"].as_str().unwrap()];
                assert_eq!(answer.context(), [said.clone(), said.clone()]);
            }
        }
        assert_eq!(agent.invoke(&events::session_start()).await.context(), ["v30", "v30"]);
    });
}

/// B62: of reloads that overlap, the last to be asked for has seen the last edit, and no older one comes after it.
#[test]
fn overlapping_reloads_end_on_the_last_edit() {
    world(async |world| {
        let mut agent = world.agent().await;
        let session = json!({ "session": agent.session() });
        for round in 0..5 {
            // One that takes long to read, then one that does not.
            let mut old = events::shell("SessionStart", "echo old");
            old["description"] = json!("x".repeat(1_000_000));
            world.user(&old);
            let slow = agent.line.request("session/reload", &session).await;
            agent.line.call("daemon/status", json!({})).await.unwrap();
            world.user(&events::shell("SessionStart", &format!("echo new {round}")));
            let quick = agent.line.request("session/reload", &session).await;
            for id in [slow, quick] {
                agent.line.answer(id).await.unwrap();
            }
            assert_eq!(agent.invoke(&events::session_start()).await.context(), [format!("new {round}")]);
        }
    });
}

/// A reload can change the folder and the environment; what it does not name stays.
#[test]
fn changes_what_it_names_and_keeps_the_rest() {
    world(async |world| {
        let mut agent =
            world.agent_of(&events::shell("SessionStart", "echo $NAME $CLAUDE_PROJECT_DIR")).await;
        agent.reload_with(json!({ "env": { "PATH": "/usr/bin:/bin", "NAME": "one" } })).await;
        let project = world.text_at("project");
        assert_eq!(agent.invoke(&events::session_start()).await.context(), [format!("one {project}")]);
        agent.reload_with(json!({ "cwd": world.text_at("home") })).await;
        let home = world.text_at("home");
        assert_eq!(agent.info["project"]["root"], home);
        assert_eq!(agent.info["environment"], "session");
        assert_eq!(agent.invoke(&events::session_start()).await.context(), [format!("one {home}")]);
    });
}

#[test]
fn refuses_what_does_not_fit_and_changes_nothing() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 2")).await;
        world.user(&events::shell("PreToolUse", "true"));
        let session = agent.session().to_owned();
        let cases = [
            (json!({}), "session"),
            (json!({ "session": 5 }), "session"),
            (json!([session]), "params"),
            (json!({ "session": session, "cwd": "project" }), "cwd"),
            (json!({ "session": session, "cwd": 5 }), "cwd"),
            (json!({ "session": session, "trust": "x" }), "trust"),
            (json!({ "session": session, "trust": { "fingerprint": "x" } }), "trust.fingerprint"),
            (json!({ "session": session, "env": { "A": null } }), "env.A"),
            (json!({ "session": session, "plugins": "x" }), "plugins"),
            (json!({ "session": session, "mode": "headless" }), "mode"),
            (json!({ "session": session, "zzz": 1 }), "zzz"),
        ];
        refuses(&mut agent.line, "session/reload", &cases).await;
        let refusal = agent.line.refusal("session/reload", json!({ "session": "none" })).await;
        assert_eq!(refusal, (-32002, json!({ "session": "none" })));
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
    });
}
