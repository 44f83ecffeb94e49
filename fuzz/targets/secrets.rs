//! `cargo +nightly fuzz run secrets`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| (hooksd_tests::fuzz::target("secrets").run)(data));
