//! What will be signed and sent for one entry of an offer, in parsed values.

use std::fmt;
use std::time::Duration;

use alloy_primitives::{Address, B256, U256};
use alloy_sol_types::Eip712Domain;
use paywait_signals::Timestamp;

use crate::evm::{self, Authorization};
use crate::offer::Identifier;
use crate::payload::{Draft, Paid, PayloadError};
use crate::{Amount, Asset, Entry, Offer, PaymentId, Version};

/// What will be signed and sent for one entry of an offer.
#[derive(Clone)]
pub struct Terms {
    entry: Entry,
    authorization: Authorization,
    valid_before: u64,
    payment_id: PaymentId,
    pub(crate) draft: Draft,
}

impl Terms {
    /// Returns the terms of entry `place` of `offer`, as `payer` accepts them.
    ///
    /// # Errors
    ///
    /// [`TermsError::NoSuchEntry`], and [`TermsError::Identifier`] if the seller asks for an
    /// identifier in a way that cannot be honoured, and [`TermsError::Payload`] if the payment would
    /// be larger than servers read. Nothing has been signed.
    pub fn new(
        offer: &Offer,
        place: usize,
        payer: Address,
        nonce: B256,
        payment_id: PaymentId,
        valid_before: u64,
    ) -> Result<Self, TermsError> {
        let entry = offer.entries().get(place).ok_or(TermsError::NoSuchEntry)?;
        if offer.identifier == Identifier::Odd {
            return Err(TermsError::Identifier);
        }
        let authorization = Authorization::new(
            payer,
            entry.pay_to(),
            entry.amount().as_u256(),
            U256::from(valid_before),
            nonce,
        );
        let draft = Draft::new(&Paid {
            offer,
            entry,
            authorization,
            payment_id: &payment_id,
        })?;
        Ok(Self {
            entry: entry.clone(),
            authorization,
            valid_before,
            payment_id,
            draft,
        })
    }

    /// Returns the entry that is accepted.
    pub const fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Returns the version of x402 in which the payment is written.
    pub const fn version(&self) -> Version {
        self.entry.version()
    }

    /// Returns who pays.
    pub const fn payer(&self) -> Address {
        self.authorization.from
    }

    /// Returns who is paid.
    pub const fn pay_to(&self) -> Address {
        self.entry.pay_to()
    }

    /// Returns the price, in atomic units.
    pub const fn amount(&self) -> Amount {
        self.entry.amount()
    }

    /// Returns the token.
    pub const fn asset(&self) -> Asset {
        self.entry.asset()
    }

    /// Returns the nonce.
    pub const fn nonce(&self) -> B256 {
        self.authorization.nonce
    }

    /// Returns until when the signature can be cashed, in seconds since the Unix epoch.
    pub const fn valid_before(&self) -> u64 {
        self.valid_before
    }

    /// Returns the identifier of the purchase.
    pub const fn payment_id(&self) -> &PaymentId {
        &self.payment_id
    }

    /// Returns what is signed.
    pub const fn authorization(&self) -> Authorization {
        self.authorization
    }

    /// Returns the domain that it is signed for.
    pub fn domain(&self) -> Eip712Domain {
        evm::domain(
            self.entry.domain_name(),
            self.entry.domain_version(),
            self.asset(),
        )
    }
}

impl fmt::Debug for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terms")
            .field("authorization", &self.authorization)
            .field("asset", &self.asset())
            .field("payment_id", &self.payment_id)
            .finish_non_exhaustive()
    }
}

/// Returns until when an authorization is to be valid, in seconds since the Unix epoch: as long as
/// the seller asks for, and no longer than `longest` from now.
///
/// A facilitator accepts a shorter window than the offer says.
///
/// ```
/// use std::time::Duration;
/// use paywait_signals::Timestamp;
/// use paywait_x402::valid_before;
/// let now = Timestamp::from_secs(1_000);
/// let longest = Duration::from_secs(600);
/// assert_eq!(valid_before(now, 60, longest), 1_060);
/// assert_eq!(valid_before(now, 1_000_000_000, longest), 1_600);
/// assert_eq!(valid_before(now, u64::MAX, Duration::MAX), u64::MAX);
/// ```
pub fn valid_before(now: Timestamp, max_timeout_seconds: u64, longest: Duration) -> u64 {
    now.as_secs()
        .saturating_add(max_timeout_seconds.min(longest.as_secs()))
}

/// Why an offer's terms cannot be met.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TermsError {
    /// The offer has no such entry.
    #[error("the offer has no such entry")]
    NoSuchEntry,
    /// The seller asks for a payment identifier in a form that is not understood.
    #[error("the seller declares payment-identifier in a form that this client cannot honour")]
    Identifier,
    /// The payment cannot be written.
    #[error(transparent)]
    Payload(#[from] PayloadError),
}
