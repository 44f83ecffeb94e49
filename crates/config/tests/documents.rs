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
