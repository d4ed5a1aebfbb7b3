//! What every ledger grants, holds and believes: one suite, run on the one in memory and on the one in
//! a file.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a helper of a test fails the test by panicking"
)]

mod days;
mod desk;
mod ends;
mod holds;
mod limits;
mod owners;
mod properties;
mod signatures;
