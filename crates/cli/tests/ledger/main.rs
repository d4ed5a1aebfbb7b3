//! The command itself, on files that agents filled.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

mod desk;
mod files;
mod open;
mod pins;
mod printing;
mod resolve;
mod statement;
mod switch;
mod usage;
