//! What holds after every fault, whatever it was.

use std::fs;
use std::path::{Path, PathBuf};

use hooksd_config::trust::Store;
use hooksd_tests::harness::{Agent, Answer, World, events, eventually, processes, until};
use serde_json::{Value, json};

/// A verdict that was asked for before or during the fault: the guard has denied, and nobody has failed.
pub(crate) fn denied(answer: &Answer) {
    assert_eq!(answer.behavior(), "deny", "{:?}", answer.0);
    let failed = answer.diagnostics().iter().filter(|diagnostic| diagnostic["severity"] != "debug");
    assert_eq!(failed.count(), 0, "{:?}", answer.0);
}

/// As many events at once, which all have the guard.
pub(crate) async fn begin(agent: &mut Agent, count: usize) -> Vec<u64> {
    let mut ids = Vec::new();
    for _ in 0..count {
        ids.push(agent.start(&events::pre()).await);
    }
    ids
}

/// No verdict is lost: each of these events is answered, once, with the deny.
pub(crate) async fn all_denied(agent: &mut Agent, ids: Vec<u64>) {
    for id in ids {
        denied(&agent.answer(id).await);
    }
    // Whatever was answered twice would come before this.
    let last = agent.line.request("session/list", &json!({})).await;
    let message = agent.line.message().await;
    assert_eq!((&message["id"], message.get("result").is_some()), (&json!(last), true), "one answer each");
}

/// No process is left of the events so far, no file is corrupt, and the next requests are answered. The user's document
/// has the guard.
pub(crate) async fn sound(world: &World) {
    let mut agent = world.agent().await;
    denied(&agent.invoke(&events::pre()).await);
    world.nothing_runs().await;
    until("no child is left", || processes::children(world.pid()).is_empty()).await;
    files(world).await;
    denied(&agent.invoke(&events::pre()).await);
    agent.line.call("session/close", json!({ "session": agent.session() })).await.unwrap();
}

/// A path of the world as the daemon sees it, which may have mounts of its own.
pub(crate) fn inside(world: &World, name: &str) -> PathBuf {
    let path = world.at(name);
    Path::new(&format!("/proc/{}/root", world.pid())).join(path.strip_prefix("/").unwrap())
}

/// The trust store as the daemon sees it, by a copy: whoever resolves its way finds out of another mount namespace.
pub(crate) fn store(world: &World) -> Store {
    let copy = tempfile::tempdir().unwrap();
    fs::create_dir(copy.path().join(".state")).unwrap();
    let name = ".state/hooks_trust.json";
    let _ = fs::copy(inside(world, &format!("config/{name}")), copy.path().join(name));
    Store::read(copy.path())
}

/// Every file the daemon keeps is whole, and there is none that nobody knows.
async fn files(world: &World) {
    let store = store(world);
    assert!(matches!(store, Store::Absent | Store::Entries(_)), "{store:?}");
    let state = inside(world, "config/.state/hooksd");
    for entry in fs::read_dir(state.join("transcripts")).into_iter().flatten() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'), "{} ends in half a record", path.display());
        for line in text.lines() {
            let record: Result<Value, _> = serde_json::from_str(line);
            assert!(record.is_ok(), "{}: {line}", path.display());
        }
    }
    if state.join("journal.db").exists() {
        eventually("the journal is whole", async || is_whole(&state).then_some(())).await;
    }
    let names = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&world.at("run")), ["hooksd.sock", "hooksd.sock.lock", "hooksd.sock.start"]);
}

/// Of a copy: a reader of the file itself would hold up its writer. One made in the middle of a write may be no database.
fn is_whole(state: &Path) -> bool {
    let copy = tempfile::tempdir().unwrap();
    for name in ["journal.db", "journal.db-wal"] {
        let _ = fs::copy(state.join(name), copy.path().join(name));
    }
    let database = rusqlite::Connection::open(copy.path().join("journal.db")).unwrap();
    database
        .query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))
        .is_ok_and(|check| check == "ok")
}
