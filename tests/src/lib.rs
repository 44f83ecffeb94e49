//! Nothing of its own: this package holds the tests that need more than one crate.
//!
//! * `conformance/`: the vectors of the Hooks v2 contract and their runner (`cargo test --test conformance`).
