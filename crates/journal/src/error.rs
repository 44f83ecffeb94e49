//! Why the journal cannot be used.

use std::path::PathBuf;

/// Why the journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// There is none.
    #[error("there is no journal at {}: no daemon has written one there yet", .0.display())]
    Absent(PathBuf),
    /// Something else stands in its place.
    #[error("the journal {} is not used: {reason}", .path.display())]
    NotOurs {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file or its folder cannot be used.
    #[error("the journal {} cannot be used: {source}", .path.display())]
    System {
        /// The path.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The database refuses.
    #[error("the journal {} cannot be used: {source}", .path.display())]
    Database {
        /// The path.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// It was written by another version.
    #[error("the journal {} has version {found}; this program knows {known}", .path.display())]
    Version {
        /// The path.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// It is damaged.
    #[error("the journal {} is damaged: {reason}", .path.display())]
    Damaged {
        /// The path.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// A record cannot be spelled.
    #[error("a record cannot be spelled: {0}")]
    Spelling(#[from] serde_json::Error),
}

impl JournalError {
    /// Whether the file itself is at fault, so that a new one would work.
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
