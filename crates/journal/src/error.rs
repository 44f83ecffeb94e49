//! Why the journal cannot be used.

use std::path::PathBuf;

/// Why the journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// There is no journal at this path.
    #[error("there is no journal at {}: no daemon has written one there yet", .0.display())]
    Absent(PathBuf),
    /// Something that is not a file of this user alone stands in its place.
    #[error("the journal {} is not used: {reason}", .path.display())]
    NotOurs {
        /// The path of the journal.
        path: PathBuf,
        /// What is wrong with what stands there.
        reason: String,
    },
    /// The file or its folder cannot be used.
    #[error("the journal {} cannot be used: {source}", .path.display())]
    System {
        /// The path of the journal.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// SQLite cannot read or write the database.
    #[error("the journal {} cannot be used: {source}", .path.display())]
    Database {
        /// The path of the journal.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// Another version of this program has written the journal, in a schema that this one does not know.
    #[error("the journal {} has version {found}; this program knows {known}", .path.display())]
    Version {
        /// The path of the journal.
        path: PathBuf,
        /// The version of its schema.
        found: i64,
        /// The version of the schema that this program writes.
        known: i64,
    },
    /// The database is damaged, or is not a journal.
    #[error("the journal {} is damaged: {reason}", .path.display())]
    Damaged {
        /// The path of the journal.
        path: PathBuf,
        /// What was found in it.
        reason: String,
    },
    /// A record cannot be spelled in JSON.
    #[error("a record cannot be spelled: {0}")]
    Spelling(#[from] serde_json::Error),
}

impl JournalError {
    /// Whether the file itself is at fault, so that a new file in its place would work.
    #[must_use]
    pub fn is_about_the_file(&self) -> bool {
        match self {
            JournalError::Version { .. } | JournalError::Damaged { .. } => true,
            JournalError::Database { source, .. } => matches!(
                source.sqlite_error_code(),
                Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase)
            ),
            _ => false,
        }
    }
}
