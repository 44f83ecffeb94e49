//! Frames of each released protocol version, replayed: what an agent of that version sends is still answered as it
//! expects. A field more is no difference, a field less or another value is.
//!
//! `tests/golden/v1.jsonl`: `send` goes out, `take` is the next line that comes back. `$W` is the test's folder, `$any`
//! fits anything, another `$name` is what it was first.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hooksd_tests::harness::world;
use serde_json::{Value, json};

/// What names stand for.
type Names = BTreeMap<String, String>;

fn filled(frame: &str, names: &Names) -> String {
    names.iter().fold(frame.to_owned(), |frame, (name, value)| frame.replace(&format!("${name}"), value))
}

/// Everything that is expected is there.
fn fits(expected: &Value, got: &Value, names: &mut Names) -> Result<(), String> {
    match (expected, got) {
        (Value::String(any), _) if any == "$any" => Ok(()),
        (Value::String(name), Value::String(value)) if name.starts_with('$') && !name.contains('/') => {
            names.insert(name[1..].to_owned(), value.clone());
            Ok(())
        }
        (Value::Object(expected), Value::Object(got)) => expected.iter().try_for_each(|(key, expected)| {
            let got = got.get(key).ok_or_else(|| format!("{key} is missing"))?;
            fits(expected, got, names).map_err(|error| format!("{key}: {error}"))
        }),
        (Value::Array(expected), Value::Array(got)) if expected.len() == got.len() => {
            expected.iter().zip(got).try_for_each(|(expected, got)| fits(expected, got, names))
        }
        (expected, got) if expected == got => Ok(()),
        (expected, got) => Err(format!("expected {expected}, got {got}")),
    }
}

#[test]
fn b73_frames_of_version_1_are_answered_as_ever() {
    world(async |world| {
        let group = |command: &str| json!([{ "hooks": [{ "type": "command", "command": command }] }]);
        world.user(&json!({ "hooks": {
            "PreToolUse": group("echo no >&2; exit 2"), "Stop": group("echo go on >&2; exit 2"),
        } }));
        let mut names = Names::from([("W".to_owned(), world.text_at("").trim_end_matches('/').to_owned())]);
        let mut line = world.connect().await;
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/v1.jsonl");
        let mut frames = 0;
        for frame in fs::read_to_string(path).unwrap().lines() {
            let frame: Value = serde_json::from_str(&filled(frame, &names)).unwrap();
            if let Some(send) = frame.get("send") {
                line.send_line(&send.to_string()).await;
                continue;
            }
            let got: Value = serde_json::from_str(&line.next_line().await.unwrap()).unwrap();
            fits(&frame["take"], &got, &mut names).unwrap_or_else(|error| panic!("{error}\nin {got}"));
            frames += 1;
        }
        assert_eq!(frames, 11);
        assert_eq!(line.next_line().await, None);
        world.ended().await;
    });
}

/// The comparison itself notices what is missing and what is another.
#[test]
fn a_difference_is_noticed() {
    let fit = |expected: Value, got: Value| fits(&expected, &got, &mut Names::new()).is_ok();
    assert!(fit(json!({ "a": 1 }), json!({ "a": 1, "b": 2 })));
    assert!(!fit(json!({ "a": 1, "b": 2 }), json!({ "a": 1 })));
    assert!(!fit(json!({ "a": [1] }), json!({ "a": [1, 2] })));
    assert!(!fit(json!({ "a": "x" }), json!({ "a": "y" })));
}
