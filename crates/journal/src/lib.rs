//! The journal: what ran on each event and why it was decided so, in one SQLite file that its owner alone can read.
//!
//! The daemon writes it; the daemon and hooksctl read it.
//!
//! What a caller may rely on:
//! 1. What [`Writer::append`] has written survives the end of the process, however it ends, and the file stays whole.
//! 2. A file that is damaged, or has another version, is moved aside with a reason and never overwritten. A file that does
//!    not belong to this user alone is not touched at all.
//! 3. [`query`] reads while a writer writes, and without one. Both block their thread.
//!
//! This crate writes what it is given: whoever hands over a record has removed the secrets from it.
#![forbid(unsafe_code)]

mod error;
mod folder;
mod reader;
mod schema;
mod writer;

pub use error::JournalError;
pub use folder::path;
pub use reader::{DEFAULT_LIMIT, MAX_LIMIT, last_of_agents, query};
pub use writer::{Aside, Log, Writer, log, write_back};
