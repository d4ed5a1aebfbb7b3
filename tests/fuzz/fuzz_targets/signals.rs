//! Fuzzes the check of the same name.

#![no_main]

#[path = "../checks/signals.rs"]
mod signals;

libfuzzer_sys::fuzz_target!(|data: &[u8]| signals::check(data));
