//! `reqwest-middleware` layers for agents that pay per call.
//!
//! An agent is refused in two ways: 402 means "pay first", 429 means "wait". [`Retry`] reads each
//! refusal and waits, backs off or stops; [`Pay`] pays x402 offers, once a call; [`Pace`] slows
//! down before the refusal. Attached to one client they are one loop with one judge, in any order:
//! the outermost drives, the others lend their part.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # use paywait_seller::{Canned, RawServer, Route, Seller, Shop, Terms};
//! # let pay_to = paywait::alloy_primitives::Address::repeat_byte(0x22);
//! # let seller = Seller::new(Shop::builder().route(Route::new("/report", Terms::usdc(10_000, pay_to))).build()?);
//! # let server = RawServer::start(seller.clone()).await?;
//! # let url = format!("{}/report", server.url());
//! # let signer = alloy_signer_local::PrivateKeySigner::random();
//! use paywait::{Limits, Pace, Pay, Retry, Wallet, usd};
//!
//! let limits = Limits::per_call(usd("0.05")?).per_day(usd("5")?);
//! let client = reqwest_middleware::ClientBuilder::new(paywait::http_client()?)
//!     .with(Retry::default())
//!     .with(Pay::new(Wallet::evm(signer), limits))
//!     .with(Pace::default())
//!     .build();
//!
//! let reply = client.get(url).send().await?;
//! let report = paywait::report(&reply);
//! assert!(report.to_string().starts_with("200 after 1 attempt, 2 sends, paid 0.01 USDC"));
//! # assert_eq!(seller.ledger().settlements().len(), 1);
//! # Ok(()) }
//! ```
//!
//! # What the caller gets
//!
//! The last answer, whole, whatever its status: a refusal is a response. [`report()`] finds what
//! happened beside it. Where no answer came there is an error; [`Error::find`] gets ours back
//! through anything that was wrapped around it, and it says what may have been spent.
//!
//! # Money
//!
//! One call is one purchase with one nonce, which settles at most once (EIP-3009). Its price was held
//! within the limits before anybody signed, and its bytes stood in a ledger before the first of them
//! left. Where its fate is unknown, the same bytes are shown again. [`safety`] has the argument, and
//! what it rests on.
//!
//! # Features
//!
//! `retry`, `pay` and `pace` bring the layers, and are on by default. Without `pay` no alloy crate
//! is in the tree. `sqlite` brings a ledger in a file. No TLS is chosen unless you ask for `rustls`; `json` forwards reqwest's.

#[cfg(not(any(feature = "retry", feature = "pay", feature = "pace")))]
compile_error!("paywait is made of layers: choose at least one of the features retry, pay, pace");

/// The README's program compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

#[cfg(feature = "pay")]
mod approve;
#[cfg(feature = "pay")]
mod call_limit;
mod client;
mod clock;
mod deadline;
mod driver;
mod error;
mod failure;
#[cfg(feature = "pay")]
mod kept;
#[cfg(feature = "pay")]
mod labels;
mod layer;
#[cfg(feature = "pay")]
mod name;
#[cfg(feature = "pace")]
mod pace;
mod part;
#[cfg(feature = "pay")]
mod pay;
mod peek;
mod report;
mod request;
#[cfg(feature = "retry")]
mod retry;
mod running;
#[cfg(feature = "pay")]
pub mod safety {
    #![doc = include_str!("safety.md")]
}
mod scope;
#[cfg(any(feature = "pay", feature = "pace"))]
mod stake;

#[cfg(feature = "pay")]
pub use approve::{Approval, Approve, Proposal};
#[cfg(feature = "pay")]
pub use call_limit::CallLimit;
pub use client::{client_builder, http_client};
pub use clock::{Clock, SystemClock};
pub use deadline::Deadline;
pub use error::Error;
#[cfg(feature = "pay")]
pub use labels::Labels;
#[cfg(feature = "pay")]
pub use name::{Namespace, PurchaseName};
#[cfg(feature = "pace")]
pub use pace::Pace;
#[cfg(feature = "pay")]
pub use pay::Pay;
pub use report::report;
#[cfg(feature = "retry")]
pub use retry::Retry;
pub use scope::Scope;

pub use paywait_call::{Answer, End, FailureKind, NotPaid, Report, Sent};
#[cfg(feature = "pay")]
pub use paywait_call::{NotApproved, Paid};
#[cfg(feature = "pay")]
pub use paywait_ledger::{
    By, Label, LabelError, Ledger, LedgerError, Limit, Limits, Line, MemoryLedger, Origin, Outcome,
    OverLimit, Period, Quantity, Reach, Reconciled, Record, Resolution, Statement, StoreError,
    reconcile,
};
#[cfg(feature = "sqlite")]
pub use paywait_ledger::{OpenError, SqliteLedger, SqliteOptions};
#[cfg(feature = "pace")]
pub use paywait_pacer::{MemoryStore, QuotaStore};
pub use paywait_signals::{Action, Decision, Reason, Signal, Timestamp, Window};
#[cfg(feature = "pay")]
pub use paywait_x402::{
    Amount, Asset, Balance, Balances, Candidate, ChainError, ChainReader, Cheapest, Choose,
    Declined, Derivation, Domain, Entry, KnownAsset, Money, Network, NoMatch, NonceEvent,
    NonceFacts, NonceOf, PaymentFlow, PaymentId, Price, Proof, PurchaseKey, Quote, Reading,
    Refusal, Supported, Token, Usd, Wallet, alloy_primitives, usd,
};
