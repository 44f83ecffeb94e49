//! hooks.json documents to a [`Snapshot`]: the compiled, immutable union of all documents that apply to a session.
//!
//! * [`model`]: the types that all of this is about; [`contents`]: the bytes of a file.
//! * [`read`]: bytes of a file that may be anything, without blocking and within a bound.
//! * [`document`]: one document to groups of handlers, item by item (contract section 4).
//! * [`legacy`]: the older, list-shaped documents (contract section 11).
//! * [`environment`], [`dotenv`]: the variables of a session (contract section 12).
//! * [`lifecycle`]: how long a handler's process lives (D9).
//! * [`now`]: the documents as they are now, used or not.
//! * [`places`]: where in a document something stands.
//! * [`matcher`]: which events a group is for, with Python's meaning (contract section 5, D7).
//! * [`layers`]: project > user > plugin, into one snapshot.
//! * [`plugins`]: which are enabled, and their documents (contract section 7).
//! * [`bridge`]: commands that are hooksd itself (D15).
//! * [`snapshot`], [`canonical`]: the result and its id.
//! * [`project`], [`trust`]: where the project is and whether its document counts (contract section 10).
//!
//! Every function returns what could be used and diagnostics for the rest; nothing here fails as a whole (D18).
#![forbid(unsafe_code)]

pub mod bridge;
pub mod canonical;
pub mod check;
pub mod contents;
pub mod document;
pub mod dotenv;
pub mod environment;
mod index;
pub mod layers;
pub mod legacy;
pub mod lifecycle;
pub mod matcher;
pub mod model;
pub mod now;
pub mod places;
pub mod plugins;
pub mod project;
pub mod read;
pub mod safe_name;
pub mod snapshot;
pub mod trust;

pub use lifecycle::Lifecycle;
pub use model::{Handler, OnFailure};
pub use snapshot::Snapshot;
