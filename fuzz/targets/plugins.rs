//! `cargo +nightly fuzz run plugins`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| (hooksd_tests::fuzz::target("plugins").run)(data));
