//! Limits over real sockets: what many callers, calls and labels may spend, and who may be paid. What
//! counts is the seller's ledger.

#[cfg(test)]
mod calls;
#[cfg(test)]
mod parallel;
#[cfg(test)]
mod pins;
#[cfg(test)]
mod shop;
#[cfg(test)]
mod switch;
#[cfg(test)]
mod words;
