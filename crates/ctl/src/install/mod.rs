//! Agents' configurations: what of ours is in them, and how it gets there and out again.
//!
//! * [`agents`]: one table an agent: where its configuration is, what an entry looks like, what the person must know.
//! * [`json`], [`document`], [`entry`]: JSON documents with and without our entries, as text.

mod agents;
mod document;
mod entry;
mod json;

#[cfg(test)]
mod document_tests;
