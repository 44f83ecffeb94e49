//! `cargo +nightly fuzz run legacy`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| (hooksd_tests::fuzz::target("legacy").run)(data));
