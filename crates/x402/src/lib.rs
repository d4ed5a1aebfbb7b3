//! The buyer's side of x402: offers, signatures, receipts, money, and the machine of one purchase.
//!
//! Pure but for the signer: no clock, no client, no runtime. [`Offer`] is read from a reply, a
//! [`Policy`] chooses among its entries, [`Terms`] are what a [`Wallet`] signs, and a [`Purchase`]
//! keeps what was signed to one authorization, written before it is sent.
//!
//! Supported: x402 versions 1 and 2 over HTTP, scheme `exact` on EVM chains by EIP-3009.

mod asset;
mod balances;
mod chain;
mod choose;
mod domain;
mod encoding;
mod entry;
pub mod evm;
mod fate;
pub mod headers;
mod hearing;
mod identifier;
mod key;
mod money;
mod network;
mod no_match;
mod offer;
mod payload;
mod policy;
mod price;
mod purchase;
mod quote;
mod reasons;
mod receipt;
mod refusal;
mod sealed;
mod showing;
mod signed;
mod statement;
mod supported;
mod terms;
mod token;
mod version;
mod wallet;

pub use alloy_primitives;

pub use asset::{Asset, KnownAsset, NoAsset};
pub use balances::{Balance, Balances};
pub use chain::{
    ChainError, ChainReader, NonceEvent, NonceFacts, NonceOf, Proof, Reading, death_margin, prove,
};
pub use choose::{Candidate, Cheapest, Choose};
pub use domain::Domain;
pub use encoding::EncodingError;
pub use entry::{Entry, EntryError, PaymentFlow};
pub use fate::Money;
pub use identifier::PaymentId;
pub use key::{Derivation, PurchaseKey};
pub use money::{Amount, MoneyError, Usd, usd};
pub use network::{Network, NetworkError};
pub use no_match::{Declined, NoMatch};
pub use offer::{Offer, OfferError, OfferSource};
pub use payload::PayloadError;
pub use policy::Policy;
pub use price::Price;
pub use purchase::{MOST_SIGNATURES, Purchase, PurchaseError};
pub use quote::Quote;
pub use reasons::{Mend, class_of, mend_of};
pub use receipt::Receipt;
pub use refusal::Refusal;
pub use sealed::{Sealed, UnsealError};
pub use showing::Showing;
pub use signed::SignedPayment;
pub(crate) use statement::Statement;
pub use supported::Supported;
pub use terms::{Terms, TermsError, valid_before};
pub use token::Token;
pub use version::Version;
pub use wallet::{SignError, Wallet};
