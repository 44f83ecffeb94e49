//! The one table. What is looked for has a column; everything else is in the record's JSON.
//!
//! It has no index: keeping two in order made each record write six times the bytes (6.0 KB instead of 1.0 KB to the log,
//! in a journal of 64 MiB), at every event, and saved a tenth of a second when somebody looked for one of them.

use std::path::Path;

use rusqlite::Connection;

use crate::error::JournalError;

/// The version of the schema.
pub(crate) const VERSION: i64 = 2;

/// The version before, which is read as it is and brought to ours before it is written to.
const INDEXED: i64 = 1;

/// Marks the file as a journal of ours: "hook" in ASCII.
const APPLICATION: i64 = 0x686f_6f6b;

const TABLES: &str = "
CREATE TABLE event (
    id INTEGER PRIMARY KEY,
    time INTEGER NOT NULL,
    invocation TEXT NOT NULL,
    session TEXT NOT NULL,
    event TEXT NOT NULL,
    tool TEXT,
    outcome TEXT NOT NULL,
    record TEXT NOT NULL
) STRICT;
";

const FROM_INDEXED: &str = "DROP INDEX IF EXISTS event_by_invocation; DROP INDEX IF EXISTS event_by_session;";

pub(crate) fn database(path: &Path) -> impl Fn(rusqlite::Error) -> JournalError {
    move |source| JournalError::Database { path: path.to_owned(), source }
}

fn number(connection: &Connection, pragma: &str) -> Result<i64, rusqlite::Error> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}

/// Sees to it that the database is one of ours; makes it one if it is empty.
pub(crate) fn ensure(connection: &Connection, path: &Path) -> Result<(), JournalError> {
    let failed = database(path);
    if !is_empty(connection, path)? {
        return check(connection, path).map(drop);
    }
    let make = || -> Result<(), rusqlite::Error> {
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.execute_batch(&format!(
            "BEGIN; {TABLES} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;"
        ))
    };
    make().map_err(&failed)
}

/// Brings the version before to ours. What is damaged must have been found out: this changes it.
pub(crate) fn upgrade(connection: &Connection, path: &Path) -> Result<(), JournalError> {
    if check(connection, path)? == INDEXED {
        let sql = format!("BEGIN IMMEDIATE; {FROM_INDEXED} PRAGMA user_version = {VERSION}; COMMIT;");
        connection.execute_batch(&sql).map_err(database(path))?;
    }
    Ok(())
}

/// Whether nothing was written into it yet: somebody is making it right now.
pub(crate) fn is_empty(connection: &Connection, path: &Path) -> Result<bool, JournalError> {
    Ok(number(connection, "schema_version").map_err(database(path))? == 0)
}

/// Refuses what is not a journal of a version that can be read; its version.
pub(crate) fn check(connection: &Connection, path: &Path) -> Result<i64, JournalError> {
    let failed = database(path);
    if number(connection, "application_id").map_err(&failed)? != APPLICATION {
        let reason = "it is another program's database".to_owned();
        return Err(JournalError::Damaged { path: path.to_owned(), reason });
    }
    let found = number(connection, "user_version").map_err(&failed)?;
    if ![INDEXED, VERSION].contains(&found) {
        return Err(JournalError::Version { path: path.to_owned(), found, known: VERSION });
    }
    Ok(found)
}

/// Looks for damage.
pub(crate) fn look_for_damage(connection: &Connection, path: &Path) -> Result<(), JournalError> {
    let found: String =
        connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(database(path))?;
    if found == "ok" {
        return Ok(());
    }
    Err(JournalError::Damaged { path: path.to_owned(), reason: found })
}
