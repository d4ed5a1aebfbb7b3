//! Processes that buy, killed at any moment, and what their ledgers then say.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::wildcard_enum_match_arm,
    reason = "a test counts what it saw"
)]

#[cfg(test)]
mod killed;
