//! A journal that cannot be written: the disk is full, read-only or refuses, another process holds the database, what
//! stands in its place is no journal. No decision is lost, it is said, and once that is over events are kept again.

use std::fs;
use std::path::{Path, PathBuf};

use hooksd_system::{Limits, limits, set_limits_of};
use hooksd_tests::harness::{Line, eventually};
use nix::sys::resource::Resource;
use nix::unistd::{Pid, geteuid};
use serde_json::{Value, json};

use crate::support::{Agent, Daemon, as_user, behavior, commands, outcome, pre};

/// The largest file while the disk is said to be full. Bytes. More than an empty journal has.
const FULL: u64 = 160 * 1024;

/// How many times, and how many events at once, of a flood.
const FLOODS: usize = 10;
const EVENTS_AT_ONCE: usize = 600;

/// What one transaction may add to a journal that is full. Bytes: 64 records of this test.
const BATCH_MOST: u64 = 128 * 1024;

/// The program starts in a mount namespace of its own, with a file system of 1 MiB for the daemon's state.
const SMALL_DISK: &str = r#"mkdir -p "$W/config/.state" && exec unshare -m --propagation private /bin/sh -c '
mount -t tmpfs -o size=1m,mode=700 none "$W/config/.state" && exec "$0" "$@"' "$0" "$@""#;

/// One that hears of diagnostics that belong to no session.
async fn observer(daemon: &Daemon) -> Line {
    let mut line = Line::connect(&daemon.path("run/socket")).await;
    let greeting = json!({ "client": { "name": "test", "observer": true } });
    line.call("initialize", greeting).await.unwrap();
    line.call("events/subscribe", json!({ "kinds": ["diagnostic"] })).await.unwrap();
    line
}

/// The next diagnostic must be about the journal; its message.
async fn told(line: &mut Line) -> String {
    let message = line.message().await;
    assert_eq!(message["params"]["code"], "journal_failed", "{message}");
    message["params"]["message"].as_str().unwrap().to_owned()
}

async fn journal(agent: &Agent) -> Value {
    agent.client.call("daemon/status", json!({})).await.unwrap()["journal"].take()
}

/// Events go on, each denied, until the journal is as it should be.
async fn deny_until(what: &str, agent: &Agent, right: impl Fn(&Value) -> bool) {
    eventually(what, async || {
        assert_eq!(behavior(&agent.invoke(&pre()).await), "deny");
        right(&journal(agent).await).then_some(())
    })
    .await;
}

/// It cannot be written now: that is noticed, told, counted; and costs no decision.
async fn fails(agent: &Agent, line: &mut Line) -> String {
    let before = journal(agent).await["lost"].as_u64().unwrap();
    deny_until("a record is lost", agent, |journal| {
        journal["lost"].as_u64().unwrap() > before && !journal["problem"].is_null()
    })
    .await;
    told(line).await
}

/// It can be written again: events are kept, and the file is whole.
async fn recovers(agent: &Agent, file: &Path) {
    deny_until("events are kept again", agent, |journal| {
        journal["ready"] == true && journal["problem"].is_null()
    })
    .await;
    let answer = agent.invoke(&pre()).await;
    let page = agent.client.call("journal/query", json!({ "limit": 1 })).await.unwrap();
    assert_eq!(page["records"][0]["invocation_id"], answer["invocation_id"]);
    // A copy: SQLite would follow the way into another mount namespace back out of it.
    let copy = tempfile::tempdir().unwrap();
    for end in ["", "-wal"] {
        let from = PathBuf::from(format!("{}{end}", file.display()));
        fs::copy(from, copy.path().join(format!("journal.db{end}"))).unwrap();
    }
    let database = rusqlite::Connection::open(copy.path().join("journal.db")).unwrap();
    let check: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
}

async fn guarded(limits: &str) -> (Daemon, Agent, Line) {
    let daemon = Daemon::start(limits, &commands(&["exit 2"])).await;
    let (agent, line) = (daemon.agent().await, observer(&daemon).await);
    (daemon, agent, line)
}

fn file(daemon: &Daemon) -> PathBuf {
    hooksd_journal::path(&daemon.path("config"))
}

/// The same file as the daemon sees it, which has mounts of its own.
fn file_inside(daemon: &Daemon) -> PathBuf {
    let path = file(daemon);
    Path::new(&format!("/proc/{}/root", daemon.pid())).join(path.strip_prefix("/").unwrap())
}

/// Whether a file system can be mounted; only root can.
fn may_mount() -> bool {
    let works = geteuid().is_root()
        && as_user(None, &["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"])
            .status()
            .is_ok_and(|done| done.success());
    if !works {
        println!("not run: file systems cannot be mounted here");
    }
    works
}

/// A limit of file sizes fails in the middle of a write, as a full disk does; nobody needs to be root for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_of_file_sizes_costs_records_and_no_decision() {
    let (daemon, agent, mut line) = guarded("").await;
    let pid = Pid::from_raw(daemon.pid().try_into().unwrap());
    let whole = limits(Resource::RLIMIT_FSIZE);
    set_limits_of(pid, Resource::RLIMIT_FSIZE, Limits { soft: Some(FULL), ..whole }).unwrap();
    fails(&agent, &mut line).await;
    set_limits_of(pid, Resource::RLIMIT_FSIZE, whole).unwrap();
    recovers(&agent, &file(&daemon)).await;
    daemon.nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_costs_records_and_no_decision() {
    if !may_mount() {
        return;
    }
    let (daemon, agent, mut line) = guarded(SMALL_DISK).await;
    let inside = file_inside(&daemon);
    let ballast = inside.with_file_name("ballast");
    // As large as there is room for.
    let _ = fs::write(&ballast, vec![0; 2 * 1024 * 1024]);
    let message = fails(&agent, &mut line).await;
    assert!(message.contains("full") || message.contains("I/O"), "{message}");
    fs::remove_file(ballast).unwrap();
    recovers(&agent, &inside).await;
    daemon.nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_becomes_read_only_costs_records_and_no_decision() {
    if !may_mount() {
        return;
    }
    let (daemon, agent, mut line) = guarded(SMALL_DISK).await;
    assert_eq!(behavior(&agent.invoke(&pre()).await), "deny");
    let inside = |words: &[&str]| {
        let pid = daemon.pid().to_string();
        let state = daemon.path("config/.state");
        let all = [&["nsenter", "-m", "-t", &pid], words, &[state.to_str().unwrap()]].concat();
        assert!(as_user(None, &all).status().unwrap().success(), "{all:?}");
    };
    inside(&["mount", "-t", "tmpfs", "-o", "ro", "none"]);
    let message = fails(&agent, &mut line).await;
    assert!(message.to_lowercase().contains("read-only"), "{message}");
    inside(&["umount"]);
    recovers(&agent, &file_inside(&daemon)).await;
    daemon.nothing_left().await;
}

/// A file stands where the folder should be; nobody needs to be root for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_cannot_be_made_costs_records_and_no_decision() {
    let (daemon, agent, mut line) = guarded("").await;
    let state = daemon.path("config/.state");
    fs::remove_dir_all(&state).unwrap();
    fs::write(&state, "in the way").unwrap();
    fails(&agent, &mut line).await;
    assert_eq!(fs::read(&state).unwrap(), b"in the way");
    fs::remove_file(&state).unwrap();
    recovers(&agent, &file(&daemon)).await;
    daemon.nothing_left().await;
}

/// Another process holds the database for longer than anybody waits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_journal_costs_records_and_no_decision() {
    let (daemon, agent, mut line) = guarded("").await;
    assert_eq!(behavior(&agent.invoke(&pre()).await), "deny");
    let other = rusqlite::Connection::open(file(&daemon)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let message = fails(&agent, &mut line).await;
    assert!(message.contains("locked"), "{message}");
    other.execute_batch("ROLLBACK").unwrap();
    recovers(&agent, &file(&daemon)).await;
    daemon.nothing_left().await;
}

/// The bound of its size, as a person sets it, holds while more comes than it may hold.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_does_not_outgrow_the_bound_of_the_journal() {
    let document = json!({ "hooks": { "Stop": commands(&["true"])["hooks"]["PreToolUse"] } });
    let daemon = Daemon::start("export HOOKSD_JOURNAL_MAX_MB=1", &document).await;
    let agent = daemon.agent().await;
    for _ in 0..FLOODS {
        let mut answers = Vec::new();
        for _ in 0..EVENTS_AT_ONCE {
            answers.push(agent.start(&pre()).await.1);
        }
        for answer in answers {
            outcome(answer).await.unwrap();
        }
    }
    let last = agent.invoke(&pre()).await;
    let page = agent.client.call("journal/query", json!({ "limit": 1 })).await.unwrap();
    assert_eq!(page["records"][0]["invocation_id"], last["invocation_id"]);
    let database = rusqlite::Connection::open(file(&daemon)).unwrap();
    let number = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap().unsigned_abs();
    let used = (number("PRAGMA page_count") - number("PRAGMA freelist_count")) * number("PRAGMA page_size");
    let (kept, written) =
        (number("SELECT count(*) FROM event"), journal(&agent).await["written"].as_u64().unwrap());
    println!("{kept} of {written} records kept in {used} bytes");
    assert!(kept > 0 && kept < written / 2, "{kept} of {written} are kept");
    assert!(used <= 1024 * 1024 + BATCH_MOST, "{used} bytes");
    daemon.nothing_left().await;
}

/// Something else is put in its place while the daemon runs: it is moved aside, told, and a new one is begun.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_journal_is_moved_aside_while_events_go_on() {
    let (daemon, agent, mut line) = guarded("").await;
    let path = file(&daemon);
    for kind in ["damaged", "text", "version-9", "foreign"] {
        let other = daemon.path("other.db");
        let _ = fs::remove_file(&other);
        match kind {
            "text" => fs::write(&other, "no database\n".repeat(1000)).unwrap(),
            kind => {
                let database = rusqlite::Connection::open(&other).unwrap();
                let version = if kind == "version-9" { 9 } else { 1 };
                let application = if kind == "foreign" { 7 } else { 0x686f_6f6b };
                database
                    .execute_batch(&format!(
                        "CREATE TABLE event (id INTEGER PRIMARY KEY, record TEXT);
                         INSERT INTO event (record) SELECT hex(zeroblob(4000)) FROM (VALUES (1), (2), (3), (4));
                         PRAGMA application_id = {application}; PRAGMA user_version = {version};"
                    ))
                    .unwrap();
                drop(database);
                if kind == "damaged" {
                    let mut bytes = fs::read(&other).unwrap();
                    bytes[4096..].fill(0xa5);
                    fs::write(&other, bytes).unwrap();
                }
            }
        }
        for end in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{end}", path.display()));
        }
        let put = fs::read(&other).unwrap();
        fs::rename(&other, &path).unwrap();
        assert_eq!(behavior(&agent.invoke(&pre()).await), "deny");
        let message = told(&mut line).await;
        let aside = if kind == "version-9" { kind } else { "damaged" };
        let aside = format!("{}.{aside}", path.display());
        assert!(message.contains(&aside), "{kind}: {message}");
        assert_eq!(fs::read(&aside).unwrap(), put, "{kind} was changed");
        recovers(&agent, &path).await;
    }
    daemon.nothing_left().await;
}
