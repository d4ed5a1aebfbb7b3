//! The buyer's side of x402.
