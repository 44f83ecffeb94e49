//! The bytes of a file, and what was found out about them: once for all who hold them.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};

use crate::model::Parsed;

/// A file's bytes. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Contents {
    /// The real path, links resolved.
    pub path: PathBuf,
    /// All of its bytes.
    pub bytes: Arc<[u8]>,
    known: Arc<Known>,
}

/// What was found out about a file's bytes, once for all who hold them.
#[derive(Debug, Default)]
struct Known {
    fingerprint: OnceLock<String>,
    parsed: OnceLock<Parsed>,
}

impl PartialEq for Contents {
    fn eq(&self, other: &Contents) -> bool {
        self.path == other.path && self.bytes == other.bytes
    }
}

impl Eq for Contents {}

impl Contents {
    /// Of the file at this real path.
    #[must_use]
    pub fn new(path: PathBuf, bytes: impl Into<Arc<[u8]>>) -> Contents {
        Contents { path, bytes: bytes.into(), known: Arc::default() }
    }

    /// SHA-256 of the bytes, lowercase hexadecimal. Computed once.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        self.known.fingerprint.get_or_init(|| fingerprint(&self.bytes)).clone()
    }

    /// What can be used of it as a document, as `parse` finds out: asked the first time only.
    pub(crate) fn parsed_by(&self, parse: impl FnOnce(&Contents) -> Parsed) -> &Parsed {
        self.known.parsed.get_or_init(|| parse(self))
    }
}

/// SHA-256 of `bytes`, lowercase hexadecimal.
#[must_use]
pub fn fingerprint(bytes: &[u8]) -> String {
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16));
    Sha256::digest(bytes).iter().flat_map(digits).flatten().collect()
}
