//! Fuzzes the check of the same name.

#![no_main]

#[path = "../checks/offer.rs"]
mod offer;
#[path = "../checks/offer_header.rs"]
mod offer_header;
#[path = "../checks/signer.rs"]
mod signer;

libfuzzer_sys::fuzz_target!(|data: &[u8]| offer_header::check(data));
