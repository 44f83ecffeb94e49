//! The pure heart: snapshot + event to the handlers to run and their stdin, outcomes to the one decision.
//! No I/O, no clock, no runtime: the same input gives the same output (ARCHITECTURE, invariant 2).
//!
//! * [`plan`]: which handlers are for the event, and what they read.
//! * [`projection`], [`tools`]: the event in the handlers' terms (BEHAVIOUR section 3).
//! * [`explain`]: why a handler runs on an event, or why not.
//! * [`output`]: what a handler printed (BEHAVIOUR sections 6 and 8).
//! * [`reduce`]: all answers to one decision (BEHAVIOUR section 9).
//! * [`redact`], [`quotes`]: what is written down, without secrets.
//! * [`environment`], [`terminal`]: which variables and escape sequences pass.
#![forbid(unsafe_code)]

mod decode;
pub mod environment;
pub mod explain;
pub mod legacy;
pub mod names;
pub mod output;
pub mod plan;
pub mod projection;
pub mod quotes;
pub mod redact;
pub mod reduce;
pub mod terminal;
pub mod tools;
