//! The commands, by what a person wants.
//!
//! * [`run`]: have something run, or stopped: events, recorded ones, an engine's scenarios.
//! * [`see`]: look at what runs, what ran and why, and what is wrong. Nothing is changed.
//! * [`set`]: change how hooks run: the first ones, trust, the daemon and its service.
//! * [`agents`]: have agents call hooksd.
//! * [`pages`]: completions and manual pages.

pub(crate) mod agents;
pub(crate) mod pages;
pub(crate) mod run;
pub(crate) mod see;
pub(crate) mod set;
