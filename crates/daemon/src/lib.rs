//! hooksd: a per-user daemon that runs hooks for coding agents.
//!
//! The rooms, from the top down; a room imports only from rooms below it (ARCHITECTURE.md):
//!
//! * [`demo`]: plays two agents against a daemon.
//! * [`server`]: listens, accepts, stops; reads the settings.
//! * `rpc`: lines of a connection to methods, and back.
//! * [`event`]: one event, from its request to its one answer.
//! * `state`: handles to the parts that all connections share.
//! * `journal`: records of events that have ended.
//! * `sessions`: what a session is pinned to, and who has one.
//! * `observe`: what subscribers hear, and what is counted.
//! * `documents`: hooks.json files, kept hot.
//! * [`base`]: what every room may use.
//!
//! [`run`] serves a listener until it is told to stop: the caller owns the socket and the stop signal, so every
//! test boots the real server in its own process.
#![forbid(unsafe_code)]

pub mod base;
pub mod demo;
mod documents;
pub mod event;
mod journal;
mod observe;
pub mod rpc;
pub mod server;
mod sessions;
mod state;

pub use base::settings::Settings;
pub use base::shutdown::{Reload, Shutdown};
pub use server::run::run;

/// Tells builds of one version apart: a hash of the sources that make the daemon.
pub const BUILD: &str = env!("HOOKSD_BUILD_ID");
