//! What goes wrong around handlers: fail-closed ones (D8), a folder that is gone (D3), our own bridge (D15), and that
//! one failure costs itself alone (D18).

use std::fs;

use hooksd_tests::harness::{decision, deny, events, world};
use serde_json::{Value, json};

/// Each way to fail, how its status is told, what its diagnostic is, and a part of the cause.
const FAILURES: [(&str, &str, &str); 8] = [
    ("argv", "launch_failed", "/nonexistent/guard"),
    ("sleep 30", "timeout", "within its time"),
    ("kill -9 $$", "nonzero_exit", "signal 9"),
    ("exit 3", "nonzero_exit", "status 3"),
    ("echo 42", "invalid_output", "expected a JSON object"),
    ("echo Welcome", "malformed_json", "Welcome"),
    ("  ", "invalid_command", "empty command"),
    ("echo '{\"hookSpecificOutput\":{\"hookEventName\":\"Stop\"}}'", "mismatched_output", "for Stop"),
];

fn failing(command: &str, on_failure: Value) -> Value {
    let mut handler =
        json!({ "type": "command", "command": command, "timeout": 0.3, "onFailure": on_failure });
    if command == "argv" {
        handler["argv"] = json!(["/nonexistent/guard"]);
    }
    handler
}

fn field(code: &str) -> &'static str {
    if code == "mismatched_output" { " hookSpecificOutput.hookEventName" } else { "" }
}

/// D8: a fail-closed handler that fails in any way blocks, with a reason that says so.
#[test]
fn d8_a_fail_closed_handler_blocks_however_it_fails() {
    world(async |world| {
        for (command, code, cause) in FAILURES {
            let document = events::hooks("PreToolUse", json!([failing(command, json!("block"))]));
            let answer = world.agent_of(&document).await.invoke(&events::pre()).await;
            let reason = answer.reason();
            assert!(
                reason.contains("PreToolUse:0:0") && reason.contains("failed") && reason.contains(cause),
                "{reason}"
            );
            let diagnostics = [
                format!("{code} PreToolUse:0:0{}", field(code)),
                "failure_blocked PreToolUse:0:0 onFailure".to_owned(),
            ];
            let expected = json!({ "permission": deny(reason), "diagnostics": diagnostics });
            assert_eq!(answer.decision(), decision("PreToolUse", expected));
            assert!(answer.handlers()[0].starts_with("PreToolUse:0:0 blocked"), "{:?}", answer.handlers());
        }
    });
}

/// The default, and "ignore", is a diagnostic and nothing else.
#[test]
fn d8_by_default_a_failure_is_a_diagnostic() {
    world(async |world| {
        for on_failure in [Value::Null, json!("ignore")] {
            for (command, code, _) in FAILURES {
                let document = events::hooks("PreToolUse", json!([failing(command, on_failure.clone())]));
                let answer = world.agent_of(&document).await.invoke(&events::pre()).await;
                let expected = json!({ "diagnostics": [format!("{code} PreToolUse:0:0{}", field(code))] });
                assert_eq!(answer.decision(), decision("PreToolUse", expected));
            }
        }
    });
}

/// A handler that runs and has nothing against it does not block, and its own words for a block are kept.
#[test]
fn d8_success_does_not_block() {
    world(async |world| {
        let handlers = |command: &str| events::hooks("PreToolUse", json!([failing(command, json!("block"))]));
        let answer = world.agent_of(&handlers("true")).await.invoke(&events::pre()).await;
        assert_eq!(answer.decision(), decision("PreToolUse", json!({})));
        let answer = world.agent_of(&handlers("echo mine >&2; exit 2")).await.invoke(&events::pre()).await;
        assert_eq!(answer.decision(), decision("PreToolUse", json!({ "permission": deny("mine") })));
    });
}

/// What a block means depends on the event, for a failed guard too.
#[test]
fn d8_a_block_means_what_it_means_on_the_event() {
    world(async |world| {
        let handler = json!([{ "hooks": [failing("exit 3", json!("block"))] }]);
        world.user(
            &json!({ "hooks": { "UserPromptSubmit": handler, "Stop": handler, "PostToolUse": handler } }),
        );
        let mut agent = world.agent().await;
        let prompt = agent.invoke(&events::prompt()).await.decision();
        assert_eq!(
            (&prompt["continue_processing"], prompt["stop_reason"].is_string()),
            (&json!(false), true)
        );
        let stop = agent.invoke(&events::stop(0)).await.decision();
        assert_eq!((&stop["continue_loop"], stop["feedback"].as_array().unwrap().len()), (&json!(true), 1));
        let post = agent.invoke(&events::post()).await.decision();
        assert_eq!(post["feedback"].as_array().unwrap().len(), 1);
    });
}

/// A misspelled key fails closed, and is said to be misspelled.
#[test]
fn d8_a_misspelled_word_fails_closed() {
    world(async |world| {
        for odd in [json!("Block"), json!("deny"), json!(true), json!(["block"])] {
            let document = events::hooks("PreToolUse", json!([failing("exit 3", odd)]));
            let mut agent = world.agent_of(&document).await;
            assert_eq!(agent.load_diagnostics(), ["invalid_config hooks.PreToolUse[0].hooks[0].onFailure"]);
            assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
        }
    });
}

/// D3: with its cwd gone, a handler runs in the project's root, else at home; its payload keeps the cwd.
#[test]
fn d3_handlers_run_elsewhere_when_the_cwd_is_gone() {
    world(async |world| {
        world.write("project/.git/HEAD", "ref: refs/heads/main\n");
        world.write("project/wt/file", "");
        let cwd = world.text_at("project/wt");
        world.user(&json!({ "hooks": {
            "SessionStart": [{ "hooks": [{ "type": "command", "command": "pwd; grep -o '\"cwd\":\"[^\"]*\"'" }] }],
            "PreToolUse": [{ "hooks": [{ "type": "command", "command": "exit 2" }] }],
        }}));
        let mut agent = world.agent_with(json!({ "cwd": cwd })).await;
        assert_eq!(
            agent.invoke(&events::session_start()).await.context(),
            [format!("{cwd}\n\"cwd\":\"{cwd}\"")]
        );
        for (remove, folder) in [("project/wt", "project"), ("project", "home")] {
            fs::remove_dir_all(world.at(remove)).unwrap();
            let answer = agent.invoke(&events::session_start()).await;
            let expected = json!({
                "context": [format!("{}\n\"cwd\":\"{cwd}\"", world.text_at(folder))],
                "diagnostics": ["cwd_missing SessionStart:0:0 cwd"],
            });
            assert_eq!(answer.decision(), decision("SessionStart", expected));
            assert!(answer.message("cwd_missing").contains(&world.text_at(folder)));
        }
        // The guard stands.
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
        // Without any folder to run in, the folder is to blame, not the shell.
        fs::remove_dir_all(world.at("home")).unwrap();
        let answer = agent.invoke(&events::pre()).await;
        assert_eq!(
            answer.decision(),
            decision("PreToolUse", json!({ "diagnostics": ["launch_failed PreToolUse:0:0"] }))
        );
        assert!(answer.message("launch_failed").contains(&cwd), "{}", answer.message("launch_failed"));
    });
}

/// D18: whatever else fails on the same event, a deny counts.
#[test]
fn d18_a_deny_counts_beside_any_failure() {
    world(async |world| {
        let mut handlers: Vec<Value> =
            FAILURES.iter().map(|(command, ..)| failing(command, json!("ignore"))).collect();
        handlers.push(json!({ "type": "command", "command": "cat $DENY" }));
        let answer =
            world.agent_of(&events::hooks("PreToolUse", json!(handlers))).await.invoke(&events::pre()).await;
        let diagnostics: Vec<String> = FAILURES
            .iter()
            .enumerate()
            .map(|(number, (_, code, _))| format!("{code} PreToolUse:0:{number}{}", field(code)))
            .collect();
        let expected = json!({ "permission": deny("no"), "diagnostics": diagnostics });
        assert_eq!(answer.decision(), decision("PreToolUse", expected));
    });
}
