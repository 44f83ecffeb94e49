//! `cargo +nightly fuzz run stdin`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| (hooksd_tests::fuzz::target("stdin").run)(data));
