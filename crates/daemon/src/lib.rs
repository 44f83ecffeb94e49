//! hooksd: a per-user daemon that runs hooks for coding agents.
//!
//! The way of one event, each step one room, no step back:
//! `connection` (line) -> `methods` (request) -> `sessions` (session, snapshot) -> `invoke` (exactly once) ->
//! engine plan -> [`fanout`] -> engine reduction -> `connection` (line).
//!
//! [`run`] serves a listener until it is told to stop: the caller owns the socket and the stop signal, so every
//! test boots the real server in its own process.
#![forbid(unsafe_code)]

mod account;
pub mod activation;
pub mod background;
pub mod configure;
mod connection;
pub mod daemon;
pub mod demo;
mod driven;
pub mod fanout;
mod feed;
mod gate;
mod held;
mod hot;
mod invoke;
mod journal;
mod legacy;
pub mod lifecycle;
pub mod lines;
pub mod listen;
mod methods;
mod once;
mod opening;
mod outbox;
mod pinned;
mod plugins;
mod private;
mod record;
mod run;
pub mod service;
mod session;
mod sessions;
pub mod settings;
mod stats;
mod subscriber;
mod transcripts;
mod underway;
pub mod unfinished;
mod unwound;
pub mod variables;
mod who;

pub use daemon::{Reload, Shutdown, run};
pub use settings::Settings;

/// Tells builds of one version apart: a hash of the sources that make the daemon.
pub const BUILD: &str = env!("HOOKSD_BUILD_ID");
