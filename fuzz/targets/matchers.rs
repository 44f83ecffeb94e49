//! `cargo +nightly fuzz run matchers`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| (hooksd_tests::fuzz::target("matchers").run)(data));
