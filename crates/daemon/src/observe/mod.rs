//! What subscribers hear while it happens, and what is counted.

pub(crate) mod feed;
pub(crate) mod items;
pub(crate) mod stats;
pub(crate) mod subscriber;
