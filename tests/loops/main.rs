//! Loops around and under a call: none of them makes it pay twice, and all get a typed end.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::future_not_send,
    clippy::wildcard_enum_match_arm,
    reason = "a test counts, runs on one thread, and names what matters"
)]

#[cfg(test)]
mod around;
#[cfg(test)]
mod ends;
#[cfg(test)]
mod ledger;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod sales;
#[cfg(test)]
mod sdk;
#[cfg(test)]
mod steps;
