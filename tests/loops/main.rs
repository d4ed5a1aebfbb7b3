//! Loops around and under a call: none of them makes it pay twice, and all get a typed end.

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
