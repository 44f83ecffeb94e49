//! `cargo +nightly fuzz run documents`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| (hooksd_tests::fuzz::target("documents").run)(data));
