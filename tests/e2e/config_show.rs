//! `config/show`: what a new session in a folder would get.

use hooksd_tests::harness::{events, world};
use serde_json::json;

use crate::refuses;

#[test]
fn shows_every_handler_with_its_document() {
    world(async |world| {
        world.user(&json!({ "hooks": { "PreToolUse": [
            { "matcher": "Bash", "hooks": [{
                "type": "command", "command": "guard", "argv": ["/bin/guard", "-x"], "timeout": 2.5,
                "statusMessage": "Checking", "onFailure": "block",
            }] },
            { "hooks": [{ "type": "command", "command": "true" }] },
        ]}}));
        let mut agent = world.agent().await;
        let source = world.text_at("config/hooks.json");
        let shown = agent.line.call("config/show", json!({ "cwd": world.text_at("project") })).await;
        assert_eq!(
            shown,
            Ok(json!({
                "legacy": [],
                "snapshot": agent.info["snapshot"],
                "project": agent.info["project"],
                "handlers": [
                    {
                        "id": "PreToolUse:0:0", "event": "PreToolUse", "matcher": "Bash", "command": "guard",
                        "argv": ["/bin/guard", "-x"], "timeout": 2.5, "status_message": "Checking", "on_failure": "block",
                        "lifecycle": "per_event", "workers": 1, "source": source,
                    },
                    {
                        "id": "PreToolUse:1:0", "event": "PreToolUse", "matcher": null, "command": "true", "argv": null,
                        "timeout": null, "status_message": null, "on_failure": "ignore",
                        "lifecycle": "per_event", "workers": 1, "source": source,
                    },
                ],
            }))
        );
    });
}

/// Looking at a project does not trust it, and opens no session.
#[test]
fn looking_changes_nothing() {
    world(async |world| {
        world.project(&events::shell("PreToolUse", "touch $W/pwn"));
        let mut line = world.connect().await;
        let shown = line.call("config/show", json!({ "cwd": world.text_at("project") })).await.unwrap();
        assert_eq!((&shown["handlers"], &shown["project"]["trusted"]), (&json!([]), &json!(false)));
        assert_eq!(line.call("session/list", json!({})).await, Ok(json!({ "sessions": [] })));
        assert_eq!(world.read("pwn"), None);
    });
}

#[test]
fn refuses_params_that_do_not_fit() {
    world(async |world| {
        let mut line = world.connect().await;
        let cases = [
            (json!({}), "cwd"),
            (json!([]), "params"),
            (json!({ "cwd": "" }), "cwd"),
            (json!({ "cwd": "project" }), "cwd"),
            (json!({ "cwd": 5 }), "cwd"),
            (json!({ "cwd": "/", "zzz": 1 }), "zzz"),
        ];
        refuses(&mut line, "config/show", &cases).await;
    });
}
