//! What is known of the money of one purchase, and how news changes it.

use std::fmt;

use http::StatusCode;
use paywait_signals::{FailureClass, ReceiptStanding};
use serde::{Deserialize, Serialize};

/// What is known of the money of one purchase.
///
/// The order of a purchase's life is not linear: only [`Settled`](Self::Settled) is final.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Money {
    /// Nothing was signed.
    Unspent,
    /// Bytes were signed and none of them has left.
    Signed,
    /// The bytes left, and no reply has said anything of them.
    Sent,
    /// A seller refused one send before broadcasting it. The authorization stays valid.
    Refused,
    /// The payment was broadcast and waits for the chain.
    Pending,
    /// Money may have moved.
    Unknown,
    /// Money moved: a receipt says so, the nonce was used, or the resource was served.
    Settled,
}

impl Money {
    /// Returns whether money may have moved, or may still move by what was signed and sent.
    pub const fn may_be_spent(self) -> bool {
        match self {
            Self::Unspent | Self::Signed => false,
            Self::Sent | Self::Refused | Self::Pending | Self::Unknown | Self::Settled => true,
        }
    }

    /// Returns what is known after one more piece of news. No news takes back what may have moved.
    pub(crate) const fn hearing(self, news: Self) -> Self {
        match (self, news) {
            (Self::Settled, _) => Self::Settled,
            (Self::Pending, Self::Settled) => Self::Settled,
            (Self::Pending, _) => Self::Pending,
            (Self::Unknown, Self::Settled | Self::Pending) => news,
            (Self::Unknown, _) => Self::Unknown,
            (_, _) => news,
        }
    }
}

impl Money {
    /// What one reply to a paid send says of the money.
    pub(crate) fn said(status: StatusCode, said: &ReceiptStanding) -> Self {
        use FailureClass::{AlreadyUsed, BeforeBroadcast};
        let class = if let ReceiptStanding::Failed { class, .. } = said {
            Some(*class)
        } else {
            None
        };
        // served: it counts as paid, with or without a readable receipt
        if *said == ReceiptStanding::Settled || class == Some(AlreadyUsed) || status.is_success() {
            return Self::Settled;
        }
        if *said == ReceiptStanding::Pending {
            return Self::Pending;
        }
        if class == Some(BeforeBroadcast) {
            return Self::Refused;
        }
        let says_nothing = *said == ReceiptStanding::None && !status.is_server_error();
        if says_nothing {
            Self::Sent
        } else {
            Self::Unknown
        }
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unspent => "unspent",
            Self::Signed => "signed",
            Self::Sent => "sent",
            Self::Refused => "refused",
            Self::Pending => "pending",
            Self::Unknown => "unknown",
            Self::Settled => "settled",
        })
    }
}
