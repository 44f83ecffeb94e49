//! `cargo +nightly fuzz run outputs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| (hooksd_tests::fuzz::target("outputs").run)(data));
