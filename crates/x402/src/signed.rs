//! A signed payment: bytes that whoever has them can cash.

use std::fmt;

use alloy_primitives::{Address, B256, Signature};

use crate::payload::{PayloadError, PaymentHeader};
use crate::{Amount, Asset, PaymentId, Terms, Version};

/// A signed payment.
///
/// Its bytes cannot be read: they reach the wire through
/// [`Purchase::show`](crate::Purchase::show) alone, which hands them out after a ledger had them. A
/// ledger keeps it [sealed](Self::seal).
///
/// ```compile_fail
/// fn leak(payment: &paywait_x402::SignedPayment) -> &http::HeaderValue {
///     payment.header()
/// }
/// ```
#[derive(Clone)]
pub struct SignedPayment {
    pub(crate) payer: Address,
    pub(crate) pay_to: Address,
    pub(crate) amount: Amount,
    pub(crate) asset: Asset,
    pub(crate) nonce: B256,
    pub(crate) valid_before: u64,
    pub(crate) payment_id: PaymentId,
    pub(crate) header: PaymentHeader,
}

impl SignedPayment {
    pub(crate) fn new(terms: &Terms, signature: &Signature) -> Result<Self, PayloadError> {
        Ok(Self {
            payer: terms.payer(),
            pay_to: terms.pay_to(),
            amount: terms.amount(),
            asset: terms.asset(),
            nonce: terms.nonce(),
            valid_before: terms.valid_before(),
            payment_id: terms.payment_id().clone(),
            header: terms.draft.header(signature)?,
        })
    }

    /// Returns the version of x402 in which it is written: it names the header that carries it.
    pub const fn version(&self) -> Version {
        self.header.version
    }

    /// Returns who pays.
    pub const fn payer(&self) -> Address {
        self.payer
    }

    /// Returns who is paid.
    pub const fn pay_to(&self) -> Address {
        self.pay_to
    }

    /// Returns how much, in atomic units.
    pub const fn amount(&self) -> Amount {
        self.amount
    }

    /// Returns the token.
    pub const fn asset(&self) -> Asset {
        self.asset
    }

    /// Returns the nonce.
    pub const fn nonce(&self) -> B256 {
        self.nonce
    }

    /// Returns until when it can be cashed, in seconds since the Unix epoch.
    pub const fn valid_before(&self) -> u64 {
        self.valid_before
    }

    /// Returns the identifier of its purchase.
    pub const fn payment_id(&self) -> &PaymentId {
        &self.payment_id
    }

    /// Returns whether this is what `terms` say.
    pub(crate) fn is_of(&self, terms: &Terms) -> bool {
        (
            self.version(),
            self.payer,
            self.pay_to,
            self.amount,
            self.asset,
            self.nonce,
            self.valid_before,
        ) == (
            terms.version(),
            terms.payer(),
            terms.pay_to(),
            terms.amount(),
            terms.asset(),
            terms.nonce(),
            terms.valid_before(),
        )
    }

    /// Returns whether `terms` would be signed in the nonce space of this payment, with its nonce, for
    /// its payee and under its identifier: then the two settle once between them.
    pub(crate) fn keeps_space(&self, terms: &Terms) -> bool {
        let other = (
            terms.payer(),
            terms.pay_to(),
            terms.asset(),
            terms.nonce(),
            terms.payment_id(),
        );
        self.space() == other
    }

    /// Returns whether this and `other` settle once between them, to one payee.
    pub(crate) fn shares_space(&self, other: &Self) -> bool {
        self.space() == other.space()
    }

    const fn space(&self) -> (Address, Address, Asset, B256, &PaymentId) {
        (
            self.payer,
            self.pay_to,
            self.asset,
            self.nonce,
            &self.payment_id,
        )
    }

    pub(crate) const fn header(&self) -> &PaymentHeader {
        &self.header
    }
}

impl fmt::Debug for SignedPayment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedPayment")
            .field("version", &self.version())
            .field("amount", &self.amount)
            .field("asset", &self.asset)
            .field("pay_to", &self.pay_to)
            .field("valid_before", &self.valid_before)
            .field("payment_id", &self.payment_id)
            .finish_non_exhaustive()
    }
}
