//! Agents' configurations: what of ours is in them, and how it gets there and out again.
//!
//! * [`install`], [`list`]: the commands.
//! * [`known`]: one table an agent: where its configuration is, what an entry looks like, what the person must know.
//! * [`plan`]: which files change, from what to what. [`disk`]: how they are changed.
//! * [`json_document`], [`toml_document`]: documents with and without our entries, as text; [`json`] is what the first is
//!   built of, [`entry`] what is added, [`approval`] what one agent needs besides.
//! * [`versions`]: which agents are there.

mod approval;
mod disk;
mod entry;
pub(crate) mod install;
mod json;
mod json_document;
mod known;
pub(crate) mod list;
mod plan;
mod toml_document;
mod versions;

#[cfg(test)]
mod json_document_tests;
