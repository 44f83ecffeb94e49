//! Commands that have something run, or stopped.

pub(crate) mod conformance;
pub(crate) mod hook;
pub(crate) mod invoke;
pub(crate) mod kill;
pub(crate) mod replay;
