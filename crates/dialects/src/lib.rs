//! How each agent calls command hooks and reads their answers: one table an agent, and one way through all of them.
//!
//! Pure: bytes and variables in, bytes and an exit status out. Guarantees: what is only passed on is never re-encoded;
//! an event, a tool or a field that the table does not know passes through untouched; stdout holds the answer and
//! nothing else; what an agent cannot enforce is said in a note, and a deny is never among it.
#![forbid(unsafe_code)]

pub mod agents;
mod answer;
mod dialect;
mod document;
mod identity;
mod request;
mod rewrite;
mod sniff;
mod wishes;

pub use answer::{Answer, Failing, Given, Occasion, answer};
pub use dialect::{Attendance, Dialect, Wish};
pub use request::{Request, Surroundings, Trouble, read};
pub use sniff::sniff;

/// The dialect of an agent by its name or one of its other names.
#[must_use]
pub fn dialect(name: &str) -> Option<&'static Dialect> {
    agents::ALL.into_iter().find(|dialect| dialect.name == name || dialect.aliases.contains(&name))
}
