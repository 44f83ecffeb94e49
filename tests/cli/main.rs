//! `hooksctl` as people and programs see it: whole commands against a real daemon, in the words they print.
//!
//! Each test is a transcript, compared with the one in snapshots/; `HOOKSD_UPDATE_SNAPSHOTS=1` writes them anew. What
//! varies between runs is replaced in settle.rs, and nowhere else.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test: what goes wrong here is a failed test"
)]

mod coverage;
mod install;
mod life;
mod now;
mod pages;
mod past;
mod running;
mod settle;
mod transcript;
mod trust;
mod why;
