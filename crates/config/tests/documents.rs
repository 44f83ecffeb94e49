//! Documents to snapshots through real files.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that fails to set up has failed")]

use std::fs;
use std::path::Path;

use hooksd_config::layers::{Loaded, load};
use hooksd_protocol::event::EventName;

fn load_user(document: &str) -> (tempfile::TempDir, Loaded) {
    let folder = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(folder.path()).unwrap().join("hooks.json");
    fs::write(&path, document).unwrap();
    let loaded = load(&path, None, &|_| false, &[]);
    (folder, loaded)
}

fn fields(loaded: &Loaded, folder: &Path) -> Vec<(String, String)> {
    let path = fs::canonicalize(folder).unwrap().join("hooks.json").display().to_string();
    let diagnostics = loaded.snapshot.diagnostics.iter();
    diagnostics
        .map(|diagnostic| {
            (diagnostic.code.clone(), diagnostic.field.clone().unwrap_or_default().replace(&path, ""))
        })
        .collect()
}

#[test]
fn b31_one_bad_entry_does_not_silence_its_neighbours() {
    let (folder, loaded) = load_user(
        r#"{"hooks":{"_note":"why","preToolUse":[{"hooks":[{"type":"command","command":"true"}]}],
        "PreToolUse":[{"matcher":{"a":1},"hooks":[{"type":"command","command":"true"}]},
        {"type":"command","command":"true"},
        {"hooks":[{"command":"true"},{"type":"Command","command":"true"},{"type":"command","command":"exit 2"}]}],
        "Stop":{"hooks":[]}}}"#,
    );
    let expected = [
        ":hooks._note",
        ":hooks.preToolUse",
        ":hooks.PreToolUse[0]",
        ":hooks.PreToolUse[1].hooks",
        ":hooks.PreToolUse[2].hooks[0]",
        ":hooks.PreToolUse[2].hooks[1]",
        ":hooks.Stop",
    ];
    let expected = expected.map(|field| ("invalid_config".to_owned(), field.to_owned()));
    assert_eq!(fields(&loaded, folder.path()), expected);
    let handlers: Vec<(&str, &str)> = loaded
        .snapshot
        .handlers()
        .iter()
        .map(|handler| (handler.id.as_str(), handler.command.as_str()))
        .collect();
    assert_eq!(handlers, [("PreToolUse:0:0", "exit 2")]);
}

#[test]
fn formatting_does_not_change_the_snapshot_id() {
    let id = |document: &str| load_user(document).1.snapshot.id;
    let plain =
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a","timeout":5}]}],"PreCompact":[]}}"#;
    let same = [
        "\u{feff} {\n \"hooks\" : {\"PreCompact\":[ ] , \"Stop\":[{\"hooks\":[{\"command\":\"a\",\"timeout\":5.0,\"type\":\"command\",\"x\":1}]}]}}\n",
        r#"{"hooks":{"Stop":[{"matcher":null,"hooks":[{"type":"command","command":"\u0061","argv":null,"timeout":"5","async":false}]}],"PreCompact":[]}}"#,
        r#"{"$schema":"x","hooks":{"Stop":[],"Stop":[{"hooks":[{"type":"command","command":"a","timeout":5,"onFailure":"ignore"}]}],"PreCompact":[]}}"#,
    ];
    for document in same {
        assert_eq!(id(document), id(plain), "{document}");
    }
    let different = [
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"b","timeout":5}]}],"PreCompact":[]}}"#,
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a","timeout":5,"onFailure":"block"}]}],"PreCompact":[]}}"#,
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a","timeout":5}]}]}}"#,
    ];
    for document in different {
        assert_ne!(id(document), id(plain), "{document}");
    }
}

#[test]
fn d8_a_misspelled_on_failure_fails_closed_and_is_said() {
    let (folder, loaded) =
        load_user(r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a","onFailure":"Block"}]}]}}"#);
    assert_eq!(loaded.snapshot.handlers()[0].on_failure.as_str(), "block");
    let expected = [("invalid_config".to_owned(), ":hooks.Stop[0].hooks[0].onFailure".to_owned())];
    assert_eq!(fields(&loaded, folder.path()), expected);
}

#[test]
fn d9_a_lifecycle_that_cannot_be_read_costs_only_its_speed() {
    let (folder, loaded) = load_user(
        r#"{"hooks":{"Stop":[{"hooks":[
        {"type":"command","command":"a","lifecycle":"persistent","workers":8},
        {"type":"command","command":"b","lifecycle":"prewarmed","workers":null},
        {"type":"command","command":"c","lifecycle":"Persistent","workers":9},
        {"type":"command","command":"d","lifecycle":true,"workers":"2"},
        {"type":"command","command":"e","lifecycle":null,"workers":0}]}]}}"#,
    );
    let handlers = loaded.snapshot.handlers().iter();
    let lifecycles: Vec<(&str, &str, u8)> = handlers
        .map(|handler| (handler.command.as_str(), handler.lifecycle.as_str(), handler.workers))
        .collect();
    let expected = [
        ("a", "persistent", 8),
        ("b", "prewarmed", 1),
        ("c", "per_event", 1),
        ("d", "per_event", 1),
        ("e", "per_event", 1),
    ];
    assert_eq!(lifecycles, expected);
    let remarks = ["[2].lifecycle", "[2].workers", "[3].lifecycle", "[3].workers", "[4].workers"];
    let remarks = remarks.map(|field| ("invalid_config".to_owned(), format!(":hooks.Stop[0].hooks{field}")));
    assert_eq!(fields(&loaded, folder.path()), remarks);
}

#[test]
fn d9_only_a_lifecycle_that_changes_something_changes_the_snapshot_id() {
    let canonical = |keys: &str| {
        let handler = format!(r#"{{"type":"command","command":"a"{keys}}}"#);
        load_user(&format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{handler}]}}]}}}}"#)).1.snapshot.canonical
    };
    assert_eq!(canonical(r#","lifecycle":"per_event","workers":1"#), canonical(""));
    assert_eq!(
        canonical(r#","workers":2,"lifecycle":"persistent""#),
        r#"{"hooks":{"Stop":[{"hooks":[{"command":"a","lifecycle":"persistent","type":"command","workers":2}]}]}}"#
    );
}

#[test]
fn an_untrusted_project_influences_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    let (user, project) = (root.join("user.json"), root.join("project.json"));
    fs::write(&user, r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a"}]}]}}"#).unwrap();
    let alone = load(&user, None, &|_| false, &[]);
    for document in
        [r#"{"hooks":{"Stop":[{"matcher":"[","hooks":[{"type":"command","command":"b"}]}]}}"#, "{broken"]
    {
        fs::write(&project, document).unwrap();
        let loaded = load(&user, Some(&project), &|_| false, &[]);
        assert_eq!(loaded.snapshot.id, alone.snapshot.id);
        assert_eq!(loaded.snapshot.diagnostics, alone.snapshot.diagnostics);
        assert_eq!(loaded.snapshot.events(), [EventName::Stop]);
        assert!(loaded.project.present && !loaded.project.trusted && !loaded.project.loaded);
    }
}

#[test]
fn only_handlers_that_can_match_are_asked_in_configuration_order() {
    let matchers = ["write", "*", "bash|write", "^w", "read", "", "write, write"];
    let group = |matcher: &&str| {
        format!(r#"{{"matcher":"{matcher}","hooks":[{{"type":"command","command":"{matcher}"}}]}}"#)
    };
    let groups: Vec<String> = matchers.iter().map(group).collect();
    let (_folder, loaded) =
        load_user(&format!(r#"{{"hooks":{{"PreToolUse":[{}],"Stop":[]}}}}"#, groups.join(",")));
    let asked = |event, subject: Option<&str>| -> Vec<String> {
        loaded.snapshot.candidates(event, subject).map(|(_, handler)| handler.command.clone()).collect()
    };
    let event = EventName::PreToolUse;
    assert_eq!(asked(event, Some("write")), ["write", "*", "bash|write", "^w", "", "write, write"]);
    assert_eq!(asked(event, Some("bash")), ["*", "bash|write", "^w", ""]);
    assert_eq!(asked(event, None), ["*", "^w", ""]);
    assert_eq!(asked(EventName::Stop, None), Vec::<String>::new());
}
