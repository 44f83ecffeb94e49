//! hooks.json in both of its forms.

use std::path::PathBuf;

use hooksd_config::contents::Contents;
use hooksd_config::document::{ListForm, parse_bytes};
use hooksd_config::layers::{Loaded, PluginDocument, compile};
use hooksd_config::matcher::{Matched, Matcher};
use hooksd_config::read::Found;
use hooksd_config::{Handler, Snapshot, check, legacy as list_form, places};
use hooksd_json::{Dialect, Value};
use hooksd_protocol::event::EventName;
use hooksd_protocol::methods::Scope;

use super::shape::{Words, spaced};
use super::text;

pub(super) const DOCUMENT: Words = Words(&[
    "hooks",
    "PreToolUse",
    "Stop",
    "UserPromptSubmit",
    "SessionStart",
    "Notification",
    "matcher",
    "type",
    "command",
    "argv",
    "timeout",
    "statusMessage",
    "async",
    "onFailure",
    "block",
    "ignore",
    "lifecycle",
    "prewarmed",
    "persistent",
    "workers",
    "Bash",
    "Edit|Write",
    "^mcp__",
    "(?!",
    "*",
    "",
    "guard",
    "${PLUGIN_ROOT}/x",
    "hooksctl hook --agent codex",
    r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"guard"}]}]}}"#,
    r#"[{"matcher":"Bash|Edit","hooks":[{"type":"command","command":"guard","timeout":1e-5,"onFailure":"bloc"}]}]"#,
    r#"[{"type":"command","command":"","argv":["a","b"]}]"#,
]);

pub(super) const LEGACY: Words = Words(&[
    "hooks",
    "command",
    "events",
    "session.start",
    "user.prompt",
    "task.complete",
    "input.required",
    "session.end",
    "context.offload",
    "context.compact",
    "tool.use",
    "tool.result",
    "user.name.set",
    "nonsense",
    "true",
    "",
    r#"{"hooks":[{"command":["old","arg"],"events":["session.start","task.complete"]},{"command":["all"]}]}"#,
    r#"[{"command":["old"],"events":[]}]"#,
    r#"[{"command":["old"],"events":null},{"command":[]},{"events":["session.end"]}]"#,
]);

/// Names that matchers are tried on.
const SUBJECTS: [&str; 8] = ["Bash", "Edit", "", "mcp__a__b", "guard", "agent_completed", "manual", "ü\n"];

fn file(name: &str, bytes: &[u8]) -> Found {
    Found::File(Contents::new(PathBuf::from(name), bytes))
}

fn user(bytes: &[u8]) -> Loaded {
    compile(&file("/user/hooks.json", bytes), &Found::Absent, &|_| false, &[])
}

fn commands(snapshot: &Snapshot) -> Vec<(EventName, Option<String>, String)> {
    let each = |handler: &Handler| (handler.event, handler.matcher_text.clone(), handler.command.clone());
    snapshot.handlers().iter().map(each).collect()
}

/// What could be used can run, is found by its matchers, and has one id however it is written.
pub(super) fn documents(data: &[u8]) {
    let data = text(data, DOCUMENT);
    let alone = user(&data);
    well_formed(&alone.snapshot);
    assert_eq!(user(&data).snapshot.id, alone.snapshot.id);
    found_by_matchers(&alone.snapshot);
    same_id_when_spaced(&data, &alone.snapshot);
    in_order(&data, &alone.snapshot);
    let checked = check::text(&data, "/user/hooks.json", Scope::User);
    assert_eq!(checked.handlers, alone.snapshot.handlers().len());
    if let Some(text) = places::text(&data) {
        let _ = places::groups(text);
    }
}

fn well_formed(snapshot: &Snapshot) {
    assert!(serde_json::from_str::<&serde_json::value::RawValue>(&snapshot.canonical).is_ok());
    assert_eq!(snapshot.id, hooksd_config::contents::fingerprint(snapshot.canonical.as_bytes()));
    let mut ids: Vec<&str> = snapshot.handlers().iter().map(|handler| handler.id.as_str()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "ids are unique");
    for handler in snapshot.handlers() {
        assert!(handler.id.starts_with(&format!("{}:", handler.event)), "{}", handler.id);
        assert!(handler.timeout.is_none_or(|seconds| seconds > 0.0 && seconds.is_finite()));
        let is_runnable = |argv: &Vec<String>| {
            argv.first().is_some_and(|program| handler.legacy.is_some() || !program.trim().is_empty())
        };
        assert!(handler.argv.as_ref().is_none_or(is_runnable), "{:?}", handler.argv);
        assert!((1..=hooksd_config::lifecycle::MAX_WORKERS).contains(&handler.workers));
    }
    for diagnostic in &snapshot.diagnostics {
        assert!(!diagnostic.message.is_empty());
    }
}

/// The index leaves out only handlers whose matchers say no.
fn found_by_matchers(snapshot: &Snapshot) {
    for event in EventName::ALL {
        for subject in SUBJECTS.map(Some).into_iter().chain([None]) {
            let wanted = |handler: &&Handler| handler.matcher.matches(subject) != Matched::No;
            let all: Vec<&str> =
                snapshot.handlers_of(event).filter(wanted).map(|handler| handler.id.as_str()).collect();
            let indexed: Vec<&str> = snapshot
                .candidates(event, subject)
                .map(|(_, handler)| handler)
                .filter(wanted)
                .map(|handler| handler.id.as_str())
                .collect();
            assert_eq!(indexed, all, "{event} {subject:?}");
        }
    }
}

fn same_id_when_spaced(data: &[u8], snapshot: &Snapshot) {
    let bytes = data.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(data);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if Value::parse(text, Dialect::Python).is_ok() {
        let spaced = user(spaced(text).as_bytes());
        assert_eq!(spaced.snapshot.id, snapshot.id);
        assert_eq!(commands(&spaced.snapshot), commands(snapshot));
    }
}

/// Project before user before plugin, each in its own order; an untrusted project changes nothing.
fn in_order(data: &[u8], alone: &Snapshot) {
    const PROJECT: &[u8] =
        br#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"of the project"}]}]}}"#;
    let plugin = PluginDocument {
        plugin_id: "p@m".to_owned(),
        location: "/plugin/hooks.json".to_owned(),
        env: vec![("PLUGIN_ROOT".to_owned(), "/plugin".to_owned())],
        document: String::from_utf8_lossy(PROJECT).replace("project", "plugin"),
    };
    let (user, project) = (file("/user/hooks.json", data), file("/project/hooks.json", PROJECT));
    let untrusted = compile(&user, &project, &|_| false, &[]);
    assert_eq!(untrusted.snapshot.id, alone.id);
    let merged = compile(&user, &project, &|_| true, std::slice::from_ref(&plugin)).snapshot;
    let of = |snapshot: &Snapshot| -> Vec<String> {
        snapshot.handlers_of(EventName::PreToolUse).map(|handler| handler.command.clone()).collect()
    };
    let mut expected = vec!["of the project".to_owned()];
    expected.extend(of(alone));
    expected.push("of the plugin".to_owned());
    assert_eq!(of(&merged), expected);
    // Plugins may not have the list form, and no document of theirs reaches another's.
    let document = String::from_utf8_lossy(data).into_owned();
    let twice = [PluginDocument { document, ..plugin.clone() }, plugin];
    let merged = compile(&Found::Absent, &Found::Absent, &|_| false, &twice).snapshot;
    assert_eq!(of(&merged).last().map(String::as_str), Some("of the plugin"));
}

/// Commands of the older form run as they were declared, directly, within five seconds, and fail nobody.
pub(super) fn legacy(data: &[u8]) {
    let data = text(data, LEGACY);
    let parsed = parse_bytes(&data, "/user/hooks.json", ListForm::Allowed);
    let refused = parse_bytes(&data, "/user/hooks.json", ListForm::Refused);
    assert!(refused.legacy.is_empty());
    for command in &parsed.legacy {
        assert!(!command.argv.is_empty());
        assert!(
            command.events.as_ref().is_none_or(|events| events.iter().all(|event| event.len() <= data.len()))
        );
    }
    let loaded = user(&data);
    assert_eq!(loaded.snapshot.legacy, parsed.legacy);
    same_id_when_spaced(&data, &loaded.snapshot);
    for handler in loaded.snapshot.handlers() {
        let Some(event) = handler.legacy else { continue };
        assert_eq!(event.equivalent().0, handler.event);
        assert_eq!(handler.timeout, Some(list_form::LEGACY_TIMEOUT_SECONDS));
        let argv = handler.argv.as_ref().expect("run directly");
        assert!(parsed.legacy.iter().any(|command| &command.argv == argv));
        assert!(matches!(*handler.matcher, Matcher::All | Matcher::Exact(_)));
    }
}
