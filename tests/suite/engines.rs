//! Engines that are no hooksd: one of a page, one that is wrong, and those that do not behave.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::{failed, python, told, top};

/// A guard that denies, and an event that no handler is for.
const SUITE: &str = r#"{"schema":1,"id":"x/guard","about":"a guard denies","user":"{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"<RUN>/a\"}]}]}}","handlers":{"a":{"exit":2,"stderr":"more"}},"invocation":{"context":{"thread_id":"t","cwd":"<CWD>","approval_mode":"manual"},"event":{"event":"Stop","continuation_count":0,"last_assistant_message":"bye"}},"expect":{"decision":{"continue_loop":true,"feedback":["more"]},"ran":["a"],"diagnostics":[]}}
{"schema":1,"id":"x/nothing","about":"nothing happens","handlers":{"a":{}},"invocation":{"context":{"thread_id":"t","cwd":"<CWD>","approval_mode":"manual"},"event":{"event":"Stop","continuation_count":0,"last_assistant_message":"bye"}},"expect":{"decision":{},"ran":[],"diagnostics":[]}}
"#;

/// What is said of an engine, by that suite.
fn of(engine: &str, limit: &str, status: i32) -> (TempDir, Value) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.jsonl"), SUITE).unwrap();
    let suite = folder.path().display().to_string();
    let told = told(&["--suite", &suite, "--timeout", limit, "--agent-command", engine], status);
    (folder, told)
}

/// Why the first scenario failed, where an engine answers the second one well.
fn why(misdeed: &str) -> String {
    let engine =
        format!("read -r line; case $line in *x/guard*) {misdeed};; *) echo '{{\"decision\":{{}}}}';; esac");
    let (_suite, told) = of(&engine, "5", 1);
    assert_eq!(failed(&told), ["x/guard"], "{misdeed} costs that scenario alone");
    let differences: Vec<&str> = told["failed"][0]["differences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_str().unwrap())
        .collect();
    differences.join("\n")
}

#[test]
fn a_wrong_engine_fails_precisely_what_is_wrong() {
    assert_eq!(
        why("echo '{\"decision\":{}}'"),
        "the handlers that ran: expected [\"a\"], got []\n\
         the decision: expected {\"continue_loop\":true,\"feedback\":[\"more\"]}, got {}"
    );
    // It runs the handler, and does not listen to it.
    let deaf = "echo '{}' | a; echo '{\"decision\":{\"continue_loop\":true,\"feedback\":[\"less\"]}}'";
    assert_eq!(
        why(deaf),
        "the decision: expected {\"continue_loop\":true,\"feedback\":[\"more\"]}, \
         got {\"continue_loop\":true,\"feedback\":[\"less\"]}"
    );
    let chatty = "a </dev/null; echo '{\"decision\":{\"continue_loop\":true,\"feedback\":[\"more\"],\"diagnostics\":[{\"code\":\"c\"}]}}'";
    assert_eq!(why(chatty), "the decision's diagnostics: expected [], got [{\"code\":\"c\"}]");
    let twice =
        "a </dev/null; a </dev/null; echo '{\"decision\":{\"continue_loop\":true,\"feedback\":[\"more\"]}}'";
    assert_eq!(why(twice), "the handlers that ran: expected [\"a\"], got [\"a\",\"a\"]");
}

#[test]
fn what_an_engine_does_not_support_is_counted_apart() {
    let (_suite, told) = of("echo '{\"unsupported\":\"not today\"}'", "10", 0);
    assert_eq!(told["total"]["unsupported"], 2);
    assert_eq!(told["unsupported"][0]["reason"], "not today");
}

#[test]
fn an_engine_that_does_not_behave_costs_its_scenario_and_no_more() {
    assert_eq!(why("sleep 1000"), "no answer in time (signal: 9 (SIGKILL))");
    // What it has started holds its output.
    assert_eq!(why("sleep 1000 & exit 3"), "no answer in time (exit status: 3)");
    assert_eq!(why("kill -9 $$"), "the engine ended without an answer (signal: 9 (SIGKILL))");
    assert_eq!(why("exit 0"), "the engine ended without an answer");
    assert!(why("echo nonsense").contains("the engine's line is no answer (expected"));
    assert!(why("printf '\\377\\n'").contains("the engine's line is not UTF-8"));
    assert!(why("yes").contains("the engine's line is no answer"));
    assert!(
        why("while :; do printf '%0100000d' 0; done").contains("the engine wrote more than 4194304 bytes")
    );
    assert!(why("echo '{\"decision\":[]}'").contains("the decision is not an object"));
}

#[test]
fn an_engine_of_one_page_is_measured() {
    let Some(python) = python() else { return };
    let engine = format!("{python} {}", top().join("clients/conformance/naive.py").display());
    let told = told(&["--area", "cases", "--timeout", "25", "--agent-command", &engine], 1);
    let expected = [
        "cases/deny-beside-a-timeout",
        "cases/deny-with-an-unknown-key",
        "cases/interactive-counts-persisted-trust",
        "cases/one-bad-handler",
        "cases/helper-left-running",
        "cases/stop-goes-on-eight-times",
    ];
    // How fast Python starts its handlers on a machine that does much else is not what is measured here.
    let mut failed = failed(&told);
    failed.retain(|id| *id != "cases/everything-at-once");
    assert_eq!(failed, expected);
    assert_eq!(told["total"]["unsupported"], 2);
}

#[test]
fn the_commands_that_people_type_are_an_engine_that_passes() {
    let Some(python) = python() else { return };
    let hooksctl = hooksd_tests::harness::program::path("hooksctl");
    let script = top().join("clients/conformance/through_hooksctl.py");
    let engine = format!("{python} {} {}", script.display(), hooksctl.display());
    let told =
        told(&["--area", "cases", "--area", "trust", "--timeout", "60", "--agent-command", &engine], 0);
    assert_eq!(failed(&told), [""; 0]);
    assert_eq!(told["total"]["unsupported"], 2, "{}", told["unsupported"]);
}
