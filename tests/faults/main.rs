//! Faults on purpose. Each test breaks something under a daemon that is a process of its own, and ends with the same
//! question (`after.rs`): is every verdict there, is no process left, is every file whole, is the next request answered?
//!
//! What cannot be provoked from outside is in `failpoints.rs`, for programs that are built to fail:
//! `cargo test -p hooksd-tests --features failpoints --test faults`. Descriptors, processes and many handlers at once are
//! `../storm/`, the journal's own faults `../storm/journal.rs` and `../storm/crash.rs`.
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

mod after;
mod cut;
mod disk;
mod failpoints;
mod killed;
mod shortage;
mod slow;
mod stopped;
mod watcher;

use hooksd_tests::harness::{Setup, World, world_with};
use serde_json::{Value, json};

/// A document whose handlers on PreToolUse are a guard that denies and these.
fn guard_and(commands: &[&str]) -> Value {
    let all = [&["echo no >&2; exit 2"], commands].concat();
    let handlers: Vec<Value> =
        all.iter().map(|command| json!({ "type": "command", "command": command })).collect();
    json!({ "hooks": { "PreToolUse": [{ "hooks": handlers }] } })
}

/// Runs a test against the real program under these limits, which are a shell's.
fn under(limits: &str, test: impl AsyncFnOnce(&World)) {
    world_with(Setup { program: true, limits: limits.to_owned(), ..Setup::default() }, test);
}
