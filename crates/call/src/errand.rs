//! What one call may buy, and how far that has come: its offer, and the one purchase.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use http::StatusCode;
use paywait_signals::{FailureClass, OfferStanding, ReceiptStanding, Standing, Timestamp};
use paywait_x402::{
    Amount, Asset, Entry, Mend, Offer, PaymentId, Purchase, Quote, Refusal, SignedPayment, Terms,
    mend_of, valid_before,
};

use crate::question::Question;
use crate::{Answered, Means, NotPaid};

/// What one call may buy, and how far that has come.
#[derive(Debug)]
pub(crate) struct Errand {
    pub(crate) means: Means,
    pub(crate) purchase: Purchase,
    /// The last offer that was read, and which entry of it to pay.
    pub(crate) offer: Option<(Offer, Result<usize, Refusal>)>,
    /// The balances, once they were asked for to pay this offer.
    funds: Option<BTreeMap<Asset, Amount>>,
    /// The last that was approved.
    approved: Option<Box<Quote>>,
    /// What a second signature is to mend.
    pub(crate) mend: Option<Mend>,
    /// The ledger knows of a reason that this call does not: it signs nothing beside what stands.
    pub(crate) barred: bool,
    /// The next send asks for the price, whatever could be shown.
    pub(crate) asks_price: bool,
    /// How far the seller's clock is ahead, bounded.
    pub(crate) ahead: Duration,
}

impl Errand {
    pub(crate) fn new(means: Means) -> Self {
        let payment_id = if means.named {
            means.derivation.payment_id(means.payer, means.key)
        } else {
            PaymentId::random()
        };
        Self {
            purchase: Purchase::new(means.key, payment_id),
            means,
            offer: None,
            funds: None,
            approved: None,
            mend: None,
            barred: false,
            asks_price: false,
            ahead: Duration::ZERO,
        }
    }

    /// Reads the offer of a reply to an unpaid request, and keeps it.
    pub(crate) fn read_offer(&mut self, answer: &Answered<'_>) -> OfferStanding {
        self.offer = None;
        self.funds = None;
        match read_offer(answer) {
            Ok(offer) => {
                let choice = match self.purchase.payment() {
                    Some(first) => self.means.policy.choose_again(&offer, first),
                    None => self.means.policy.choose(&offer),
                };
                self.offer = Some((offer, choice));
                OfferStanding::Payable
            }
            Err(none) => none,
        }
    }

    /// Reads a reply to a paid send. Where it refuses what a second signature could mend, it may
    /// bring the offer for that one.
    pub(crate) fn hear(&mut self, answer: &Answered<'_>, now: Timestamp) -> Standing {
        // who was not asked cannot say that the payment moved nothing
        if !answer.same_origin {
            self.purchase.handle_lost();
        }
        let standing = self.purchase.handle_reply(answer.reply, now);
        if let ReceiptStanding::Failed {
            class: FailureClass::BeforeBroadcast,
            reason,
        } = &standing.receipt
        {
            self.mend = mend_of(reason);
            let brings_offer = read_offer(answer).is_ok();
            if brings_offer || self.mend == Some(Mend::Terms) {
                self.read_offer(answer);
            }
        }
        standing
    }

    pub(crate) fn mends(&self, now: Timestamp) -> bool {
        self.mend.is_some() && self.may_sign_again(now)
    }

    pub(crate) fn may_sign_again(&self, now: Timestamp) -> bool {
        !self.barred && self.purchase.may_sign_again(now)
    }

    /// Returns whether what was signed is too old to be shown, and may be signed again.
    pub(crate) fn outlived(&self, now: Timestamp) -> bool {
        let until = self.purchase.show_until();
        until.is_some_and(|until| until <= now) && self.may_sign_again(now)
    }

    /// Returns whether an entry was chosen.
    pub(crate) const fn has_chosen(&self) -> bool {
        matches!(&self.offer, Some((_, Ok(_))))
    }

    /// Returns what the next send of this purchase takes.
    pub(crate) fn need(&self, now: Timestamp) -> Need {
        let mends = self.mends(now);
        if self.purchase.may_show(now) && !mends {
            return Need::Nothing;
        }
        if self.purchase.is_signed() && !mends && !self.outlived(now) {
            return Need::Impossible;
        }
        if self.has_chosen() {
            Need::Signature
        } else {
            Need::Price
        }
    }

    /// Returns what is to be asked outside before the chosen entry may be accepted, if anything.
    pub(crate) fn question(&self) -> Option<Question> {
        let (offer, entry) = self.chosen()?;
        if self.means.asks_balances && self.funds.is_none() {
            return Some(Question::Balances(self.tokens(offer)));
        }
        let most = self.means.approve_above?;
        // what may not be paid at all is refused when it would be accepted
        let quote = self.means.policy.quote(entry, self.window(entry)).ok()?;
        let small = quote.usd.is_some_and(|usd| usd <= most);
        let approved = self.approved.as_ref();
        let asks = !small && !approved.is_some_and(|yes| yes.covers(&quote));
        asks.then(|| Question::Approval(Box::new(quote)))
    }

    /// Returns the tokens that the offer could be paid with.
    fn tokens(&self, offer: &Offer) -> Vec<Asset> {
        let first = self.purchase.payment().map(SignedPayment::asset);
        let candidates = self.means.policy.candidates(offer);
        let tokens = candidates.iter().map(|candidate| candidate.price.asset);
        let all: BTreeSet<_> = tokens
            .filter(|asset| first.is_none_or(|first| first == *asset))
            .collect();
        all.into_iter().collect()
    }

    /// Takes the balances of these tokens, and chooses once more: what cannot be funded is skipped.
    pub(crate) fn fund(&mut self, funds: BTreeMap<Asset, Amount>) -> Result<(), Refusal> {
        if let Some((offer, choice)) = &mut self.offer {
            let (policy, first) = (&self.means.policy, self.purchase.payment());
            *choice = policy.choose_funded(offer, first, &funds);
            choice.clone()?;
        }
        self.funds = Some(funds);
        Ok(())
    }

    /// Takes a yes to a quote, and to whatever it covers.
    pub(crate) fn approve(&mut self, quote: Box<Quote>) {
        self.approved = Some(quote);
    }

    fn chosen(&self) -> Option<(&Offer, &Entry)> {
        let Some((offer, Ok(choice))) = &self.offer else {
            return None;
        };
        Some((offer, offer.entries().get(*choice)?))
    }

    /// For how many seconds an authorization of the entry is asked for.
    const fn window(&self, entry: &Entry) -> u64 {
        match self.mend {
            // a window that proved too short is as long as is allowed at all
            Some(Mend::Window) => u64::MAX,
            _ => entry.max_timeout_seconds(),
        }
    }

    /// Accepts the chosen entry, with a window that starts now.
    ///
    /// The entry is checked against the policy once more: what is signed is what was checked.
    pub(crate) fn accept(&mut self, now: Timestamp) -> Result<(), NotPaid> {
        let nothing = NotPaid::Policy(Refusal::NothingOffered);
        let Some((offer, Ok(choice))) = &self.offer else {
            return Err(nothing);
        };
        let entry = offer.entries().get(*choice).ok_or(nothing)?;
        let Means {
            policy,
            payer,
            derivation,
            ..
        } = &self.means;
        policy.check(entry).map_err(NotPaid::Policy)?;
        let nonce = match self.purchase.payment() {
            Some(first) => SignedPayment::nonce(first),
            None => derivation.nonce(*payer, entry.asset(), self.means.key),
        };
        let asked = self.window(entry);
        let start = now.saturating_add(self.ahead);
        let until = valid_before(start, asked, policy.longest_window());
        let id = self.purchase.payment_id().clone();
        let terms = Terms::new(offer, *choice, *payer, nonce, id, until).map_err(NotPaid::Terms)?;
        let accepted = self.purchase.accept(terms, now);
        accepted.map_err(|error| NotPaid::Ledger(error.to_string()))
    }
}

/// What the next send of a purchase takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Need {
    /// Nothing: what was signed is shown.
    Nothing,
    /// The price.
    Price,
    /// A signature of the chosen entry.
    Signature,
    /// What was signed may neither be shown nor be signed again.
    Impossible,
}

/// Reads the offer of a reply to an unpaid request, or says why there is none to pay.
///
/// An offer from another origin than the one that was asked is none.
pub(crate) fn read_offer(answer: &Answered<'_>) -> Result<Offer, OfferStanding> {
    let reply = answer.reply;
    if reply.status != StatusCode::PAYMENT_REQUIRED || !answer.same_origin {
        return Err(OfferStanding::None);
    }
    match Offer::of(reply.headers, reply.body) {
        Ok(None) => Err(OfferStanding::None),
        Ok(Some(offer)) if !offer.is_empty() => Ok(offer),
        Ok(Some(_)) | Err(_) => Err(OfferStanding::Unreadable),
    }
}

/// A seller's clock may move the end of a window by no more than this.
pub(crate) const MOST_AHEAD: Duration = Duration::from_secs(120);
