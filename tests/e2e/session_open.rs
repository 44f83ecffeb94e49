//! `session/open`: pins a session to the documents that apply.

use hooksd_tests::harness::{events, world};
use serde_json::{Value, json};

use crate::{INVALID_PARAMS, refuses, with, without};

/// SHA-256 in hexadecimal, computed apart from the product.
fn sha256(text: &str) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn answers_snapshot_and_project() {
    world(async |world| {
        let user = json!({ "hooks": {
            "Stop": [{ "hooks": [{ "type": "command", "command": "true" }] }],
            "SessionStart": [{ "hooks": [{ "type": "command", "command": "true" }] }],
            "Zzz": [],
        }});
        let project = events::shell("PreToolUse", "true");
        world.user(&user);
        world.project(&project);
        let (user_path, project_path) =
            (world.text_at("config/hooks.json"), world.text_at("project/.deepagents/hooks.json"));
        let mut agent = world.agent().await;
        let project_print = sha256(&project.to_string());
        let unknown = format!(
            "{user_path}:hooks.Zzz: unknown event; known are SessionStart, UserPromptSubmit, SessionEnd, PermissionRequest, \
             Notification, PreToolUse, PostToolUse, PostToolUseFailure, PreCompact, Stop, SubagentStart, SubagentStop"
        );
        let session = agent.session().to_owned();
        let id = agent.snapshot().to_owned();
        assert!(!session.is_empty());
        assert!(
            id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase()),
            "{id}"
        );
        let untrusted = json!({
            "session": session,
            "snapshot": {
                "id": id,
                "events": ["SessionStart", "Stop"],
                "server_events": ["Stop"],
                "sources": [
                    { "scope": "project", "path": project_path, "fingerprint": project_print, "loaded": false },
                    { "scope": "user", "path": user_path, "fingerprint": sha256(&user.to_string()), "loaded": true },
                ],
                "diagnostics": [
                    {
                        "code": "invalid_config", "severity": "warning", "message": unknown,
                        "handler_id": null, "field": format!("{user_path}:hooks.Zzz"),
                    },
                    {
                        "code": "project_untrusted", "severity": "warning",
                        "message": format!("{project_path} is present but not trusted; none of its hooks is loaded"),
                        "handler_id": null, "field": project_path,
                    },
                ],
            },
            "project": {
                "root": world.text_at("project"), "hooks_present": true, "trusted": false, "fingerprint": project_print,
            },
            "environment": "daemon",
        });
        assert_eq!(agent.info, untrusted);

        agent.reload_with(json!({ "trust": "explicit", "env": {} })).await;
        assert_ne!(agent.snapshot(), id);
        let mut trusted = untrusted;
        trusted["snapshot"]["id"] = json!(agent.snapshot());
        trusted["snapshot"]["events"] = json!(["PreToolUse", "SessionStart", "Stop"]);
        trusted["snapshot"]["server_events"] = json!(["PreToolUse", "Stop"]);
        trusted["snapshot"]["sources"][0]["loaded"] = json!(true);
        trusted["snapshot"]["diagnostics"].as_array_mut().unwrap().pop();
        trusted["project"]["trusted"] = json!(true);
        trusted["environment"] = json!("session");
        assert_eq!(agent.info, trusted);
    });
}

/// Without any document there is a session all the same: nothing is configured, and that is no fault.
#[test]
fn no_document_is_no_fault() {
    world(async |world| {
        let agent = world.agent().await;
        let empty = json!({
            "id": agent.snapshot(), "events": [], "server_events": [], "sources": [], "diagnostics": [],
        });
        assert_eq!(agent.info["snapshot"], empty);
        let project = json!({
            "root": world.text_at("project"), "hooks_present": false, "trusted": false, "fingerprint": null,
        });
        assert_eq!(agent.info["project"], project);
    });
}

/// The same configuration has the same id, however it is spelled; another has another.
#[test]
fn the_snapshot_id_is_of_the_configuration() {
    world(async |world| {
        world.user_text(r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"true"}]}]}}"#);
        let first = world.agent().await;
        world.user_text(
            "{ \"description\": \"x\",\n \"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"command\":\"true\",\"type\":\"command\"}]}]}}",
        );
        let again = world.agent().await;
        assert_eq!(first.snapshot(), again.snapshot());
        assert_ne!(first.session(), again.session());
        assert_ne!(first.info["snapshot"]["sources"], again.info["snapshot"]["sources"]);
        world.user(&events::shell("PreToolUse", "false"));
        assert_ne!(world.agent().await.snapshot(), first.snapshot());
    });
}

/// The project's root is the nearest folder with git metadata; its document is the root's, not the cwd's.
#[test]
fn the_project_is_the_enclosing_repository() {
    world(async |world| {
        world.write("project/.git/HEAD", "ref: refs/heads/main\n");
        world.write("project/src/deep/file", "");
        world.project(&events::shell("PreToolUse", "true"));
        let agent = world.agent_with(json!({ "cwd": world.text_at("project/src/deep") })).await;
        assert_eq!(agent.info["project"]["root"], world.text_at("project"));
        assert_eq!(agent.info["project"]["hooks_present"], true);
    });
}

#[test]
fn refuses_params_that_do_not_fit() {
    world(async |world| {
        let mut line = world.connect().await;
        let open = world.open_params();
        let hash = "0".repeat(64);
        let cases = [
            (json!([]), "params"),
            (json!({}), "thread_id"),
            (without(&open, "thread_id"), "thread_id"),
            (with(&open, "thread_id", json!(5)), "thread_id"),
            (without(&open, "cwd"), "cwd"),
            (with(&open, "cwd", json!(5)), "cwd"),
            (with(&open, "cwd", json!("")), "cwd"),
            (with(&open, "cwd", json!("project")), "cwd"),
            (with(&open, "cwd", json!("./project")), "cwd"),
            (without(&open, "mode"), "mode"),
            (with(&open, "mode", json!("x")), "mode"),
            (with(&open, "mode", json!(1)), "mode"),
            (with(&open, "trust", json!("implicit")), "trust"),
            (with(&open, "trust", json!(true)), "trust"),
            (with(&open, "trust", json!({})), "trust.fingerprint"),
            (with(&open, "trust", json!({ "fingerprint": 5 })), "trust.fingerprint"),
            (with(&open, "trust", json!({ "fingerprint": hash, "zzz": 1 })), "trust.zzz"),
            (with(&open, "trust", json!({ "fingerprint": &hash[1..] })), "trust.fingerprint"),
            (with(&open, "trust", json!({ "fingerprint": hash.replace('0', "A") })), "trust.fingerprint"),
            (with(&open, "env", json!([])), "env"),
            (with(&open, "env", json!({ "A": 5 })), "env.A"),
            (with(&open, "plugins", json!("all")), "plugins"),
            (with(&open, "plugins", json!({})), "plugins"),
            (with(&open, "plugins", json!([5])), "plugins[0]"),
            (with(&open, "plugins", json!([{ "id": "p" }])), "plugins[0].root"),
            (with(&open, "accepts", json!("updated_input")), "accepts"),
            (with(&open, "accepts", json!(["updated_input", "zzz"])), "accepts[1]"),
            (with(&open, "follow", json!("no")), "follow"),
            (with(&open, "zzz", json!(1)), "zzz"),
        ];
        refuses(&mut line, "session/open", &cases).await;
        assert_eq!(line.call("session/list", json!({})).await, Ok(json!({ "sessions": [] })));
    });
}

/// A cwd that is not there, or is a file, is no error: handlers have somewhere to run (D3), nothing of it is trusted.
#[test]
fn a_cwd_that_is_not_there_opens_untrusted() {
    world(async |world| {
        world.write("file", "");
        for cwd in ["gone", "file"] {
            let agent = world.agent_with(json!({ "cwd": world.text_at(cwd), "trust": "explicit" })).await;
            let root = json!({
                "root": world.text_at(cwd), "hooks_present": false, "trusted": false, "fingerprint": null,
            });
            assert_eq!(agent.info["project"], root);
        }
        let mut line = world.connect().await;
        let refusal = line.refusal("session/open", with(&world.open_params(), "cwd", json!("a\u{0}b"))).await;
        assert_eq!(refusal, (INVALID_PARAMS, json!({ "field": "cwd" })));
    });
}

/// However deep a value is nested, it costs its line and not the process.
#[test]
fn deep_nesting_costs_its_line() {
    world(async |world| {
        let mut line = world.connect().await;
        for (open, close) in [("[", "]"), ("{\"fingerprint\":", "}"), ("[{\"id\":", "}]")] {
            for (field, depth) in
                [("trust", 1_500), ("plugins", 1_500), ("trust", 300_000), ("plugins", 300_000)]
            {
                let deep = format!(r#""{field}":{}0{}"#, open.repeat(depth), close.repeat(depth));
                let session = format!(r#"{{"thread_id":"t","cwd":"/","mode":"headless",{deep}}}"#);
                for (id, method, params) in [
                    (1, "session/open", session.clone()),
                    (2, "session/reload", format!(r#"{{"session":"s",{deep}}}"#)),
                    (
                        3,
                        "hook/invoke",
                        format!(r#"{{"session":{session},"payload":{{"hook_event_name":"Stop"}}}}"#),
                    ),
                ] {
                    line.send_line(&format!(
                        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#
                    ))
                    .await;
                    let answer = line.message().await;
                    assert_eq!(answer["id"], id);
                    assert_eq!(answer["error"]["code"], -32602, "{method} {field} {depth}");
                }
            }
        }
    });
}

/// What no process could be given is refused, with its name, before a guard fails by it.
#[test]
fn an_impossible_environment_is_refused() {
    world(async |world| {
        let mut line = world.connect().await;
        let mut params = world.open_params();
        params["env"] = json!({ "PATH": "/bin", "BIG": "x".repeat(200_000) });
        assert_eq!(
            line.refusal("session/open", params.clone()).await,
            (-32602, json!({ "field": "env.BIG" }))
        );
        let many: serde_json::Map<String, Value> =
            (0..20).map(|number| (format!("V{number}"), json!("x".repeat(100_000)))).collect();
        params["env"] = json!(many);
        assert_eq!(line.refusal("session/open", params).await, (-32602, json!({ "field": "env" })));
    });
}
