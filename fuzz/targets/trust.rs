//! `cargo +nightly fuzz run trust`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| (hooksd_tests::fuzz::target("trust").run)(data));
