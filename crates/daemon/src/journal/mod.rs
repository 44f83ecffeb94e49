//! Records of events that have ended, on their way to the disk.

pub(crate) mod finished;
pub(crate) mod record;
pub(crate) mod writer;
