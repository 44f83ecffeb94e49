//! Faults that people have really hit, each as a test named after its case: `b06_...` is case B06. The doc comment of a
//! test is the rule it protects. `README.md` beside this file says which file holds which case.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test: what goes wrong here is a failed test"
)]

mod delivery;
mod ending;
mod guide;
mod launch;
mod life;
mod loading;
mod matching;
mod output;
mod reduction;
mod shape;
mod status;
mod terminal;
mod trust;
mod users;
mod variables;
mod wire;
