//! What a purchase makes of a reply to one of its sends.

use http::StatusCode;
use paywait_signals::{FailureClass, ReceiptStanding, Reply, Standing, Timestamp};

use crate::{Money, Purchase, Statement};

impl Purchase {
    /// Reads what a reply to a paid send says of the money, and returns the standing of it.
    ///
    /// The receipt is read on every status. A 402 without one is read by the reason in its offer,
    /// in a header or in the body; it is never a first offer.
    pub fn handle_reply(&mut self, reply: Reply<'_>, now: Timestamp) -> Standing {
        let Statement { said, receipt } = Statement::read(reply);
        let before = self.before_send.take().unwrap_or(self.money);
        self.money = self.money.hearing(news(before, reply.status, &said));
        if self.receipt.is_none() || said == ReceiptStanding::Settled {
            self.receipt = receipt.or_else(|| self.receipt.take());
        }
        // a nonce that was used is answered the same way each time
        let useless = matches!(
            said,
            ReceiptStanding::Failed {
                class: FailureClass::AlreadyUsed,
                ..
            }
        );
        if useless && before == Money::Signed && self.shown() == 1 && self.payments().len() == 1 {
            self.spent_elsewhere = true;
        }
        Standing::paid(self.standing(said), !useless && self.may_show(now))
    }

    /// What the reply said, in the light of what was known before: a refusal of this send does not
    /// take back a receipt or a broadcast that was seen.
    fn standing(&self, said: ReceiptStanding) -> ReceiptStanding {
        use FailureClass::{AlreadyUsed, BeforeBroadcast, Unknown};
        match (self.money, said) {
            (Money::Settled, ReceiptStanding::Failed { reason, .. }) => ReceiptStanding::Failed {
                class: AlreadyUsed,
                reason,
            },
            (Money::Settled, _) => ReceiptStanding::Settled,
            (Money::Pending, _) => ReceiptStanding::Pending,
            (
                Money::Unknown,
                ReceiptStanding::Failed {
                    class: BeforeBroadcast,
                    reason,
                },
            ) => ReceiptStanding::Failed {
                class: Unknown,
                reason,
            },
            (_, said) => said,
        }
    }
}

/// What a reply says of the money of all sends so far, and not only of its own: `before` is what was
/// known when its send began.
fn news(before: Money, status: StatusCode, said: &ReceiptStanding) -> Money {
    let news = Money::said(status, said);
    let earlier_send_is_open = before == Money::Sent;
    if news == Money::Refused && earlier_send_is_open {
        Money::Sent
    } else {
        news
    }
}
