//! Fuzzes the check of the same name.

#![no_main]

#[path = "../checks/receipt.rs"]
mod receipt;

libfuzzer_sys::fuzz_target!(|data: &[u8]| receipt::check(data));
