//! The journal as its writer and its readers see it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test: what goes wrong here is a failed test"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use hooksd_journal::{JournalError, Writer, path, query};
use hooksd_protocol::methods::{HandlerStatus, JournalHandler, JournalQuery, JournalRecord};
use hooksd_protocol::outcome::EventOutcome;
use hooksd_protocol::timestamp::Timestamp;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

fn record(number: usize) -> JournalRecord {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000 + number as u64);
    JournalRecord {
        time: Timestamp::of(time),
        invocation_id: format!("{number:08x}-0000-4000-8000-000000000000"),
        session: format!("s{}", number % 2),
        thread_id: "t".to_owned(),
        agent: None,
        client: None,
        event: if number.is_multiple_of(3) { "Stop" } else { "PreToolUse" }.to_owned(),
        tool: Some("execute".to_owned()),
        snapshot_id: "f".repeat(64),
        cwd: "/".to_owned(),
        outcome: if number.is_multiple_of(5) { EventOutcome::Deny } else { EventOutcome::None },
        reason: None,
        winner: None,
        duration_us: 5,
        handlers: vec![JournalHandler {
            id: format!("Stop:0:{}", number % 4),
            source: "/h".to_owned(),
            command: "true".to_owned(),
            status: if number == 7 { HandlerStatus::Timeout } else { HandlerStatus::Ok },
            exit_code: Some(0),
            signal: None,
            start_us: 0,
            spawn_us: 0,
            drain_us: 0,
            queue_us: 1,
            run_us: 2,
            stdout_bytes: 0,
            stderr_bytes: 0,
            truncated: false,
            warm: false,
            stdout: None,
            stderr: None,
        }],
        diagnostics: Vec::new(),
        payload: None,
    }
}

fn numbers(path: &Path, wanted: &JournalQuery) -> Vec<usize> {
    let page = query(path, wanted).unwrap();
    page.records.iter().map(|record| usize::from_str_radix(&record.invocation_id[..8], 16).unwrap()).collect()
}

#[test]
fn what_is_asked_for_is_found_newest_first() {
    let top = tempfile::tempdir().unwrap();
    let file = path(top.path());
    assert!(matches!(query(&file, &JournalQuery::default()), Err(JournalError::Absent(_))));
    let (mut writer, aside) = Writer::open(&file).unwrap();
    assert_eq!(aside, None);
    let all: Vec<JournalRecord> = (0..10).map(record).collect();
    writer.append(&all[..6]).unwrap();
    writer.append(&all[6..]).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));

    let any = JournalQuery::default();
    assert_eq!(query(&file, &any).unwrap().records[0], all[9]);
    let text = |text: &str| Some(text.to_owned());
    let at = |number| Some(record(number).time);
    for (wanted, expected) in [
        (any.clone(), vec![9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
        (JournalQuery { session: text("s1"), ..any.clone() }, vec![9, 7, 5, 3, 1]),
        (JournalQuery { event: text("Stop"), ..any.clone() }, vec![9, 6, 3, 0]),
        (JournalQuery { tool: text("none"), ..any.clone() }, vec![]),
        (JournalQuery { handler: text("Stop:0:3"), ..any.clone() }, vec![7, 3]),
        (JournalQuery { outcome: text("deny"), ..any.clone() }, vec![5, 0]),
        (JournalQuery { outcome: text("timeout"), ..any.clone() }, vec![7]),
        (JournalQuery { outcome: text("timeout"), handler: text("Stop:0:3"), ..any.clone() }, vec![7]),
        (JournalQuery { outcome: text("timeout"), handler: text("Stop:0:1"), ..any.clone() }, vec![]),
        (JournalQuery { since: at(8), ..any.clone() }, vec![9, 8]),
        (JournalQuery { until: at(2), ..any.clone() }, vec![1, 0]),
        (JournalQuery { invocation_id: text("00000004-"), ..any.clone() }, vec![4]),
        (JournalQuery { invocation_id: text("x' OR 1"), ..any.clone() }, vec![]),
    ] {
        assert_eq!(numbers(&file, &wanted), expected, "{wanted:?}");
    }
    let mut pages = Vec::new();
    let mut wanted = JournalQuery { limit: Some(4), ..any };
    loop {
        let page = query(&file, &wanted).unwrap();
        pages.push(page.records.len());
        wanted.cursor = page.cursor;
        if page.cursor.is_none() {
            break;
        }
    }
    assert_eq!(pages, [4, 4, 2]);
}

#[test]
fn what_is_damaged_or_of_another_version_is_moved_aside() {
    for kind in ["damaged", "text", "version-9", "foreign"] {
        let top = tempfile::tempdir().unwrap();
        let file = path(top.path());
        let (mut writer, _) = Writer::open(&file).unwrap();
        writer.append(&(0..500).map(record).collect::<Vec<_>>()).unwrap();
        drop(writer);
        match kind {
            "damaged" => {
                let mut bytes = fs::read(&file).unwrap();
                bytes[8192..60_000].fill(0xa5);
                fs::write(&file, bytes).unwrap();
            }
            "text" => fs::write(&file, "no database\n".repeat(1000)).unwrap(),
            pragma => {
                let connection = rusqlite::Connection::open(&file).unwrap();
                let name = if pragma == "foreign" { "application_id" } else { "user_version" };
                connection.pragma_update(None, name, 9).unwrap();
            }
        }
        let (mut writer, aside) = Writer::open(&file).unwrap();
        let aside = aside.unwrap_or_else(|| panic!("{kind} was not moved aside"));
        assert!(!aside.reason.is_empty() && aside.path.exists(), "{aside:?}");
        assert_eq!(aside.path.ends_with("journal.db.version-9"), kind == "version-9");
        writer.append(&[record(1)]).unwrap();
        assert_eq!(numbers(&file, &JournalQuery::default()), [1], "{kind}");
    }
}

/// A journal of version 1 is read as it is, and goes on without its indices.
#[test]
fn a_journal_of_version_1_goes_on() {
    let top = tempfile::tempdir().unwrap();
    let file = path(top.path());
    Writer::open(&file).unwrap().0.append(&[record(1), record(2)]).unwrap();
    let other = rusqlite::Connection::open(&file).unwrap();
    let indices = "CREATE INDEX event_by_invocation ON event (invocation);
        CREATE INDEX event_by_session ON event (session); PRAGMA user_version = 1;";
    other.execute_batch(indices).unwrap();
    assert_eq!(numbers(&file, &JournalQuery::default()), [2, 1]);
    let (mut writer, aside) = Writer::open(&file).unwrap();
    assert_eq!(aside, None);
    writer.append(&[record(3)]).unwrap();
    assert_eq!(numbers(&file, &JournalQuery::default()), [3, 2, 1]);
    let number = |sql: &str| other.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(number("SELECT count(*) FROM sqlite_schema WHERE type = 'index'"), 0);
    assert_eq!(number("PRAGMA user_version"), 2);
}

#[test]
fn what_is_not_ours_alone_is_not_touched() {
    let top = tempfile::tempdir().unwrap();
    let (file, victim) = (path(top.path()), top.path().join("victim"));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&victim, "precious").unwrap();
    std::os::unix::fs::symlink(&victim, &file).unwrap();
    Writer::open(&file).unwrap_err();
    fs::remove_file(&file).unwrap();
    fs::hard_link(&victim, &file).unwrap();
    Writer::open(&file).unwrap_err();
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    fs::remove_file(&file).unwrap();
    mkfifo(&file, Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
    Writer::open(&file).unwrap_err();
    // Who reads does not wait for somebody who writes.
    assert!(matches!(query(&file, &JournalQuery::default()), Err(JournalError::NotOurs { .. })));
    let gone = path(&top.path().join("gone"));
    Writer::open(&gone).unwrap_err();
    assert!(!top.path().join("gone").exists(), "the config dir was made");
}

#[test]
fn the_oldest_go_first_when_there_is_too_much() {
    let top = tempfile::tempdir().unwrap();
    let file = path(top.path());
    let (mut writer, _) = Writer::open(&file).unwrap();
    let most = 1024 * 1024;
    for batch in 0..20 {
        writer.append(&(batch * 500..(batch + 1) * 500).map(record).collect::<Vec<_>>()).unwrap();
        while writer.forget_excess(most).unwrap() {}
        writer.forget_old(Duration::from_secs(1_000_000_000)).unwrap();
    }
    let found = numbers(&file, &JournalQuery { limit: Some(1000), ..JournalQuery::default() });
    assert_eq!(found[0], 9_999);
    assert!(fs::metadata(&file).unwrap().len() < 2 * most, "{}", fs::metadata(&file).unwrap().len());
    while writer.forget_old(Duration::ZERO).unwrap() {}
    assert!(writer.is_in_place());
    fs::rename(&file, top.path().join("elsewhere")).unwrap();
    assert!(!writer.is_in_place());
}

#[test]
fn what_is_too_old_goes() {
    let top = tempfile::tempdir().unwrap();
    let file = path(top.path());
    let (mut writer, _) = Writer::open(&file).unwrap();
    let now = Timestamp::of(SystemTime::now());
    let old = JournalRecord { time: Timestamp::parse("2020-01-01T00:00:00Z").unwrap(), ..record(1) };
    writer.append(&[old, JournalRecord { time: now, ..record(2) }]).unwrap();
    while writer.forget_old(Duration::from_secs(3600)).unwrap() {}
    assert_eq!(numbers(&file, &JournalQuery::default()), [2]);
}
