//! Purchases that the caller names: bought once, whoever asks again.

#[cfg(test)]
mod left;
#[cfg(test)]
mod names;
#[cfg(test)]
mod scopes;
