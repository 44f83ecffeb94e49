//! What tests of the daemon as a whole need: a world of their own (folders, socket, server), a client that sees every
//! byte, events, answers that can be compared as a whole, and a look at the system's processes.
//!
//! A test is `world(async |world| { ... })`. When it returns, the world checks what holds for every test: the daemon
//! still answers, no handler and no zombie is left, and (for the real program) no descriptor is.

mod agent;
mod answer;
pub mod commands;
pub mod events;
mod line;
pub mod processes;
pub mod program;
mod run;
mod server;
mod wait;
mod world;

pub use agent::Agent;
pub use answer::{Answer, allow, ask, decision, deny, no_opinion};
pub use line::{Line, error_of};
pub use run::{alone, beside, daemon, quietly, world, world_with};
pub use wait::{PATIENCE, eventually, eventually_in, until, within};
pub use world::{Setup, World};

/// A file of this text stands in every world as `$DENY`: a PreToolUse answer that denies with the reason "no".
pub const DENY: &str = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#;
