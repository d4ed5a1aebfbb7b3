//! Fuzzes the check of the same name.

#![no_main]

#[path = "../checks/base64.rs"]
mod base64;

libfuzzer_sys::fuzz_target!(|data: &[u8]| base64::check(data));
