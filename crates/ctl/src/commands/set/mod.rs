//! Commands that change how hooks run: a first hooks.json, trust, and the daemon's life.

pub(crate) mod init;
pub(crate) mod reload;
pub(crate) mod restart;
pub(crate) mod service;
pub(crate) mod shutdown;
pub(crate) mod trust;
