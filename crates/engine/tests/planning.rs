//! A plan that is made at once is the plan; one that takes longer is left to whoever can wait.
#![allow(clippy::unwrap_used, reason = "a test that fails to set up has failed")]

use hooksd_config::Snapshot;
use hooksd_config::contents::Contents;
use hooksd_config::layers::compile;
use hooksd_config::read::Found;
use hooksd_engine::plan::{Input, PayloadInput, Plan, choose, choose_at_once};
use hooksd_engine::projection::Transcripts;
use hooksd_json::{Dialect, Value};
use hooksd_protocol::diagnostic::code;

/// An expression that goes every way there is through a row of its letters.
const ENDLESS: &str = "^(a|a)*$";

fn snapshot(matchers: &[&str]) -> Snapshot {
    let group = |matcher: &&str| {
        let handler = r#"{"type":"command","command":"guard","onFailure":"block"}"#;
        format!(r#"{{"matcher":"{matcher}","hooks":[{handler},{handler}]}}"#)
    };
    let groups: Vec<String> = matchers.iter().map(group).collect();
    let document = format!(r#"{{"hooks":{{"PreToolUse":[{}]}}}}"#, groups.join(","));
    let found = Found::File(Contents::new("/hooks.json".into(), document.into_bytes()));
    compile(&found, &Found::Absent, &|_| false, &[]).snapshot
}

fn event(name: &str, tool: &str) -> Input {
    let text = format!(r#"{{"hook_event_name":"{name}","tool_name":"{tool}","cwd":"/"}}"#);
    Input::Payload(PayloadInput::read(&Value::parse(&text, Dialect::Strict).unwrap()).unwrap())
}

fn none() -> Transcripts {
    Transcripts { session: String::new(), agent: None }
}

fn slowly(snapshot: &Snapshot, input: &Input) -> Plan {
    choose(snapshot, input, &|| false).unwrap().plan(snapshot, input, &none())
}

fn unmatched(snapshot: &Snapshot, input: &Input) -> bool {
    choose_at_once(snapshot, input).is_some_and(|chosen| chosen.unmatched().is_some())
}

fn ids(plan: &Plan) -> Vec<(String, bool)> {
    plan.selected.iter().map(|selected| (selected.handler.id.clone(), selected.stdin.is_some())).collect()
}

#[test]
fn what_is_planned_at_once_is_what_is_planned() {
    let snapshot = snapshot(&["Bash", "^mcp__.*", "", "Write|Edit", "a(?=b)", "Bash"]);
    for tool in ["Bash", "mcp__x", "ab", "Edit", "bash", ""] {
        let input = event("PreToolUse", tool);
        let slowly = slowly(&snapshot, &input);
        let at_once = choose_at_once(&snapshot, &input).unwrap().plan(&snapshot, &input, &none());
        assert_eq!((ids(&at_once), at_once.diagnostics), (ids(&slowly), slowly.diagnostics), "{tool}");
    }
}

#[test]
fn an_event_is_unmatched_when_no_handler_is_for_it_whatever_the_matchers_are() {
    let snapshot = snapshot(&["Bash", "^mcp__.*"]);
    for (tool, expected) in [("Bash", false), ("mcp__x", false), ("Read", true), ("x_mcp__", true)] {
        assert_eq!(unmatched(&snapshot, &event("PreToolUse", tool)), expected, "{tool}");
    }
    assert!(unmatched(&snapshot, &event("Stop", "Bash")));
    assert!(!unmatched(&snapshot, &event("NoSuchEvent", "Read")), "it has an answer of its own");
}

#[test]
fn d7_an_expression_that_takes_long_is_never_answered_at_once() {
    let snapshot = snapshot(&["Bash", ENDLESS]);
    let input = event("PreToolUse", &format!("{}b", "a".repeat(64)));
    assert!(choose_at_once(&snapshot, &input).is_none());
    let slowly = slowly(&snapshot, &input);
    assert_eq!(slowly.diagnostics.len(), 2, "one for each handler of the group");
    assert!(slowly.diagnostics.iter().all(|diagnostic| diagnostic.code == code::MATCHER_BOUND));
    assert!(slowly.selected.iter().all(|selected| selected.stdin.is_none()), "they count as failed");
    assert_eq!(slowly.selected.len(), 2);
}

/// Many expressions that are quick each by itself are slow together.
#[test]
fn the_time_is_that_of_all_expressions_together() {
    let matchers: Vec<String> = (0..2_000).map(|number| format!("^Tool{number}.*$")).collect();
    let matchers: Vec<&str> = matchers.iter().map(String::as_str).collect();
    let input = event("PreToolUse", "x".repeat(40).as_str());
    assert!(unmatched(&snapshot(&matchers[..20]), &input));
    assert!(choose_at_once(&snapshot(&matchers), &input).is_none());
    assert_eq!(slowly(&snapshot(&matchers), &input).selected.len(), 0);
}

/// An expression that gives up at the first character has taken in the whole name before.
#[test]
fn a_long_name_is_slow_for_every_expression() {
    let snapshot = snapshot(&["^mcp__.*", "^Tool.*"]);
    let input = event("PreToolUse", &"x".repeat(64 * 1024));
    assert!(choose_at_once(&snapshot, &input).is_none());
    assert_eq!(slowly(&snapshot, &input).selected.len(), 0);
}
