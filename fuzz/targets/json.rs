//! `cargo +nightly fuzz run json`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| (hooksd_tests::fuzz::target("json").run)(data));
