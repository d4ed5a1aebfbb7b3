//! The paying side of one call, as the machine asks it.

use std::collections::BTreeMap;

use paywait_signals::{OfferStanding, Standing, Timestamp, clock_ahead};
pub(crate) use paywait_x402::Showing;
use paywait_x402::{Amount, Asset, Money, Purchase, Quote, Refusal};

use crate::errand::{Errand, MOST_AHEAD, Need, read_offer};
use crate::question::Question;
use crate::{Answered, End, Facts, Means, NotPaid, Paid};

/// The paying side of one call, where it has one.
#[derive(Debug, Default)]
pub(crate) struct Buyer {
    /// Apart: a call that is free does not carry it about.
    errand: Option<Box<Errand>>,
}

/// What the next send needs before it can go.
#[derive(Debug)]
pub(crate) enum Ready {
    /// Nothing.
    ToSend,
    /// Terms were accepted: their intent is to be written.
    ToIntend,
    /// It cannot go.
    Not(End),
}

impl Buyer {
    /// Takes means to pay; the first ones count.
    pub(crate) fn lend(&mut self, means: Means) {
        self.errand
            .get_or_insert_with(|| Box::new(Errand::new(means)));
    }

    pub(crate) fn purchase(&self) -> Option<&Purchase> {
        self.errand.as_ref().map(|errand| &errand.purchase)
    }

    pub(crate) fn purchase_mut(&mut self) -> Option<&mut Purchase> {
        self.errand.as_mut().map(|errand| &mut errand.purchase)
    }

    /// Returns the standing of a reply, paid or not.
    pub(crate) fn standing(
        &mut self,
        answer: &Answered<'_>,
        paid: bool,
        now: Timestamp,
    ) -> Standing {
        match &mut self.errand {
            // who has no wallet can still say what was asked for
            None if paid => Standing::unpaid(),
            None => match read_offer(answer) {
                Ok(_) => Standing::offered(OfferStanding::Payable),
                Err(none) => Standing::offered(none),
            },
            Some(errand) => {
                let ahead = clock_ahead(answer.reply.headers, now);
                errand.ahead = ahead.min(MOST_AHEAD);
                if paid {
                    errand.hear(answer, now)
                } else {
                    Standing::offered(errand.read_offer(answer))
                }
            }
        }
    }

    /// Returns why the offer at hand may not be paid, if it may not.
    pub(crate) fn objection(&self, facts: &Facts) -> Option<NotPaid> {
        let Some(errand) = &self.errand else {
            return Some(NotPaid::NoWallet);
        };
        if !facts.replayable {
            return Some(NotPaid::Once);
        }
        if !facts.payable {
            return Some(NotPaid::Insecure);
        }
        if facts.follows_redirects {
            return Some(NotPaid::Redirected);
        }
        let refusal = match &errand.offer {
            Some((_, choice)) => choice.clone().err()?,
            None => Refusal::NothingOffered,
        };
        Some(NotPaid::Policy(refusal))
    }

    /// Returns whether a second signature would mend what the seller refused, and is allowed.
    pub(crate) fn mends(&self, now: Timestamp) -> bool {
        self.errand.as_ref().is_some_and(|errand| errand.mends(now))
    }

    /// The ledger let nothing be signed beside what this call had: it asks no more.
    pub(crate) fn bar_another(&mut self) {
        if let Some(errand) = &mut self.errand {
            errand.barred |= errand.purchase.is_signed();
        }
    }

    /// Decides what the next send needs before it can go.
    pub(crate) fn ready(&mut self, now: Timestamp) -> Ready {
        let Some(errand) = &mut self.errand else {
            return Ready::ToSend;
        };
        errand.asks_price = false;
        let accepted = match errand.need(now) {
            Need::Nothing => return Ready::ToSend,
            Need::Impossible => Err(NotPaid::Expired),
            // what nobody was asked about before this send was admitted has another price by the next
            Need::Signature if errand.question().is_some() => {
                errand.offer = None;
                errand.asks_price = true;
                return Ready::ToSend;
            }
            Need::Price => {
                errand.asks_price = true;
                return Ready::ToSend;
            }
            Need::Signature => errand.accept(now),
        };
        match accepted {
            Ok(()) => Ready::ToIntend,
            Err(why) => Ready::Not(self.conclude(End::NotPaid(why))),
        }
    }

    /// Returns what is to be asked outside before the next send is admitted.
    pub(crate) fn question(&self, now: Timestamp) -> Option<Question> {
        let errand = self.errand.as_ref()?;
        let signs = errand.need(now) == Need::Signature;
        signs.then(|| errand.question()).flatten()
    }

    /// Takes the balances that were asked for.
    pub(crate) fn fund(&mut self, funds: BTreeMap<Asset, Amount>) -> Result<(), Refusal> {
        let errand = self.errand.as_mut();
        errand.map_or(Ok(()), |errand| errand.fund(funds))
    }

    /// Takes a yes.
    pub(crate) fn approve(&mut self, quote: Box<Quote>) {
        if let Some(errand) = &mut self.errand {
            errand.approve(quote);
        }
    }

    /// Hands out the signed bytes for the next send, if there are any and it is not to ask for the
    /// price.
    pub(crate) fn show(&mut self, now: Timestamp) -> Option<Showing> {
        let errand = self.errand.as_mut().filter(|errand| !errand.asks_price)?;
        let showing = errand.purchase.show(now)?;
        // what was offered before is paid for: a second signature asks again
        errand.mend = None;
        Some(showing)
    }

    /// The bytes of the last send did not leave.
    pub(crate) fn take_back(&mut self) {
        if let Some(purchase) = self.purchase_mut() {
            purchase.handle_unsent();
        }
    }

    /// The last send, which carried a payment or not, got no answer. An offer in the head of an
    /// answer that did not come is none.
    pub(crate) fn lose(&mut self, paid: bool) {
        let Some(errand) = &mut self.errand else {
            return;
        };
        if paid {
            errand.purchase.handle_lost();
        } else {
            errand.offer = None;
        }
    }

    /// Returns when a send that would go at `at` can go: at once with the signed bytes, if there are
    /// any and they live until then; else when a second signature is allowed; else never.
    pub(crate) fn goes_at(&mut self, at: Timestamp) -> Option<Timestamp> {
        let Some(errand) = self
            .errand
            .as_mut()
            .filter(|errand| errand.purchase.is_signed())
        else {
            return Some(at);
        };
        if errand.purchase.may_show(at) {
            return Some(at);
        }
        let outlives = errand.purchase.show_until()? <= at;
        let at = errand.purchase.expires().filter(|_| outlives)?.max(at);
        // the price of then, not of now
        errand.offer = None;
        errand.may_sign_again(at).then_some(at)
    }

    /// How the call ends where it would end `otherwise`, had no money been at stake.
    pub(crate) fn conclude(&self, otherwise: End) -> End {
        let Some(errand) = &self.errand else {
            return otherwise;
        };
        match errand.purchase.money() {
            // a random nonce has nobody else to use it
            Money::Settled if errand.purchase.is_spent_elsewhere() && errand.means.named => {
                End::KeySpent
            }
            Money::Settled => End::PaidNotDelivered,
            Money::Sent | Money::Pending | Money::Unknown => End::OutcomeUnknown,
            // it has left, and is not asked about any more: the refusal was of its own send alone
            Money::Refused if otherwise == End::NotPaid(NotPaid::Expired) => End::OutcomeUnknown,
            Money::Unspent | Money::Signed | Money::Refused | _ => otherwise,
        }
    }

    /// Returns what was signed and what is known of it, for the report.
    pub(crate) fn paid(&self) -> Option<Paid> {
        let purchase = self.purchase()?;
        let payment = purchase.payment()?;
        let transaction = purchase
            .receipt()
            .map(|receipt| receipt.transaction().to_owned());
        Some(Paid {
            key: purchase.key(),
            money: purchase.money(),
            amount: purchase.at_stake().unwrap_or_else(|| payment.amount()),
            asset: payment.asset(),
            payment_id: payment.payment_id().clone(),
            nonce: payment.nonce(),
            valid_before: payment.valid_before(),
            transaction: transaction.filter(|hash| !hash.is_empty()),
        })
    }
}
