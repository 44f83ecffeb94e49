//! Commands that look: at what runs, at what ran and why, and at what is wrong. They change nothing.

pub(crate) mod check;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod log;
mod openmetrics;
pub(crate) mod report;
pub(crate) mod sessions;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod tail;
pub(crate) mod timeline;
pub(crate) mod top;
mod waterfall;
