//! A seller's receipt, on whatever status it comes.

use paywait_signals::{FailureClass, ReceiptStanding};
use serde::Deserialize;

use crate::class_of;
use crate::encoding::{self, EncodingError};
use crate::offer::bounded;

/// A seller's receipt (`SettlementResponse`). What it says is the seller's word, not proof.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Receipt {
    success: bool,
    transaction: String,
    error_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    success: bool,
    transaction: Option<String>,
    error_reason: Option<String>,
}

impl Receipt {
    /// Reads the value of a `PAYMENT-RESPONSE` header.
    ///
    /// # Errors
    ///
    /// An [`EncodingError`]: it cannot be read, and says nothing of the money.
    pub fn decode(field: &[u8]) -> Result<Self, EncodingError> {
        let wire: Wire = encoding::decode(field)?;
        Ok(Self {
            success: wire.success,
            transaction: bounded(wire.transaction.unwrap_or_default()),
            error_reason: wire.error_reason.map(bounded),
        })
    }

    /// Returns whether the seller says that the payment settled.
    pub const fn success(&self) -> bool {
        self.success
    }

    /// Returns the transaction that the seller names; empty if none. At most 512 bytes of it.
    pub fn transaction(&self) -> &str {
        &self.transaction
    }

    /// Returns why the seller says that it did not settle.
    pub fn error_reason(&self) -> Option<&str> {
        self.error_reason.as_deref()
    }

    /// Returns what the receipt is worth.
    ///
    /// A *no* with a transaction is no *no*: something was broadcast.
    pub fn standing(&self) -> ReceiptStanding {
        if self.success {
            return ReceiptStanding::Settled;
        }
        let reason = self.error_reason.clone().unwrap_or_default();
        let broadcast = !self.transaction.is_empty();
        if broadcast && reason == "settlement_pending" {
            return ReceiptStanding::Pending;
        }
        let class = if broadcast {
            FailureClass::Unknown
        } else {
            class_of(&reason)
        };
        ReceiptStanding::Failed { class, reason }
    }
}
