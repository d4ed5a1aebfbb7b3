//! Sellers of version 1 of x402: what is bought from them, what they refuse, and what they lose.

#[cfg(test)]
mod offers;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod served;
