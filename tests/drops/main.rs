//! Calls that are dropped half way: what they leave behind.

#[cfg(test)]
mod drops;
#[cfg(test)]
mod slow_ledger;
#[cfg(test)]
mod times;
