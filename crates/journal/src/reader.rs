//! Reads records, the newest first, one page at a time.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use hooksd_protocol::methods::{JournalPage, JournalQuery, JournalRecord};
use rusqlite::{Connection, OpenFlags, ToSql};

use crate::error::JournalError;
use crate::folder::connect;
use crate::schema::{check, database, is_empty};

/// How many records a page has when the query does not say. Records.
pub const DEFAULT_LIMIT: u32 = 100;

/// The most records that a page may have. Records.
pub const MAX_LIMIT: u32 = 1000;

/// How much JSON a page holds before it ends. Bytes. When its records are long it has fewer of them, and its `cursor`
/// leads to the rest.
const MAX_PAGE: usize = 8 * 1024 * 1024;

/// How long a reader waits for a writer that holds the database. Milliseconds.
const BUSY_MS: u64 = 2000;

/// Reads one page of the records that a query asks for. It blocks its thread.
///
/// # Errors
/// When there is no journal, or it cannot be read.
pub fn query(path: &Path, wanted: &JournalQuery) -> Result<JournalPage, JournalError> {
    let connection = open(path)?;
    read(&connection, wanted).map_err(database(path))
}

/// The newest record of each agent that came by a bridge, by the agent's name. It blocks its thread, and reads the
/// whole journal once.
///
/// # Errors
/// When there is no journal, or it cannot be read.
pub fn last_of_agents(path: &Path) -> Result<BTreeMap<String, JournalRecord>, JournalError> {
    let connection = open(path)?;
    let read = || -> Result<BTreeMap<String, JournalRecord>, rusqlite::Error> {
        // SQLite takes the other columns from the row that has the maximum.
        let mut statement = connection.prepare(
            "SELECT max(id), record ->> 'agent' AS agent, record FROM event WHERE agent IS NOT NULL GROUP BY agent",
        )?;
        let mut rows = statement.query([])?;
        let mut last = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let (agent, record): (String, String) = (row.get(1)?, row.get(2)?);
            last.extend(serde_json::from_str(&record).ok().map(|record| (agent, record)));
        }
        Ok(last)
    };
    read().map_err(database(path))
}

fn open(path: &Path) -> Result<Connection, JournalError> {
    // The kind of the file is checked before it is opened: opening a FIFO would wait for somebody who writes.
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => {}
        Ok(_) => {
            let reason = "it is not a regular file".to_owned();
            return Err(JournalError::NotOurs { path: path.to_owned(), reason });
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(JournalError::Absent(path.to_owned()));
        }
        Err(source) => return Err(JournalError::System { path: path.to_owned(), source }),
    }
    let failed = database(path);
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(Duration::from_millis(BUSY_MS)).map_err(&failed)?;
    if is_empty(&connection, path)? {
        return Err(JournalError::Absent(path.to_owned()));
    }
    check(&connection, path)?;
    Ok(connection)
}

fn read(connection: &Connection, wanted: &JournalQuery) -> Result<JournalPage, rusqlite::Error> {
    let mut text = "SELECT id, record FROM event WHERE 1".to_owned();
    let mut values: Vec<(&str, Box<dyn ToSql>)> = Vec::new();
    let mut add = |condition: &str, name: &'static str, value: Box<dyn ToSql>| {
        text.push_str(" AND ");
        text.push_str(condition);
        values.push((name, value));
    };
    if let Some(id) = &wanted.invocation_id {
        // Ids consist of hexadecimal digits and hyphens, so that `~` comes after every id that begins with this one.
        let id = id.to_lowercase();
        add("invocation >= :id", ":id", Box::new(id.clone()));
        add("invocation < :beyond", ":beyond", Box::new(format!("{id}~")));
    }
    for (condition, name, value) in [
        ("session = :session", ":session", &wanted.session),
        ("event = :event", ":event", &wanted.event),
        ("tool = :tool", ":tool", &wanted.tool),
        (
            "EXISTS (SELECT 1 FROM json_each(record, '$.handlers') AS ran WHERE ran.value ->> 'id' = :handler)",
            ":handler",
            &wanted.handler,
        ),
    ] {
        if let Some(value) = value {
            add(condition, name, Box::new(value.clone()));
        }
    }
    if let Some(outcome) = &wanted.outcome {
        let of_that_handler = if wanted.handler.is_some() { "AND ran.value ->> 'id' = :handler" } else { "" };
        let condition = format!(
            "(outcome = :outcome OR EXISTS (SELECT 1 FROM json_each(record, '$.handlers') AS ran
                WHERE ran.value ->> 'status' = :outcome {of_that_handler}))"
        );
        add(&condition, ":outcome", Box::new(outcome.clone()));
    }
    if let Some(since) = wanted.since {
        add("time >= :since", ":since", Box::new(since.micros()));
    }
    if let Some(until) = wanted.until {
        add("time < :until", ":until", Box::new(until.micros()));
    }
    if let Some(cursor) = wanted.cursor {
        add("id < :cursor", ":cursor", Box::new(cursor));
    }
    let limit = wanted.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
    values.push((":limit", Box::new(limit + 1)));
    text.push_str(" ORDER BY id DESC LIMIT :limit");
    let mut statement = connection.prepare(&text)?;
    let values: Vec<(&str, &dyn ToSql)> = values.iter().map(|(name, value)| (*name, &**value)).collect();
    let mut rows = statement.query(values.as_slice())?;
    let (mut page, mut bytes, mut seen, mut last) = (JournalPage::default(), 0, 0, None);
    while let Some(row) = rows.next()? {
        let record: String = row.get(1)?;
        if seen == limit || bytes > MAX_PAGE {
            page.cursor = last;
            break;
        }
        bytes += record.len();
        seen += 1;
        last = Some(row.get(0)?);
        // A record that a later version has written may not fit, and is left out.
        page.records.extend(serde_json::from_str::<JournalRecord>(&record).ok());
    }
    Ok(page)
}
