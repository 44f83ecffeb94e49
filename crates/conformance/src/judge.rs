//! Whether what came of a scenario is what has to come of it.

use std::time::{Duration, Instant};

use hooksd_json::{Dialect, Kind, Value as Json};
use serde_json::{Map, Value, json};

use crate::engine::EngineAnswer;
use crate::layout::World;
use crate::record;
use crate::scenario::Scenario;

/// What a loaded machine may add to the longest time. Seconds.
const SLACK: f64 = 10.0;

/// How long what is expected of commands in the background is waited for. Seconds; one more than such a command may run.
const BACKGROUND_SECONDS: u64 = 6;

/// How long to wait between two looks for it. Milliseconds.
const LOOK_MS: u64 = 10;

/// The most that is shown of a value. Characters.
const SHOWN: usize = 600;

/// What came of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All that was looked at is as it has to be.
    Passed {
        /// Whether diagnostics were expected and the engine tells none.
        is_without_diagnostics: bool,
    },
    /// What is not as it has to be.
    Failed(Vec<String>),
    /// The engine's own words.
    Unsupported(String),
}

/// Looks at everything that the scenario expects.
pub(crate) fn judge(scenario: &Scenario, world: &World, answer: &EngineAnswer, took: Duration) -> Outcome {
    let expect = &scenario.expect;
    wait_for_background(scenario, world);
    let mut wrong = Vec::new();
    let mut is_without_diagnostics = false;
    if let Some(expected) = &expect.ran {
        let names = scenario.handlers.keys();
        let ran: Vec<&str> = names
            .flat_map(|name| std::iter::repeat_n(name.as_str(), record::times(world, name).min(100)))
            .collect();
        differs("the handlers that ran", &json!(expected), &json!(ran), &mut wrong);
    }
    let decision = answer.decision.as_ref().and_then(Value::as_object);
    if answer.decision.is_some() && decision.is_none() {
        wrong.push("the decision is not an object".to_owned());
    }
    if let Some(expected) = &expect.decision {
        let got = world.placeholders(&Value::Object(said(decision)).to_string());
        let got = serde_json::from_str(&got).unwrap_or_default();
        let expected = Value::Object(said(expected.as_object()));
        differs("the decision", &expected, &got, &mut wrong);
    }
    let diagnostics = decision.and_then(|decision| decision.get("diagnostics")?.as_array());
    for (what, expected, got) in [
        ("the decision's diagnostics", expect.diagnostics.as_ref(), diagnostics),
        ("the documents' diagnostics", expect.load_diagnostics.as_ref(), answer.load_diagnostics.as_ref()),
    ] {
        match (expected, got) {
            (Some(expected), Some(got)) => {
                let got = world.placeholders(&remarks(&of_the_whole(expected, got)).to_string());
                let expected = remarks(expected);
                differs(what, &expected, &serde_json::from_str(&got).unwrap_or_default(), &mut wrong);
            }
            (Some(expected), None) => is_without_diagnostics |= !expected.is_empty(),
            (None, _) => {}
        }
    }
    for (name, expected) in &expect.stdin {
        let read = world.placeholders(&record::stdin(world, name).unwrap_or_default());
        if !same_json(expected, &read) {
            wrong.push(told(&format!("what handler {name} read"), expected, &read));
        }
    }
    for (handler, variables) in &expect.env {
        for (name, expected) in variables {
            let got = record::variable(world, handler, name);
            differs(
                &format!("variable {name} of handler {handler}"),
                &json!(expected),
                &json!(got),
                &mut wrong,
            );
        }
    }
    for (path, expected) in &expect.files {
        let got = record::read_file(world.real(path).as_ref()).map(|text| world.placeholders(&text));
        if got.as_ref().is_none_or(|got| got != expected && !same_json(expected, got)) {
            wrong.push(told(path, expected, &got.unwrap_or_else(|| "no file".to_owned())));
        }
    }
    if let Some((least, most)) = expect.seconds {
        let took = took.as_secs_f64();
        if !(least..=most + SLACK).contains(&took) {
            wrong.push(format!("it took {took:.3} s, expected {least} to {most} s"));
        }
    }
    if wrong.is_empty() { Outcome::Passed { is_without_diagnostics } } else { Outcome::Failed(wrong) }
}

/// Commands of the older, list-shaped form hold up no answer: what they leave may come after it. Waits until all that is
/// expected is there, or until such a command would have been killed.
fn wait_for_background(scenario: &Scenario, world: &World) {
    let expect = &scenario.expect;
    let ran = expect.ran.iter().flatten();
    let is_there =
        |path: &String| record::read_file(world.real(path).as_ref()).is_some_and(|text| !text.is_empty());
    let times = |name: &String| ran.clone().filter(|other| *other == name).count();
    let has_run =
        |name: &String| record::times(world, name) >= times(name) && record::stdin(world, name).is_some();
    let all_ran = || ran.clone().all(has_run);
    let until = Instant::now() + Duration::from_secs(BACKGROUND_SECONDS);
    while !(all_ran() && expect.files.keys().all(is_there)) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(LOOK_MS));
    }
}

/// The diagnostics without those on single items of a list-shaped document, where the expected ones speak of the document
/// as a whole: an engine may say more of what it leaves out.
fn of_the_whole(expected: &[Value], got: &[Value]) -> Vec<Value> {
    let is_code = |diagnostic: &Value, code: &str| diagnostic.get("code").is_some_and(|found| found == code);
    let expects = |code: &str| expected.iter().any(|diagnostic| is_code(diagnostic, code));
    if !expects("legacy_deprecated") {
        return got.to_vec();
    }
    let is_of_an_item = |diagnostic: &Value| {
        let field = diagnostic.get("field").and_then(Value::as_str).unwrap_or_default();
        (is_code(diagnostic, "invalid_config") && field.contains(":hooks["))
            || (is_code(diagnostic, "legacy_unmapped") && !expects("legacy_unmapped"))
    };
    got.iter().filter(|diagnostic| !is_of_an_item(diagnostic)).cloned().collect()
}

/// What a decision says beyond what no hook would have said, of what is looked at.
fn said(decision: Option<&Map<String, Value>>) -> Map<String, Value> {
    let quiet = json!({
        "continue_processing": true, "stop_reason": null, "user_notices": [], "terminal_sequences": [], "context": [],
        "feedback": [], "continue_loop": false, "suppress_original_prompt": false,
        "permission": { "behavior": "none", "reason": null, "interrupt": false },
    });
    let (Some(decision), Some(quiet)) = (decision, quiet.as_object()) else { return Map::new() };
    let mut said = Map::new();
    for (name, quiet) in quiet {
        let Some(value) = decision.get(name).filter(|value| !value.is_null()) else { continue };
        let value = match (quiet.as_object(), value.as_object()) {
            // What is left out of a permission is quiet, too.
            (Some(quiet), Some(value)) => {
                let member = |name: &String, quiet: &Value| value.get(name).unwrap_or(quiet).clone();
                Value::Object(quiet.iter().map(|(name, quiet)| (name.clone(), member(name, quiet))).collect())
            }
            _ => value.clone(),
        };
        if value != *quiet {
            said.insert(name.clone(), value);
        }
    }
    said
}

/// Diagnostics by what does not change with their wording.
fn remarks(diagnostics: &[Value]) -> Value {
    let one = |remark: &Value| {
        let members = ["code", "severity", "handler_id", "field"];
        let member = |name: &&str| {
            Some(((*name).to_owned(), remark.get(*name).filter(|value| !value.is_null())?.clone()))
        };
        Value::Object(members.iter().filter_map(member).collect())
    };
    diagnostics.iter().map(one).collect()
}

fn differs(what: &str, expected: &Value, got: &Value, wrong: &mut Vec<String>) {
    if expected != got {
        wrong.push(told(what, &expected.to_string(), &got.to_string()));
    }
}

fn told(what: &str, expected: &str, got: &str) -> String {
    let short = |text: &str| match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    };
    format!("{what}: expected {}, got {}", short(expected), short(got))
}

/// Whether two texts are the same JSON: integers digit for digit, other numbers as doubles, members in any order.
fn same_json(expected: &str, got: &str) -> bool {
    match (Json::parse(expected, Dialect::Strict), Json::parse(got, Dialect::Strict)) {
        (Ok(expected), Ok(got)) => same(&expected, &got),
        _ => false,
    }
}

fn same(a: &Json<'_>, b: &Json<'_>) -> bool {
    match (a.kind(), b.kind()) {
        (Kind::Object, Kind::Object) => {
            let (a, b) = (a.entries(), b);
            a.len() == b.entries().len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, &other)))
        }
        (Kind::Array, Kind::Array) => {
            let (a, b) = (a.items(), b.items());
            a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same(a, b))
        }
        (Kind::Number(a), Kind::Number(b)) => {
            let is_whole = |text: &str| !text.contains(['.', 'e', 'E']);
            match (is_whole(a), is_whole(b)) {
                (true, true) => a == b || [a, b].iter().all(|text| text.trim_start_matches('-') == "0"),
                (false, false) => a.parse::<f64>().ok() == b.parse::<f64>().ok(),
                _ => false,
            }
        }
        (a, b) => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_json_is_the_same_however_it_is_written() {
        assert!(same_json(r#"{"a": 1, "b": "\u00fc", "a": [1e1]}"#, r#"{"b":"ü","a":[10.0]}"#));
        assert!(same_json("-0", "0"));
        for (a, b) in
            [("1", "1.0"), ("100000000000000000001", "100000000000000000000"), ("[1]", "[1,2]"), ("{}", "")]
        {
            assert!(!same_json(a, b), "{a} {b}");
        }
    }

    #[test]
    fn what_is_quiet_is_not_said() {
        let said = |value: Value| Value::Object(said(value.as_object()));
        assert_eq!(
            said(json!({"context": [], "permission": {}, "stop_reason": null, "other": 1})),
            json!({})
        );
        let denied = json!({"permission": {"behavior": "deny", "reason": null, "interrupt": false}});
        assert_eq!(said(json!({"permission": {"behavior": "deny"}})), denied);
    }
}
