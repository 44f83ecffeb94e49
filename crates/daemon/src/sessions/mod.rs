//! Sessions: what each is pinned to, who hears of it, and the answers it remembers.

pub(crate) mod context;
pub(crate) mod continuations;
pub(crate) mod delivery;
pub(crate) mod inline;
pub(crate) mod params;
pub(crate) mod plugins;
pub(crate) mod registry;
pub(crate) mod resolved;
pub(crate) mod session;
pub(crate) mod told;
pub(crate) mod transcripts;
