//! The contract of a ledger.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use paywait_signals::Timestamp;
use paywait_x402::alloy_primitives::Address;
use paywait_x402::{Asset, Money, PurchaseKey, SignedPayment};

use crate::{
    Fingerprint, Intent, Kept, Limits, Line, Note, Origin, OverLimit, Owner, Record, Resolution,
    StoreError,
};

/// A write that is queued when it is called, and durable when this is ready.
///
/// Dropping it does not take the write back.
pub type Durable<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Where purchases are recorded, and limits kept.
///
/// # Contract
///
/// * Each method is atomic, and takes effect in the order of calls from one caller.
/// * Writes name the [`Owner`] that took the purchase; one of an owner that has it no more is
///   refused with [`LedgerError::Lost`] and changes nothing.
/// * A purchase is one owner's until it gives it back, or has written nothing for thirty seconds.
/// * A false *no* costs a payment that was not made. A false *yes*, a hold that was let go or a
///   signature that was forgotten, costs money twice. When in doubt, an implementation says no.
/// * No method may block the thread it is called on for longer than a lock is held.
pub trait Ledger: fmt::Debug + Send + Sync {
    /// Adds limits. All that are registered hold, for whoever uses the ledger by this handle.
    fn register(&self, limits: &Limits);

    /// Returns whether a restart of the program forgets what was spent.
    fn forgets_at_restart(&self) -> bool;

    /// Takes the purchase of `key` for `owner`, if there is one that is signed.
    ///
    /// # Errors
    ///
    /// [`LedgerError::OtherRequest`] if the key belongs to another request.
    fn take(
        &self,
        key: PurchaseKey,
        fingerprint: Fingerprint,
        owner: Owner,
        now: Timestamp,
    ) -> Durable<Result<Taken, LedgerError>>;

    /// Writes an intent with its hold, and takes the purchase for `owner`; of one that stands, what
    /// is at stake is raised. Where more is signed than the intent knows of, or what is signed is
    /// neither refused nor expired, that is handed back.
    ///
    /// Where an unnamed purchase of the same request was left open, that one is named in place of
    /// writing anything, and is nobody's yet: it is [taken](Self::take) under its own key. So whoever
    /// is dropped before he hears of it has nothing that he could not give back.
    ///
    /// # Errors
    ///
    /// [`LedgerError::OverLimit`] if the price does not fit, [`LedgerError::OtherPayee`],
    /// [`LedgerError::Halted`], [`LedgerError::OtherRequest`], and
    /// [`LedgerError::Lost`] if the purchase of which the caller knows signatures is not there.
    fn intend(
        &self,
        intent: Intent,
        owner: Owner,
        now: Timestamp,
    ) -> Durable<Result<Taken, LedgerError>>;

    /// Writes the signed bytes that were intended, and returns those that stand.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Lost`] if another has taken the purchase since.
    fn persist(
        &self,
        key: PurchaseKey,
        owner: Owner,
        payment: SignedPayment,
        now: Timestamp,
    ) -> Durable<Result<SignedPayment, LedgerError>>;

    /// Writes what became known.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Lost`] if another has taken the purchase since. What became known is written
    /// all the same if it says that money moved: a receipt is true whoever brings it.
    fn note(
        &self,
        key: PurchaseKey,
        owner: Owner,
        note: Note,
        now: Timestamp,
    ) -> Durable<Result<(), LedgerError>>;

    /// Says that `owner` still has the purchase in hand.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Lost`] if another has taken it since.
    fn renew(
        &self,
        key: PurchaseKey,
        owner: Owner,
        now: Timestamp,
    ) -> Durable<Result<(), LedgerError>>;

    /// Gives the purchase back. A hold is let go only if `signer_asked` is false and nothing is
    /// signed: then, and only then, nothing can be cashed. Never blocks: it is called on drop, also
    /// by an owner that has not heard whether it got the purchase.
    fn release(&self, key: PurchaseKey, owner: Owner, signer_asked: bool);

    /// Returns the purchases that may have cost money and are neither delivered nor ended.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Store`].
    fn open_purchases(&self) -> Durable<Result<Vec<Record>, LedgerError>>;

    /// Ends a purchase by hand, or by proof.
    ///
    /// # Errors
    ///
    /// [`LedgerError::InHand`] if a call has it, and [`LedgerError::Lost`] if there is none.
    fn resolve(
        &self,
        key: PurchaseKey,
        resolution: Resolution,
        now: Timestamp,
    ) -> Durable<Result<(), LedgerError>>;

    /// Halts everything, or resumes it: while it is halted nothing is signed, and nothing is shown that
    /// was not shown before. What was shown goes on, since it may have cost money already. It holds for
    /// all who share the store, until it is resumed.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Store`]. Whether it is halted is then not known.
    fn halt(&self, halted: bool) -> Durable<Result<(), LedgerError>>;

    /// Takes away the pin of an origin and token, and returns the payee that was pinned: the next one
    /// is trusted again.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Store`].
    fn unpin(&self, origin: Origin, asset: Asset) -> Durable<Result<Option<Address>, LedgerError>>;

    /// Returns what became of each purchase that was spent since `since` and before `until`, or began
    /// then if it is not known to be spent; the oldest first.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Store`].
    fn lines(
        &self,
        since: Timestamp,
        until: Timestamp,
        now: Timestamp,
    ) -> Durable<Result<Vec<Line>, LedgerError>>;
}

/// What came of taking a purchase.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Taken {
    /// There is none under this key.
    Nothing,
    /// The intent is written and the price held. It is the caller's to sign.
    Intended,
    /// It is signed, and the caller's to show: these bytes stand.
    Standing(Box<Standing>),
    /// What it paid for was kept: this is it.
    Kept(Arc<Kept>),
    /// It is over: settled and forgotten but for its key, or ended by hand. Nothing is signed for
    /// this key again.
    Spent(Money),
    /// Another caller has it.
    InFlight,
}

/// A purchase that stands, as its new owner takes it up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Standing {
    /// Its key: where an unnamed purchase was taken over, not the one that was asked for.
    pub key: PurchaseKey,
    /// The signed bytes, oldest first.
    pub payments: Vec<SignedPayment>,
    /// What is known of the money.
    pub money: Money,
    /// How often the last of them was shown.
    pub shown: u32,
}

/// Why a ledger did not write.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The price does not fit under a limit.
    #[error(transparent)]
    OverLimit(Box<OverLimit>),
    /// Another payee is asked for than the one that is pinned for this origin and token.
    #[error("{origin} asks to pay {asked}, and was to be paid as {pinned} (setting: pin_payees)")]
    OtherPayee {
        /// Where the request goes.
        origin: Origin,
        /// The payee that is asked for.
        asked: Address,
        /// The payee that was paid first.
        pinned: Address,
    },
    /// Everything is halted: nothing is signed, and nothing is shown that was not shown before.
    #[error("the ledger is halted: nothing is paid until it is resumed")]
    Halted,
    /// The key belongs to another request.
    #[error("this purchase key belongs to another request")]
    OtherRequest,
    /// Another caller has taken the purchase since, or there is none.
    #[error("another caller has taken this purchase since")]
    Lost,
    /// A call has the purchase in hand.
    #[error("a call has this purchase in hand")]
    InHand,
    /// The store failed.
    #[error("nothing was written: {0}")]
    Store(#[from] StoreError),
}
