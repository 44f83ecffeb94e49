//! Attacks, as an attacker would do them. SECURITY.md says who may attack whom and which test stands for which answer;
//! what is not here is beside what it is about (`../e2e/`, `../cases/`, `../storm/`).
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

mod environment;
mod exhaustion;
mod links;
mod peer;
mod plugins;
mod sandbox;
mod swap;
mod terminal;

use std::ffi::OsStr;
use std::process::Command;

use hooksd_tests::harness::{World, program};

/// `hooksctl` in the world's project, or another program there with the same environment.
fn ctl(world: &World, arguments: &[&str]) -> Command {
    let environment = world.environment();
    let environment: Vec<(&str, &OsStr)> =
        environment.iter().map(|(name, value)| (name.as_str(), OsStr::new(value))).collect();
    let mut command = program::command("hooksctl", &environment);
    command.env("HOOKSD_SOCKET", world.socket()).env("HOOKSD_CONFIG_DIR", world.at("config"));
    command.current_dir(world.at("project")).args(arguments);
    command
}
