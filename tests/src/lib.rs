//! The tests that need more than one crate, and what they share.
//!
//! * `conformance/`: the vectors of the Hooks v2 contract and their runner (`cargo test --test conformance`).
//! * `e2e/`: the daemon over its socket, one file a method.
//! * `cases/`: faults that people have really hit, as tests named after their case; `cases/README.md` lists them.
//! * `fuzz/`: what must hold for any bytes, on a corpus and mutations of it.
//! * `tidy/`: promises of the repository about itself.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::missing_panics_doc,
    reason = "this is test code: what goes wrong here is a failed test"
)]

pub mod fuzz;
pub mod harness;
