//! The database's one table. What queries look for has a column of its own; everything else is in the record's JSON.
//!
//! The table has no index. Two indexes made each event write six times the bytes (6.0 KB instead of 1.0 KB to the
//! log, in a journal of 64 MiB), and saved a tenth of a second when somebody looked for an event.

use std::path::Path;

use rusqlite::Connection;

use crate::error::JournalError;

/// The version of the schema that this program writes.
pub(crate) const VERSION: i64 = 2;

/// The version before, which had indexes. It is read as it is, and brought to the present version before it is
/// written to.
const INDEXED: i64 = 1;

/// The application id that marks an SQLite file as a journal: "hook" in ASCII.
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

/// Makes an error of the journal from an error of SQLite.
pub(crate) fn database(path: &Path) -> impl Fn(rusqlite::Error) -> JournalError {
    move |source| JournalError::Database { path: path.to_owned(), source }
}

/// The value of a pragma.
fn number(connection: &Connection, pragma: &str) -> Result<i64, rusqlite::Error> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}

/// Checks that the database is a journal, and makes it one if it is empty.
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

/// Brings a database of the version before to the present one. It changes the file, so that the caller must have
/// looked for damage before.
pub(crate) fn upgrade(connection: &Connection, path: &Path) -> Result<(), JournalError> {
    if check(connection, path)? == INDEXED {
        let sql = format!("BEGIN IMMEDIATE; {FROM_INDEXED} PRAGMA user_version = {VERSION}; COMMIT;");
        connection.execute_batch(&sql).map_err(database(path))?;
    }
    Ok(())
}

/// Whether the database has no table yet, because somebody is making it right now.
pub(crate) fn is_empty(connection: &Connection, path: &Path) -> Result<bool, JournalError> {
    Ok(number(connection, "schema_version").map_err(database(path))? == 0)
}

/// Checks that the database is a journal of a version that can be read, and returns that version.
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

/// Has SQLite check the database for damage.
pub(crate) fn look_for_damage(connection: &Connection, path: &Path) -> Result<(), JournalError> {
    let found: String =
        connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(database(path))?;
    if found == "ok" {
        return Ok(());
    }
    Err(JournalError::Damaged { path: path.to_owned(), reason: found })
}
