//! A mock x402 seller.
