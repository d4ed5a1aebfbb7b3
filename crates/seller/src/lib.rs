//! A mock x402 seller, to test paying agents against.
//!
//! [`Shop`] is the seller itself: pure, without clock or I/O. It speaks x402 over HTTP, version 2 and
//! where [`Terms::v1`] says so version 1, with the scheme `exact` on EVM chains (EIP-3009), and
//! keeps a [`Ledger`] of its own with the semantics of that standard: a nonce settles once. It reads
//! payments with its own eyes, and recovers every signature. A test asserts on the ledger, never on
//! what the buyer says of itself.
//!
//! By default a route is a model seller: it throttles before it takes money, counts unpaid
//! requests apart, and stores no refusal. Each sin is a setting ([`Limiter`],
//! [`Route::store_errors`], [`Facilitator`]) or a scripted [`Step`]: a reset after settlement,
//! a 429 that was paid for, a settlement that is pending, half a body, a price that rises.
//!
//! [`Seller`] gives a shop a clock and shares it. [`RawServer`] serves it over a real socket with
//! all [`Fault`]s; [`ShopResponder`] serves it through `wiremock`.
//!
//! ```
//! use alloy_primitives::Address;
//! use paywait_seller::{RawServer, Route, Seller, Shop, Terms};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // 0.01 USDC on Base Sepolia
//! let terms = Terms::usdc(10_000, Address::repeat_byte(0x22));
//! let seller = Seller::new(Shop::builder().route(Route::new("/report", terms)).build()?);
//! let server = RawServer::start(seller.clone()).await?;
//!
//! let reply = reqwest::get(format!("{}/report", server.url())).await?;
//! assert_eq!(reply.status(), 402);
//! assert!(reply.headers().contains_key("payment-required"));
//!
//! let ledger = seller.ledger();
//! assert_eq!(ledger.unpaid_requests().count(), 1);
//! assert!(ledger.settlements().is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! # What it is not
//!
//! It has no scheme but `exact`, no Permit2, no smart wallets (EIP-1271, ERC-6492), and no flow
//! `escrow`: such a payment is refused or not seen, as the reference server does. Its chain mines
//! when it is told and never reorganises. It answers one request after the other, so two sends of
//! one payment never overtake each other inside it.

mod answer;
mod authorization;
mod canned;
mod chain;
mod claims;
mod facilitator;
mod ledger;
mod limiter;
mod payment;
mod raw;
mod record;
mod replies;
mod responder;
mod route;
mod sale;
mod seller;
mod shop;
mod step;
mod terms;
mod token;
mod wire;

pub use answer::{Answer, Fault};
pub use canned::Canned;
pub use chain::Settlement;
pub use facilitator::Facilitator;
pub use ledger::Ledger;
pub use limiter::{Limiter, Place, Probes};
pub use raw::RawServer;
pub use record::{RequestRecord, SeenAuthorization};
pub use responder::ShopResponder;
pub use route::{Identifier, Route};
pub use seller::Seller;
pub use shop::{Shop, ShopBuilder, ShopError};
pub use step::Step;
pub use terms::{Flow, Terms};
pub use token::Token;
