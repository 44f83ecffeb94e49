//! Decides which handlers run on an event and what they read, and makes one decision of what they have printed.
//!
//! The daemon uses it for every event; `hooksctl explain` and the conformance suite use the same code. It does no I/O
//! and looks at no clock, so that the same input always gives the same output (ARCHITECTURE, invariant 2).
//!
//! * [`plan`]: chooses the handlers for an event, and makes what they read.
//! * [`projection`], [`tools`]: put an event into the names that handlers know (contract section 3).
//! * [`explain`]: says why a handler runs on an event, or why it does not.
//! * [`output`]: reads what a handler has printed (contract sections 6 and 8).
//! * [`reduce`]: makes one decision of what all handlers have said (contract section 9).
//! * [`redact`], [`quotes`]: take secrets out of what is written down.
//! * [`environment`], [`terminal`]: say which variables reach handlers, and which escape sequences reach a terminal.
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
