//! `cargo +nightly fuzz run settings`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| (hooksd_tests::fuzz::target("settings").run)(data));
