//! Fuzzes the check of the same name.

#![no_main]

#[path = "../checks/sealed.rs"]
mod sealed;

libfuzzer_sys::fuzz_target!(|data: &[u8]| sealed::check(data));
