//! Agents' configurations: what of ours is in them, and how it gets there and out again.
//!
//! * [`agents`]: one table an agent: where its configuration is, what an entry looks like, what the person must know.
//! * [`document`], [`toml`]: documents with and without our entries, as text; [`json`] is what the first is built of,
//!   [`entry`] what is added, [`approval`] what one agent needs besides.
//! * [`plan`]: which files change, from what to what. [`disk`]: how they are changed.
//! * [`versions`]: which agents are there.

pub(crate) mod agents;
mod approval;
pub(crate) mod disk;
mod document;
pub(crate) mod entry;
mod json;
pub(crate) mod plan;
mod toml;
pub(crate) mod versions;

#[cfg(test)]
mod document_tests;
