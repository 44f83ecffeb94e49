//! Kind 10: trust and scope.

use std::fs;
use std::os::unix::fs::symlink;

use hooksd_tests::harness::{World, decision, events, program, world};
use serde_json::{Value, json};

fn store(world: &World, folder: &str) {
    let entry = json!({ world.text_at(folder): { "trusted_at": "2030-01-02T03:04:05Z" } });
    world.write("config/.state/hooks_trust.json", json!({ "version": 1, "projects": entry }).to_string());
}

fn touches(file: &str) -> Value {
    let group = json!([{ "hooks": [{ "type": "command", "command": format!("touch $W/{file}") }] }]);
    json!({ "hooks": { "SessionStart": group, "UserPromptSubmit": group, "PreToolUse": group, "SessionEnd": group } })
}

/// Before trust nothing of a project runs, whatever is asked and edited, and its content shows nowhere, not even by being
/// broken; a headless session does not take persisted trust for a grant.
#[test]
fn b64_nothing_of_a_project_runs_before_it_is_trusted() {
    world(async |world| {
        world.user(&touches("ok"));
        let before = world.agent().await.snapshot().to_owned();
        let denies = events::shell("PreToolUse", "touch $W/pwn; exit 2").to_string();
        for mode in ["interactive", "headless"] {
            if mode == "headless" {
                store(world, "project");
            }
            world.project(&touches("pwn"));
            let mut agent = world.agent_with(json!({ "mode": mode })).await;
            for content in ["{bad", "[]", r#"{"hooks":{"Zzz":[]}}"#, &denies] {
                for event in [events::session_start(), events::prompt(), events::pre(), events::session_end()]
                {
                    let name = event["event"].as_str().unwrap();
                    let answer = agent.invoke(&event).await;
                    assert_eq!(answer.decision(), decision(name, json!({})), "{mode}");
                    assert_eq!(answer.handlers(), [format!("{name}:0:0 ok exit 0")], "{mode}");
                }
                assert_eq!(agent.snapshot(), before, "{mode}");
                assert_eq!(agent.load_diagnostics(), ["project_untrusted hooks.json"], "{mode}");
                // An edit, then once more.
                world.write("project/.deepagents/hooks.json", content);
                agent.reload().await;
            }
            let folder = json!({ "cwd": world.text_at("project") });
            agent.line.call("trust/status", folder).await.unwrap();
            assert_eq!(agent.invoke(&events::pre()).await.behavior(), "none", "{mode}");
            assert_eq!((world.read("pwn"), world.read("ok").is_some()), (None, true));
            // What is trusted by then counts where a person is, and for who grants it by himself.
            let trust = json!({ "mode": mode, "trust": "explicit" });
            assert_eq!(world.agent_with(trust).await.invoke(&events::pre()).await.behavior(), "deny");
            fs::remove_file(world.at("pwn")).unwrap();
        }
        assert_eq!(world.agent().await.invoke(&events::pre()).await.behavior(), "deny");
        fs::remove_file(world.at("pwn")).unwrap();
        fs::remove_file(world.at("config/.state/hooks_trust.json")).unwrap();
        let mut show = program::command("hooksctl", &[]);
        show.arg("--socket").arg(world.socket()).arg("show").arg(world.at("project"));
        let shown = program::run(show).await.stdout;
        assert!(shown.contains("NOT trusted") && !shown.contains("pwn"), "{shown}");
        assert_eq!(world.read("pwn"), None);
    });
}

/// Exactly the canonical folder is trusted: not one that begins alike, lies within, or cannot be resolved.
#[test]
fn b65_exactly_the_canonical_folder_is_trusted() {
    world(async |world| {
        let document = events::shell("PreToolUse", "exit 2").to_string();
        for folder in ["a", "ab", "a/sub", "A", "gone"] {
            world.write(&format!("{folder}/.deepagents/hooks.json"), &document);
            world.write(&format!("{folder}/.git/HEAD"), "ref: refs/heads/main\n");
        }
        symlink(world.at("a"), world.at("ln")).unwrap();
        symlink(world.at("loop"), world.at("loop")).unwrap();
        store(world, "a");
        let mut line = world.connect().await;
        let mut found = Vec::new();
        for folder in ["a", "a/", "a/.", "a/sub/..", "ln", "ab", "a/sub", "A"] {
            let cwd = json!({ "cwd": format!("{}/{folder}", world.text_at("").trim_end_matches('/')) });
            let mut agent = world.agent_with(cwd.clone()).await;
            assert_eq!(agent.info["project"]["hooks_present"], true, "{folder}");
            let trusted = agent.info["project"]["trusted"].as_bool().unwrap();
            let status = line.call("trust/status", cwd).await.unwrap();
            assert_eq!(status["trusted"], trusted, "{folder}");
            let behavior = agent.invoke(&events::pre()).await.behavior().to_owned();
            assert_eq!(behavior, if trusted { "deny" } else { "none" }, "{folder}");
            found.push((folder, trusted));
        }
        let yes = ["a", "a/", "a/.", "a/sub/..", "ln"];
        let no = ["ab", "a/sub", "A"];
        let expected: Vec<_> =
            yes.map(|folder| (folder, true)).into_iter().chain(no.map(|folder| (folder, false))).collect();
        assert_eq!(found, expected);
        // A folder that is gone, or leads to itself, is not trusted, though it is in the store.
        fs::remove_dir_all(world.at("gone")).unwrap();
        for folder in ["gone", "loop"] {
            store(world, folder);
            let cwd = json!({ "cwd": world.text_at(folder) });
            assert_eq!(line.call("trust/status", cwd.clone()).await.unwrap()["trusted"], false, "{folder}");
            assert_eq!(world.agent_with(cwd).await.info["project"]["trusted"], false, "{folder}");
        }
        let mut params = world.open_params();
        params["cwd"] = json!("");
        assert_eq!(line.refusal("session/open", params).await.0, -32602);
        assert_eq!(line.refusal("trust/status", json!({ "cwd": "" })).await.0, -32602);
    });
}
