//! What happened in one call: every send with its answer, decision and wait, and the money.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use paywait_signals::{Action, Decision, Timestamp, Window};

use crate::{End, FailureKind, NotPaid};

/// What happened in one call.
///
/// Its `Display` is one line for a person. It holds no secret: no key, signature, body or URL.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The sends, in order.
    pub sends: Vec<Sent>,
    /// How many attempts were made; a price check and the first paid send are one.
    pub attempts: u32,
    /// How long the call slept, all waits together.
    pub waited: Duration,
    /// How the call ended.
    pub end: End,
    /// The money, where something was signed.
    #[cfg(feature = "pay")]
    pub paid: Option<Paid>,
    /// Why the ledger could not write what became known of the money. What it wrote before, the
    /// intent and the signed bytes, stands.
    #[cfg(feature = "pay")]
    pub ledger_trouble: Option<String>,
}

impl Report {
    /// The report of a response that no layer handed back.
    pub const UNSEEN: Self = Self::new();

    /// Returns the report that a layer left in the extensions of a response.
    pub fn of(extensions: &http::Extensions) -> Option<&Self> {
        extensions.get::<Arc<Self>>().map(Arc::as_ref)
    }

    pub(crate) const fn new() -> Self {
        Self {
            sends: Vec::new(),
            attempts: 1,
            waited: Duration::ZERO,
            end: End::Unseen,
            #[cfg(feature = "pay")]
            paid: None,
            #[cfg(feature = "pay")]
            ledger_trouble: None,
        }
    }

    /// Returns the status of the last answer, if any came.
    pub fn status(&self) -> Option<StatusCode> {
        self.sends.iter().rev().find_map(|sent| match sent.answer {
            Answer::Status(status) => Some(status),
            Answer::None(_) => None,
        })
    }

    /// Returns the last decision that was taken.
    pub fn decision(&self) -> Option<&Decision> {
        self.sends
            .iter()
            .rev()
            .find_map(|sent| sent.decision.as_ref())
    }

    /// Returns when to come back, where a server or a limit said it.
    pub fn come_back(&self) -> Option<Timestamp> {
        if let End::Deferred(at) = self.end {
            return Some(at);
        }
        if let End::NotPaid(NotPaid::Limit { come_back, .. }) = self.end {
            return come_back;
        }
        self.decision().and_then(|decision| decision.come_back)
    }
}

/// One send and what came of it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Sent {
    /// When it was answered, or given up.
    pub at: Timestamp,
    /// Whether it carried a payment.
    pub paid: bool,
    /// What came.
    pub answer: Answer,
    /// What was decided, where it was a refusal.
    pub decision: Option<Decision>,
    /// How long the call slept before it, for a wait that was asked for or chosen.
    pub waited: Duration,
    /// The quota windows that the answer told.
    pub windows: Vec<Window>,
}

/// What came back from one send.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// An answer with this status.
    Status(StatusCode),
    /// No answer.
    None(FailureKind),
}

/// What one call signed, and what is known of that money.
#[cfg(feature = "pay")]
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Paid {
    /// The key of the purchase: the ledger knows it by this, and ends it by this.
    pub key: paywait_x402::PurchaseKey,
    /// What is known of the money.
    pub money: paywait_x402::Money,
    /// The most that can have been spent: the largest amount signed, in atomic units of `asset`.
    pub amount: paywait_x402::Amount,
    /// The token.
    pub asset: paywait_x402::Asset,
    /// The identifier of the purchase, the same on each of its sends.
    pub payment_id: paywait_x402::PaymentId,
    /// The nonce, the same in each of its signatures: it settles once.
    pub nonce: paywait_x402::alloy_primitives::B256,
    /// Until when the signature can be cashed, in seconds since the Unix epoch.
    pub valid_before: u64,
    /// The transaction that a receipt named.
    pub transaction: Option<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.end == End::Unseen {
            return write!(f, "{}", self.end);
        }
        match self.status() {
            Some(status) => write!(f, "{}", status.as_u16())?,
            None if self.end == End::Served => f.write_str("what was paid for before")?,
            None => f.write_str("no answer")?,
        }
        let sends = self.sends.len();
        write!(
            f,
            " after {}, {}",
            count(self.attempts, "attempt"),
            count(sends, "send")
        )?;
        if !self.waited.is_zero() {
            write!(
                f,
                ", waited {}.{} s",
                self.waited.as_secs(),
                self.waited.subsec_millis() / 100
            )?;
        }
        #[cfg(feature = "pay")]
        if let Some(paid) = &self.paid {
            write!(f, ", {paid}")?;
        }
        if self.end != End::Served {
            write!(f, " ({})", self.end)?;
        }
        Ok(())
    }
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.paid { "paid send: " } else { "send: " })?;
        match self.answer {
            Answer::Status(status) => write!(f, "{}", status.as_u16())?,
            Answer::None(kind) => f.write_str(kind.as_str())?,
        }
        let Some(decision) = &self.decision else {
            return Ok(());
        };
        let verb = match decision.action {
            Action::Pay => "pay",
            Action::Wait(_) => "wait",
            Action::Backoff => "back off",
            Action::Failover => "fail over",
            Action::Stop => "stop",
            _ => "other",
        };
        write!(f, ", {verb}: {} ({})", decision.reason, decision.signal)
    }
}

#[cfg(feature = "pay")]
impl fmt::Display for Paid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use paywait_x402::{KnownAsset, Money};

        f.write_str(match self.money {
            Money::Settled => "paid ",
            Money::Unspent | Money::Signed => "signed and not sent ",
            Money::Refused => "offered and refused ",
            Money::Sent | Money::Pending | Money::Unknown => "perhaps paid ",
            _ => "signed ",
        })?;
        match KnownAsset::find(self.asset) {
            Some(known) => write!(f, "{}", known.display(self.amount))?,
            None => write!(f, "{} of {}", self.amount, self.asset)?,
        }
        match self.transaction.as_deref().and_then(ends) {
            Some((start, end)) => write!(f, " ({start}…{end})"),
            None => Ok(()),
        }
    }
}

/// The first four and the last two characters of a transaction hash: enough to find it again.
///
/// A seller names it: what is no hash could write to the terminal that shows the report.
#[cfg(feature = "pay")]
fn ends(hash: &str) -> Option<(&str, &str)> {
    let start = hash.get(..4)?;
    let end = hash.get(hash.len().checked_sub(2)?..)?;
    let plain = hash.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (plain && hash.len() > 6).then_some((start, end))
}

fn count(number: impl TryInto<u64>, what: &str) -> String {
    match number.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {what}"),
        many => format!("{many} {what}s"),
    }
}

#[cfg(all(test, feature = "pay"))]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_is_told_by_its_ends() {
        let hash = "0xadb140fc7f302aac5fbeff3a037782cf42be5d9294cb0fb47fbbe802da91cf7c";
        assert_eq!(ends(hash), Some(("0xad", "7c")));
        assert_eq!(ends("0xad7c"), None);
    }

    #[test]
    fn a_seller_cannot_write_to_a_terminal_through_the_name_of_a_transaction() {
        for name in [
            "\u{1b}[2J and more",
            "0xad and more\r\n",
            "\u{9b}2J more",
            "0xad(more)",
        ] {
            assert_eq!(ends(name), None, "{name:?}");
        }
    }
}
