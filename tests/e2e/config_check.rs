//! `config/check`: diagnostics of a document without loading it.

use hooksd_tests::harness::{events, world};
use serde_json::json;

use crate::refuses;

#[test]
fn checks_text_and_files() {
    world(async |world| {
        let mut line = world.connect().await;
        let document = json!({ "hooks": {
            "PreToolUse": [
                { "matcher": "B[a", "hooks": [{ "type": "command", "command": "true" }] },
                { "hooks": [{ "type": "command", "command": "true" }, { "type": "prompt", "command": "x" }] },
            ],
        }});
        let expected = |location: &str, matcher: &serde_json::Value, path: &str| {
            json!({
                "usable": true,
                "handlers": 1,
                "diagnostics": [
                    {
                        "code": "invalid_config", "severity": "warning", "handler_id": null,
                        "message": format!("{location}:hooks.PreToolUse[1].hooks[1]: type: only \"command\" is supported, not \"prompt\""),
                        "field": format!("{location}:hooks.PreToolUse[1].hooks[1]"),
                    },
                    {
                        "code": "invalid_matcher", "severity": "warning", "handler_id": null,
                        "message": matcher, "field": path,
                    },
                ],
            })
        };
        let result = line.call("config/check", json!({ "document": document.to_string() })).await.unwrap();
        let message = &result["diagnostics"][1]["message"];
        assert!(message.as_str().unwrap().contains("B[a"), "{message}");
        assert_eq!(result, expected("document", message, "matcher"));

        let path = world.write("some.json", document.to_string());
        let path = path.to_str().unwrap();
        let result = line.call("config/check", json!({ "path": path, "scope": "project" })).await.unwrap();
        assert_eq!(result, expected(path, &result["diagnostics"][1]["message"], "matcher"));
        // Nothing of it is loaded.
        assert!(world.agent().await.info["snapshot"]["events"].as_array().unwrap().is_empty());
    });
}

#[test]
fn says_why_a_document_is_unusable() {
    world(async |world| {
        let mut line = world.connect().await;
        let gone = world.text_at("gone.json");
        let unusable = |message: String, location: &str| {
            json!({ "usable": false, "handlers": 0, "diagnostics": [{
                "code": "config_read_failed", "severity": "warning", "message": message, "handler_id": null, "field": location,
            }]})
        };
        let message =
            format!("{gone} is not there, or is not a regular file; none of its hooks would be loaded");
        assert_eq!(line.call("config/check", json!({ "path": gone })).await, Ok(unusable(message, &gone)));

        let result = line.call("config/check", json!({ "document": "{bad" })).await.unwrap();
        let message = result["diagnostics"][0]["message"].as_str().unwrap().to_owned();
        assert!(message.starts_with("document is not JSON: "), "{message}");
        assert_eq!(result, unusable(message, "document"));
    });
}

/// A list-shaped document is migrated as the user's and refused as a plugin's.
#[test]
fn the_scope_decides_about_the_older_form() {
    world(async |world| {
        let mut line = world.connect().await;
        let document = json!({ "hooks": [{ "command": ["true"], "events": ["session.start"] }] }).to_string();
        let result = line.call("config/check", json!({ "document": document })).await.unwrap();
        assert_eq!(
            (&result["usable"], result["handlers"].as_u64().unwrap() > 0),
            (&json!(true), true),
            "{result}"
        );
        let result =
            line.call("config/check", json!({ "document": document, "scope": "plugin" })).await.unwrap();
        assert_eq!((&result["usable"], &result["handlers"]), (&json!(false), &json!(0)), "{result}");
    });
}

#[test]
fn refuses_params_that_do_not_fit() {
    world(async |world| {
        let mut line = world.connect().await;
        let good = events::shell("Stop", "true").to_string();
        let cases = [
            (json!({}), "path"),
            (json!([]), "params"),
            (json!({ "path": "hooks.json" }), "path"),
            (json!({ "path": 5 }), "path"),
            (json!({ "path": "/x", "document": good }), "path"),
            (json!({ "document": {} }), "document"),
            (json!({ "document": good, "scope": "zzz" }), "scope"),
            (json!({ "document": good, "zzz": 1 }), "zzz"),
        ];
        refuses(&mut line, "config/check", &cases).await;
    });
}
