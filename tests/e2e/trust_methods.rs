//! trust/list, trust/status, trust/grant, trust/revoke, and `hooksctl trust`.

use std::fs;

use hooksd_config::contents::fingerprint;
use hooksd_tests::harness::{World, daemon, events, program, world};
use serde_json::json;

async fn trust(world: &World, arguments: &[&str]) -> program::Done {
    let mut command = program::command("hooksctl", &[]);
    command.args(["trust", "--config-dir"]).arg(world.at("config")).args(arguments);
    program::run(command).await
}

/// What a person is shown is what the parser that runs has read, with the hash that the grant is for; other bytes need
/// another grant, and a revocation counts from the next event on.
#[test]
fn trust_is_for_the_bytes_that_were_shown() {
    world(async |world| {
        let mut line = world.connect().await;
        let cwd = world.text_at("project");
        let at = json!({ "cwd": cwd });
        let status = line.call("trust/status", at.clone()).await.unwrap();
        assert_eq!((&status["hooks_present"], &status["trusted"]), (&json!(false), &json!(false)));
        let (code, data) = line.refusal("trust/grant", json!({ "cwd": cwd, "fingerprint": "x" })).await;
        assert_eq!((code, &data["field"]), (-32602, &json!("cwd")));

        world.project(&events::shell("PreToolUse", "exit 2"));
        let status = line.call("trust/status", at.clone()).await.unwrap();
        let document = world.text_at("project/.deepagents/hooks.json");
        let shown = json!([{
            "id": "PreToolUse:0:0", "event": "PreToolUse", "matcher": null, "command": "exit 2", "argv": null,
            "timeout": null, "status_message": null, "on_failure": "ignore",
            "lifecycle": "per_event", "workers": 1, "source": document,
        }]);
        let seen = fingerprint(fs::read_to_string(&document).unwrap().as_bytes());
        assert_eq!(
            status,
            json!({
                "root": cwd, "document": document, "hooks_present": true, "fingerprint": seen, "trusted": false,
                "entry": null, "problem": null, "handlers": shown, "legacy": [], "diagnostics": [],
            })
        );
        let wrong = json!({ "cwd": cwd, "fingerprint": "0".repeat(64) });
        let (code, data) = line.refusal("trust/grant", wrong).await;
        let other = json!({ "field": "fingerprint", "expected": "0".repeat(64), "got": seen });
        assert_eq!((code, data), (-32602, other));

        let grant = json!({ "cwd": format!("{cwd}/."), "fingerprint": seen });
        let granted = line.call("trust/grant", grant).await.unwrap();
        assert_eq!((&granted["changed"], &granted["status"]["trusted"]), (&json!(true), &json!(true)));
        let listed = line.call("trust/list", json!({})).await.unwrap();
        assert_eq!(listed["projects"], json!([granted["status"]["entry"]]));
        assert_eq!(listed["projects"][0]["fingerprint"], json!(seen));

        let mut agent = world.agent().await;
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
        let revoked = line.call("trust/revoke", at.clone()).await.unwrap();
        assert_eq!((&revoked["changed"], &revoked["status"]["entry"]), (&json!(true), &json!(null)));
        let error = agent.invoke_with(&events::pre(), json!({})).await.unwrap_err();
        assert_eq!(error["code"], -32004);
        agent.reload().await;
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "none");
        let revoked = line.call("trust/revoke", at).await.unwrap();
        assert_eq!(revoked["changed"], json!(false));
    });
}

/// After an edit the consent is stale (D13).
#[test]
fn d13_an_edited_document_is_untrusted_until_looked_at_again() {
    world(async |world| {
        world.project(&events::shell("PreToolUse", "exit 2"));
        let project = world.text_at("project");
        assert_eq!(trust(world, &["grant", &project, "--yes"]).await.status, Some(0));
        assert_eq!(world.agent().await.invoke(&events::pre()).await.behavior(), "deny");
        world.project(&events::shell("PreToolUse", "exit 2 # edited"));
        let agent = world.agent().await;
        assert_eq!(agent.load_diagnostics(), ["project_untrusted hooks.json"]);
        let shown = trust(world, &["status", &project]).await;
        assert!(shown.stdout.contains("has changed since it was trusted"), "{shown:?}");
        // An entry of another program, which has no hash, counts for whatever the document holds.
        let store = json!({ "version": 1, "projects": { project: { "trusted_at": "t" } } });
        world.write("config/.state/hooks_trust.json", store.to_string());
        assert_eq!(world.agent().await.invoke(&events::pre()).await.behavior(), "deny");
    });
}

/// The command shows before it grants, needs consent, needs no daemon, and cannot be tricked by the document's text.
#[test]
fn the_command_shows_what_it_trusts() {
    daemon(async |world| {
        world.stop().await;
        let hostile = "echo \u{1b}[2J\u{1b}[1mharmless";
        world.project(&events::shell("PreToolUse", hostile));
        let project = world.text_at("project");
        let refused = trust(world, &["grant", &project]).await;
        assert_eq!(refused.status, Some(5));
        assert!(refused.stdout.contains("PreToolUse:0:0") && refused.stdout.contains("harmless"));
        assert!(!refused.stdout.contains('\u{1b}'), "{refused:?}");
        let hash = refused.stderr.split("--fingerprint ").nth(1).unwrap().trim().to_owned();
        assert!(!world.at("config/.state/hooks_trust.json").exists());

        assert_eq!(
            trust(world, &["grant", &project, "--fingerprint", &"0".repeat(64)]).await.status,
            Some(5)
        );
        assert_eq!(trust(world, &["grant", &project, "--fingerprint", &hash]).await.status, Some(0));
        let listed = trust(world, &["list"]).await;
        assert!(listed.stdout.contains(&project) && listed.stdout.contains(&hash), "{listed:?}");
        let revoked = trust(world, &["revoke", &project]).await;
        assert_eq!(revoked.stdout, format!("{project}: no longer trusted\n"));
        assert_eq!(trust(world, &["revoke", &project]).await.stdout, format!("{project}: was not trusted\n"));
    });
}
