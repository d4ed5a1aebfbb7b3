//! The contract of a ledger.

use std::fmt;
use std::pin::Pin;

use paywait_signals::Timestamp;
use paywait_x402::{Money, PurchaseKey, SignedPayment, Usd};

use crate::{Fingerprint, Intent, Limits};

/// A write that is queued when it is called, and durable when this is ready.
///
/// Dropping it does not take the write back.
pub type Durable<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Where purchases are recorded, and limits kept.
///
/// # Contract
///
/// * Each method is atomic, and takes effect in the order of calls from one caller.
/// * Writes name the [`Epoch`] under which the record was taken; one with an older epoch is
///   refused with [`LedgerError::Lost`] and changes nothing.
/// * A false *no* costs a payment that was not made. A false *yes*, a hold that was let go or a
///   signature that was forgotten, costs money twice. When in doubt, an implementation says no.
/// * No method may block the thread it is called on for longer than a lock is held.
pub trait Ledger: fmt::Debug + Send + Sync {
    /// Adds limits. Of several, the tightest holds.
    fn register(&self, limits: Limits);

    /// Takes the purchase of `key` for the caller, if there is one that is signed.
    ///
    /// # Errors
    ///
    /// [`LedgerError::OtherRequest`] if the key belongs to another request.
    fn take(
        &self,
        key: PurchaseKey,
        fingerprint: Fingerprint,
        now: Timestamp,
    ) -> Durable<Result<Taken, LedgerError>>;

    /// Writes an intent with its hold, unless the purchase is signed already.
    ///
    /// # Errors
    ///
    /// [`LedgerError::OverLimit`] if the price does not fit, and [`LedgerError::OtherRequest`].
    fn intend(&self, intent: Intent, now: Timestamp) -> Durable<Result<Taken, LedgerError>>;

    /// Writes the signed bytes, and returns those that stand: a record that holds some keeps them.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Lost`] if another caller has taken the purchase since.
    fn persist(
        &self,
        key: PurchaseKey,
        epoch: Epoch,
        payment: SignedPayment,
        now: Timestamp,
    ) -> Durable<Result<SignedPayment, LedgerError>>;

    /// Writes what became known of the money.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Lost`] if another caller has taken the purchase since. What became known is
    /// written all the same if it says that money moved: a receipt is true whoever brings it.
    fn note(
        &self,
        key: PurchaseKey,
        epoch: Epoch,
        money: Money,
        now: Timestamp,
    ) -> Durable<Result<(), LedgerError>>;

    /// Gives the purchase back. A hold is let go only if `signer_asked` is false and nothing is
    /// signed: then, and only then, nothing can be cashed. Never blocks: it is called on drop.
    fn release(&self, key: PurchaseKey, epoch: Epoch, signer_asked: bool);
}

/// The number that a ledger gives to each taker of a purchase. Later takers have larger ones.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Epoch(u64);

impl Epoch {
    /// Returns the epoch of this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// What came of taking a purchase.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Taken {
    /// There is none under this key.
    Nothing,
    /// The intent is written and the price held. It is the caller's to sign.
    Intended(Epoch),
    /// It is signed, and the caller's to show: these bytes stand.
    Standing {
        /// The epoch to write under.
        epoch: Epoch,
        /// The signed bytes.
        payment: Box<SignedPayment>,
        /// What is known of the money.
        money: Money,
    },
    /// Another caller has it.
    InFlight,
}

/// Why a ledger did not write.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The price does not fit under a limit.
    #[error(
        "{asked} USD more would pass the limit of {allowed} USD per day, of which {used} USD is spent or held"
    )]
    OverLimit {
        /// The price.
        asked: Usd,
        /// The limit.
        allowed: Usd,
        /// What counts against it now.
        used: Usd,
        /// When enough of it stops counting, if it ever does.
        come_back: Option<Timestamp>,
    },
    /// The key belongs to another request.
    #[error("this purchase key belongs to another request")]
    OtherRequest,
    /// Another caller has taken the purchase since.
    #[error("another caller has taken this purchase since")]
    Lost,
    /// The store failed.
    #[error("the store failed: {0}")]
    Store(String),
}
