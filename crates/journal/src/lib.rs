//! The journal: what ran and why it was decided so, in one SQLite file of its owner's alone.
//!
//! What a caller may rely on:
//! 1. What [`Writer::append`] has written survives the end of the process, however that comes, and the file is whole.
//! 2. A file that is broken, or of another version, is moved aside with a reason and never overwritten; one that is not
//!    ours alone is not touched at all.
//! 3. [`query`] reads beside a writer, and without one. Neither knows a runtime: both block.
//!
//! Records come here without secrets already: this crate writes what it is given.
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
