//! Writes records in batches, each in one transaction, and removes old ones by size and age.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hooksd_protocol::methods::JournalRecord;
use hooksd_protocol::timestamp::Timestamp;
use rusqlite::{Connection, OpenFlags, params};

use crate::error::JournalError;
use crate::folder::{connect, files, identity, move_aside, prepare};
use crate::schema::{database, ensure, look_for_damage, upgrade};

/// How long the writer waits for another process that holds the database. Milliseconds. A reader never holds it;
/// another writer may.
const BUSY_MS: u64 = 1000;

/// How much of the database the writer keeps in memory. KiB. It needs little, for it only appends.
const CACHE_KIB: i64 = 256;

/// How far the log beside the database may grow before it is to be written back. Bytes.
const LONG_LOG: u64 = 2 * 1024 * 1024;

/// How far the log may grow while there is much to write, before it is to be written back. Bytes. The first record
/// after that waits for the disk.
const LONG_LOG_IN_A_FLOOD: u64 = 8 * 1024 * 1024;

/// The length beyond which nothing more is to be written before the log is written back. Bytes. A log grows so long
/// only when somebody always wrote while it was written back, so that its end was never reached.
const ENDLESS_LOG: u64 = 32 * 1024 * 1024;

/// How much of the log's file stays on disk once it was written back. Bytes. It is less than what makes the log long.
const LOG_KEPT: i64 = 1024 * 1024;

/// For how long a record there is room at first. Bytes. The room grows for a longer one.
const USUAL_RECORD: usize = 2048;

/// How many records are removed at once when there are too many. Records. The next batch waits while they are removed.
const PRUNED_AT_ONCE: i64 = 1000;

/// How many free pages are given back to the file system at once. Pages.
const FREED_AT_ONCE: i64 = 2000;

/// What is to be done about the log beside the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Log {
    /// Nothing is to be done.
    Short,
    /// It should be written back.
    Long,
    /// It should be written back before more is written.
    Endless,
}

/// Says what is to be done about the log beside the database. `flood` says that there is much to write, which allows
/// a longer log.
#[must_use]
pub fn log(path: &Path, flood: bool) -> Log {
    let [_, log, _] = files(path);
    let long = if flood { LONG_LOG_IN_A_FLOOD } else { LONG_LOG };
    match fs::symlink_metadata(log).map_or(0, |log| log.len()) {
        bytes if bytes > ENDLESS_LOG => Log::Endless,
        bytes if bytes > long => Log::Long,
        _ => Log::Short,
    }
}

/// Writes the log back into the database, on a connection beside the writer's. It blocks for as long as the disk takes.
///
/// # Errors
/// When SQLite cannot do it.
pub fn write_back(path: &Path) -> Result<(), JournalError> {
    let failed = database(path);
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).map_err(&failed)
}

/// A database that was moved out of the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aside {
    /// The path where it is now.
    pub path: PathBuf,
    /// What was wrong with it.
    pub reason: String,
}

/// The writer of a journal. A journal has one at a time.
#[derive(Debug)]
pub struct Writer {
    connection: Connection,
    path: PathBuf,
    identity: Option<(u64, u64)>,
}

impl Writer {
    /// Opens the journal, or makes one. A journal that is damaged or has another version is moved aside before, which
    /// the second result says.
    ///
    /// # Errors
    /// When the folder or the file cannot be used, or something else stands in its place.
    pub fn open(path: &Path) -> Result<(Writer, Option<Aside>), JournalError> {
        let error = match Writer::open_once(path) {
            Ok(writer) => return Ok((writer, None)),
            Err(error) if error.is_about_the_file() => error,
            Err(error) => return Err(error),
        };
        let kind = match &error {
            JournalError::Version { found, .. } => format!("version-{found}"),
            _ => "damaged".to_owned(),
        };
        let aside = move_aside(path, &kind)
            .map_err(|source| JournalError::System { path: path.to_owned(), source })?;
        let writer = Writer::open_once(path)?;
        Ok((writer, Some(Aside { path: aside, reason: error.to_string() })))
    }

    fn open_once(path: &Path) -> Result<Writer, JournalError> {
        prepare(path)?;
        let failed = database(path);
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.busy_timeout(Duration::from_millis(BUSY_MS)).map_err(&failed)?;
        ensure(&connection, path)?;
        let set = || -> Result<(), rusqlite::Error> {
            // What was committed survives the end of the process. A power failure may cost the last seconds.
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
            connection.pragma_update(None, "wal_autocheckpoint", 0)?;
            connection.pragma_update(None, "journal_size_limit", LOG_KEPT)
        };
        set().map_err(&failed)?;
        look_for_damage(&connection, path)?;
        upgrade(&connection, path)?;
        Ok(Writer { identity: identity(path), connection, path: path.to_owned() })
    }

    /// Whether the file that is written to is still the one at its path. If it was removed, the journal has to be
    /// opened anew.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.identity.is_some() && identity(&self.path) == self.identity
    }

    /// Writes records: either all of them or none.
    ///
    /// # Errors
    /// When SQLite cannot write them, for example because the disk is full or the folder has gone.
    pub fn append(&mut self, records: &[JournalRecord]) -> Result<(), JournalError> {
        let failed = database(&self.path);
        let transaction = self.connection.transaction().map_err(&failed)?;
        {
            let insert = "INSERT INTO event (time, invocation, session, event, tool, outcome, record)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
            let mut insert = transaction.prepare_cached(insert).map_err(&failed)?;
            let mut text = Vec::with_capacity(USUAL_RECORD);
            for record in records {
                text.clear();
                serde_json::to_writer(&mut text, record)?;
                // The JSON is UTF-8, so that nothing is copied here.
                let text = String::from_utf8_lossy(&text);
                let time = record.time.micros();
                let JournalRecord { invocation_id, session, event, tool, outcome, .. } = record;
                insert
                    .execute(params![time, invocation_id, session, event, tool, outcome.as_str(), text])
                    .map_err(&failed)?;
            }
        }
        transaction.commit().map_err(&failed)
    }

    /// Removes some of the oldest records if all of them take more than `max_bytes`, and says whether it did. It is
    /// cheap when there is nothing to do.
    ///
    /// # Errors
    /// When SQLite cannot do it.
    pub fn forget_excess(&mut self, max_bytes: u64) -> Result<bool, JournalError> {
        let failed = database(&self.path);
        if self.bytes().map_err(&failed)? <= max_bytes {
            return Ok(false);
        }
        let oldest = "DELETE FROM event WHERE id IN (SELECT id FROM event ORDER BY id LIMIT ?1)";
        let mut oldest = self.connection.prepare_cached(oldest).map_err(&failed)?;
        Ok(oldest.execute([PRUNED_AT_ONCE]).map_err(&failed)? > 0)
    }

    /// Removes some of the records that are older than `max_age`, and gives free pages back to the file system. Says
    /// whether there may be more to do.
    ///
    /// # Errors
    /// When SQLite cannot do it.
    pub fn forget_old(&mut self, max_age: Duration) -> Result<bool, JournalError> {
        let failed = database(&self.path);
        let oldest = SystemTime::now().checked_sub(max_age).unwrap_or(UNIX_EPOCH);
        let too_old = self
            .connection
            .execute(
                "DELETE FROM event WHERE id IN (SELECT id FROM event ORDER BY id LIMIT ?1) AND time < ?2",
                params![PRUNED_AT_ONCE, Timestamp::of(oldest).micros()],
            )
            .map_err(&failed)?;
        let mut free = self
            .connection
            .prepare_cached(&format!("PRAGMA incremental_vacuum({FREED_AT_ONCE})"))
            .map_err(&failed)?;
        let mut rows = free.query([]).map_err(&failed)?;
        while rows.next().map_err(&failed)?.is_some() {}
        Ok(too_old > 0)
    }

    /// How much of the file the records take. Bytes.
    fn bytes(&self) -> Result<u64, rusqlite::Error> {
        let number = |pragma| self.connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
        let pages = number("page_count")? - number("freelist_count")?;
        Ok(u64::try_from(pages.saturating_mul(number("page_size")?)).unwrap_or(0))
    }
}
