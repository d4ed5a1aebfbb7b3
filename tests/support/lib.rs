//! What the end to end tests share.

pub mod buyer;
pub mod clock;
pub mod foreign;
pub mod reference;
pub mod shop;
pub mod signer;
