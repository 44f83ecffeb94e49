//! `cargo +nightly fuzz run requests`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| (hooksd_tests::fuzz::target("requests").run)(data));
