//! `cargo +nightly fuzz run frames`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| (hooksd_tests::fuzz::target("frames").run)(data));
