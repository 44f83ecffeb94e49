//! Whether a project's document counts (contract section 10). Anything unresolvable is untrusted.
//!
//! * [`store`]: what is trusted for good, in a file that other programs share.
//! * [`write`](mod@write): changing it under their lock, and never over something that cannot be read.
//! * [`policy`]: what one session trusts: its own grants, bound to bytes, and the store if it may.
//! * [`consent`]: what a person is shown before trusting, and the change itself.

pub mod consent;
pub mod policy;
pub mod store;
mod time;
pub mod write;

pub use policy::Policy;
pub use store::{Entry, Store, store_path};
