//! What a call that buys is told besides: the ledger's and the wallet's answers.

use std::sync::Arc;

use paywait_x402::{Money, Purchase, SignedPayment, Terms};

use crate::call::Step;
use crate::{Action, Call, End, Means, NotPaid};

/// What the ledger answered to an intent.
#[derive(Debug)]
#[non_exhaustive]
pub enum Intended {
    /// The intent and its hold stand. Sign.
    New,
    /// Another caller of the same key was first: this is what stands.
    Standing(SignedPayment, Money),
    /// Another caller holds the key and has signed nothing that stands yet.
    InFlight,
    /// It was not written; why not.
    Refused(NotPaid),
}

impl Call {
    /// Lends the call means to pay: from now on it buys, once.
    pub fn lend_means(&mut self, means: Means) {
        self.buyer.lend(means);
    }

    /// Takes up a purchase whose signed bytes stand in the ledger: they are shown on the next send.
    pub fn resume(&mut self, payment: SignedPayment, money: Money) {
        if let Some(purchase) = self.buyer.purchase_mut() {
            purchase.resume(payment, money);
        }
    }

    /// Returns the purchase, where the call has means to pay.
    pub fn purchase(&self) -> Option<&Purchase> {
        self.buyer.purchase()
    }

    /// Puts into the report that the ledger could not write what became known of the money.
    pub fn note_trouble(&mut self, trouble: String) {
        self.report.ledger_trouble.get_or_insert(trouble);
    }

    /// Takes the ledger's answer to an intent.
    pub fn handle_intended(&mut self, intended: Intended) {
        let (Step::Intend, Some(purchase)) = (&self.step, self.buyer.purchase_mut()) else {
            return;
        };
        self.step = match intended {
            Intended::New => Step::Sign,
            Intended::Standing(payment, money) => {
                purchase.resume(payment, money);
                Step::Prepare
            }
            Intended::InFlight => Step::Done(End::InFlight),
            Intended::Refused(why) => Step::Done(End::NotPaid(why)),
        };
    }

    /// Takes the wallet's answer: a signed payment, or why there is none.
    pub fn handle_signed(&mut self, signed: Result<SignedPayment, String>) {
        let (Step::Sign, Some(purchase)) = (&self.step, self.buyer.purchase_mut()) else {
            return;
        };
        let signed = signed.and_then(|payment| {
            let taken = purchase.handle_signed(payment.clone());
            taken.map(|()| payment).map_err(|error| error.to_string())
        });
        self.step = match signed {
            Ok(payment) => Step::Persist(payment),
            Err(error) => Step::Done(End::NotPaid(NotPaid::Signer(error))),
        };
    }

    /// Takes the ledger's answer to the signed bytes: the bytes that stand, or why none do.
    pub fn handle_persisted(&mut self, stands: Result<SignedPayment, String>) {
        let (Step::Persist(_), Some(purchase)) = (&self.step, self.buyer.purchase_mut()) else {
            return;
        };
        let taken = stands.and_then(|payment| {
            purchase
                .handle_persisted(payment)
                .map_err(|error| error.to_string())
        });
        self.step = match taken {
            Ok(()) => Step::Prepare,
            Err(error) => Step::Done(End::NotPaid(NotPaid::Ledger(error))),
        };
    }

    pub(crate) fn with_terms(&self, action: impl FnOnce(Arc<Terms>) -> Action) -> Action {
        let terms = self.purchase().and_then(Purchase::terms);
        match terms {
            Some(terms) => action(terms),
            // cannot be: the step is entered with terms only
            None => Action::Finish(End::NotPaid(NotPaid::Ledger("no terms".to_owned()))),
        }
    }
}
