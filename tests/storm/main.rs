//! Many handlers, scarce limits, handlers that run away: no verdict is lost and no process is left.
//!
//! Every test starts the real `hooksd` as a process of its own, under limits of its own, so that descriptors, children
//! and memory can be counted from outside. `soak` runs 2,000 handlers here and 100,000 on demand (CONTRIBUTING.md).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test that fails to set up has failed"
)]
#![cfg(target_os = "linux")]

mod crash;
mod drain;
mod fairness;
mod idle;
mod inherited;
mod journal;
mod limits;
mod mixed;
mod nested;
mod peers;
mod queue;
mod soak;
mod subscribers;
mod support;
mod trees;
