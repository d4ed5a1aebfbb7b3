//! Fuzzes the check of the same name.

#![no_main]

#[path = "../checks/purchase.rs"]
mod purchase;
#[path = "../checks/signer.rs"]
mod signer;

libfuzzer_sys::fuzz_target!(|data: &[u8]| purchase::check(data));
