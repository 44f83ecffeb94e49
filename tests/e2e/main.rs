//! The daemon as a whole: one file a method or feature.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test: what goes wrong here is a failed test"
)]

mod environment;
mod legacy_emit;
mod plugins;
mod transcript_append;
mod trust;
mod trust_store;
