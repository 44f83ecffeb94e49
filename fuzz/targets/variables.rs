//! `cargo +nightly fuzz run variables`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| (hooksd_tests::fuzz::target("variables").run)(data));
