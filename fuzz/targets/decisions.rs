//! `cargo +nightly fuzz run decisions`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| (hooksd_tests::fuzz::target("decisions").run)(data));
