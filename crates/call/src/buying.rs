//! What a call that buys is told besides: the ledger's and the wallet's answers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use paywait_signals::Timestamp;
use paywait_x402::{Amount, Asset, Money, Purchase, PurchaseKey, SignedPayment, Terms};

use crate::call::Step;
use crate::question::Question;
use crate::{Action, Call, End, Means, NotApproved, NotPaid};

/// What the ledger answered to an intent.
#[derive(Debug)]
#[non_exhaustive]
pub enum Intended {
    /// The intent and its hold stand. Sign.
    New,
    /// Something is signed already.
    Stands(Recalled),
    /// It was not written; why not.
    Refused(NotPaid),
}

/// What the ledger has of a purchase.
#[derive(Debug)]
#[non_exhaustive]
pub enum Recalled {
    /// Nothing that is signed.
    Nothing,
    /// It is signed and the caller's to show.
    Standing {
        /// Its key; where an unnamed purchase was taken over, not the caller's own.
        key: PurchaseKey,
        /// The signed payments, oldest first.
        payments: Vec<SignedPayment>,
        /// What is known of the money.
        money: Money,
        /// How often the last of them was shown.
        shown: u32,
    },
    /// Another caller has it in hand.
    InFlight,
    /// It is over, and its key is spent.
    Spent,
    /// It may not be had; why not.
    Refused(NotPaid),
}

impl Call {
    /// Lends the call means to pay: from now on it buys, once.
    pub fn lend_means(&mut self, means: Means) {
        self.buyer.lend(means);
    }

    /// Asks the ledger for a purchase of the caller's key before anything is sent.
    pub fn recall_first(&mut self) {
        if matches!(self.step, Step::Admit) {
            self.step = Step::Recall;
        }
    }

    /// Takes the ledger's word of the purchase of the caller's key: what stands is shown on the next
    /// send, what another has in hand is waited for.
    pub fn handle_recalled(&mut self, recalled: Recalled, now: Timestamp) {
        match recalled {
            Recalled::Nothing => {}
            Recalled::Standing {
                key,
                payments,
                money,
                shown,
            } => {
                if let Some(purchase) = self.buyer.purchase_mut() {
                    purchase.resume(key, payments, money, shown);
                }
            }
            Recalled::InFlight => return self.await_other(now),
            Recalled::Spent => return self.give_up(End::KeySpent),
            Recalled::Refused(why) => return self.give_up(End::NotPaid(why)),
        }
        if matches!(self.step, Step::Recall) {
            self.step = Step::Admit;
        }
    }

    /// Waits for another caller of the same key, longer each time, as long as the call may take.
    fn await_other(&mut self, now: Timestamp) {
        self.unsigned();
        self.step = match self.next_look(now) {
            Some(at) => Step::AwaitOther(at),
            None => Step::Done(End::InFlight),
        };
    }

    /// Waits until others let go of what they hold, where that would make room and a loop is there to
    /// wait; else this ends the call. What is signed already is not put off.
    fn await_room(&mut self, why: NotPaid, now: Timestamp) -> Step {
        let held = matches!(
            why,
            NotPaid::Limit {
                held_until: Some(_),
                ..
            }
        );
        let is_signed = self.purchase().is_some_and(Purchase::is_signed);
        if !held || is_signed || self.patience.is_none() {
            return self.not_signed(why);
        }
        self.unsigned();
        match self.next_look(now) {
            Some(at) => Step::AwaitRoom(at),
            None => self.not_signed(why),
        }
    }

    /// Returns when to look again what others have done, less and less often, as long as the call may
    /// take.
    fn next_look(&mut self, now: Timestamp) -> Option<Timestamp> {
        let doublings = self.awaited.min(8);
        let wait = FIRST_LOOK.saturating_mul(1_u32 << doublings).min(NEXT_LOOK);
        self.awaited = self.awaited.saturating_add(1);
        let at = now.saturating_add(wait);
        let longest = self.started.saturating_add(LONGEST_AWAITED);
        if at > self.not_after().min(longest) {
            return None;
        }
        self.sleep_until(at, now);
        Some(at)
    }

    /// Returns the purchase, where the call has means to pay.
    pub fn purchase(&self) -> Option<&Purchase> {
        self.buyer.purchase()
    }

    /// Puts into the report that the ledger could not write what became known of the money.
    pub fn note_trouble(&mut self, trouble: String) {
        self.report.ledger_trouble.get_or_insert(trouble);
    }

    /// Takes what the payer has of the tokens that were asked about, as far as it is known; what it
    /// is not known of may be paid with.
    pub fn handle_balances(&mut self, balances: BTreeMap<Asset, Amount>) {
        if !matches!(self.step, Step::Ask(Question::Balances(_))) {
            return;
        }
        self.step = match self.buyer.fund(balances) {
            Ok(()) => Step::Admit,
            Err(refusal) => self.not_signed(NotPaid::Policy(refusal)),
        };
    }

    /// Takes the answer of whoever approves: a yes, or why there is none.
    pub fn handle_approved(&mut self, approved: Result<(), NotApproved>) {
        let Step::Ask(Question::Approval(asked)) = &self.step else {
            return;
        };
        let asked = asked.clone();
        self.step = match approved {
            Ok(()) => {
                self.buyer.approve(asked);
                Step::Admit
            }
            Err(why) => self.not_signed(NotPaid::NotApproved { asked, why }),
        };
    }

    /// Takes the ledger's answer to an intent.
    pub fn handle_intended(&mut self, intended: Intended, now: Timestamp) {
        if !matches!(self.step, Step::Intend) {
            return;
        }
        self.step = match intended {
            Intended::New => Step::Sign,
            Intended::Stands(recalled) => {
                self.unsigned();
                self.buyer.bar_another();
                self.step = Step::Prepare;
                return self.handle_recalled(recalled, now);
            }
            Intended::Refused(why) => self.await_room(why, now),
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
            Err(error) => self.not_signed(NotPaid::Signer(error)),
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
            // it was signed all the same: the report says so
            Err(error) => Step::Done(self.buyer.conclude(End::NotPaid(NotPaid::Ledger(error)))),
        };
    }

    /// The call ends, since nothing was signed this time; what was signed before is what it was.
    fn not_signed(&mut self, why: NotPaid) -> Step {
        self.unsigned();
        Step::Done(self.buyer.conclude(End::NotPaid(why)))
    }

    fn unsigned(&mut self) {
        if let Some(purchase) = self.buyer.purchase_mut() {
            purchase.handle_unsigned();
        }
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

/// Another caller of the same key is looked after this soon, and less and less often.
const FIRST_LOOK: Duration = Duration::from_millis(20);

const NEXT_LOOK: Duration = Duration::from_secs(1);

/// Nobody waits longer than this for another caller, whatever else allows it.
const LONGEST_AWAITED: Duration = Duration::from_secs(180);
