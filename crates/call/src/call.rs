//! The machine of one call: one loop, one judge.

use std::time::Duration;

use paywait_signals::{
    Action as Verdict, Decision, Policy, Reason, Signal, Standing, Timestamp, Window, classify,
    windows,
};
#[cfg(feature = "pay")]
use {
    crate::buyer::{Buyer, Means},
    paywait_x402::{Money, Purchase, SignedPayment},
    std::sync::Arc,
};

use crate::{
    Action, Answer, Answered, End, Facts, Failure, FailureKind, NotPaid, Outgoing, Patience,
    Report, Sent,
};

/// One call: what the caller asked for once.
///
/// See the crate's documentation for the order in which to use it. An event that does not belong
/// to the action that was handed out last is not acted on. Time that goes backward counts as no
/// time.
#[derive(Debug)]
pub struct Call {
    facts: Facts,
    started: Timestamp,
    deadline: Option<Timestamp>,
    patience: Option<Patience>,
    paced: bool,
    #[cfg(feature = "pay")]
    buyer: Option<Buyer>,
    step: Step,
    /// Whether the send under way carries a payment.
    paying: bool,
    /// What the head of the answer at hand says of the payment.
    standing: Option<Standing>,
    /// The wait before the next send, for its line in the report.
    slept: Duration,
    rng: fastrand::Rng,
    report: Report,
}

/// What the call does next, or waits for.
#[derive(Debug)]
enum Step {
    Admit,
    Prepare,
    #[cfg(feature = "pay")]
    Intend,
    #[cfg(feature = "pay")]
    Sign,
    #[cfg(feature = "pay")]
    Persist(SignedPayment),
    Sending,
    Sleep(Timestamp),
    Done(End),
}

/// What the ledger answered to an intent.
#[cfg(feature = "pay")]
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
    /// Starts a call. `seed` makes its jitter repeatable.
    pub fn new(facts: Facts, seed: u64, now: Timestamp) -> Self {
        Self {
            facts,
            started: now,
            deadline: None,
            patience: None,
            paced: false,
            #[cfg(feature = "pay")]
            buyer: None,
            step: Step::Admit,
            paying: false,
            standing: None,
            slept: Duration::ZERO,
            rng: fastrand::Rng::with_seed(seed),
            report: Report::new(),
        }
    }

    /// Lends the call a retry policy: from now on it loops.
    pub fn lend_patience(&mut self, patience: &Patience) {
        self.patience.get_or_insert_with(|| patience.clone());
    }

    /// Lends the call a pacer: from now on it asks before each send.
    pub const fn lend_pacer(&mut self) {
        self.paced = true;
    }

    /// Lends the call means to pay: from now on it buys, once.
    #[cfg(feature = "pay")]
    pub fn lend_means(&mut self, means: Means) {
        self.buyer.get_or_insert_with(|| Buyer::new(means));
    }

    /// Sets the caller's deadline: it bounds waits and sends. The earliest of several holds.
    pub fn set_deadline(&mut self, at: Timestamp) {
        self.deadline = Some(self.deadline.map_or(at, |deadline| deadline.min(at)));
    }

    /// Takes up a purchase whose signed bytes stand in the ledger: they are shown on the next send.
    #[cfg(feature = "pay")]
    pub fn resume(&mut self, payment: SignedPayment, money: Money) {
        if let Some(buyer) = &mut self.buyer {
            buyer.purchase.resume(payment, money);
        }
    }

    /// Returns the purchase, where the call has means to pay.
    #[cfg(feature = "pay")]
    pub fn purchase(&self) -> Option<&Purchase> {
        self.buyer.as_ref().map(|buyer| &buyer.purchase)
    }

    /// Returns whether the call asks before each send.
    pub const fn is_paced(&self) -> bool {
        self.paced
    }

    /// Returns the moment after which nothing new is sent and no wait goes on.
    pub fn not_after(&self) -> Timestamp {
        let total = self
            .patience
            .as_ref()
            .map(|patience| self.started.saturating_add(patience.total));
        let earliest = self.deadline.into_iter().chain(total).min();
        earliest.unwrap_or(Timestamp::MAX)
    }

    /// Returns the quota windows that the last answer told.
    pub fn windows(&self) -> &[Window] {
        self.report.sends.last().map_or(&[], |sent| &sent.windows)
    }

    /// Returns how the call ended, once it has.
    pub const fn end(&self) -> Option<&End> {
        match &self.step {
            Step::Done(end) => Some(end),
            _ => None,
        }
    }

    /// Puts into the report that the ledger could not write what became known of the money.
    #[cfg(feature = "pay")]
    pub fn note_trouble(&mut self, trouble: String) {
        self.report.ledger_trouble.get_or_insert(trouble);
    }

    /// Ends the call without another send.
    pub fn give_up(&mut self, end: End) {
        self.step = Step::Done(end);
    }

    /// Returns what happened so far, and closes the book.
    pub fn into_report(mut self) -> Report {
        if let Step::Done(end) = self.step {
            self.report.end = end;
        }
        #[cfg(feature = "pay")]
        {
            self.report.paid = self.buyer.as_ref().and_then(Buyer::paid);
        }
        self.report
    }

    /// Returns the next thing to do.
    pub fn next(&mut self, now: Timestamp) -> Action {
        if let Step::Sleep(until) = self.step
            && until <= now
        {
            self.step = Step::Admit;
        }
        if matches!(self.step, Step::Admit) && !self.paced {
            self.step = Step::Prepare;
        }
        if matches!(self.step, Step::Prepare) {
            self.prepare(now);
        }
        match &self.step {
            Step::Admit => Action::Admit,
            #[cfg(feature = "pay")]
            Step::Intend => self.with_terms(Action::Intend),
            #[cfg(feature = "pay")]
            Step::Sign => self.with_terms(Action::Sign),
            #[cfg(feature = "pay")]
            Step::Persist(payment) => Action::Persist(payment.clone()),
            Step::Prepare => self.send(now),
            // asked again before the send was answered: the bytes are not handed out twice
            Step::Sending => Action::Finish(self.conclude(End::Unanswered)),
            Step::Sleep(until) => Action::Sleep(*until),
            Step::Done(end) => Action::Finish(end.clone()),
        }
    }

    /// Takes the pacer's answer: a send may go at `at`.
    pub fn handle_admitted(&mut self, at: Timestamp, now: Timestamp) {
        if at <= now {
            self.step = Step::Prepare;
            return;
        }
        if at > self.not_after() {
            self.step = Step::Done(self.conclude(End::Deferred(at)));
            return;
        }
        self.sleep_until(at, now);
    }

    /// Takes word that a layer turned the send back before a byte left. It counts as no send.
    pub fn handle_turned_back(&mut self) {
        self.take_back();
        self.step = Step::Admit;
    }

    /// Takes the head of an answer: what it says of the money is known before its body is read.
    pub fn handle_head(&mut self, answer: &Answered<'_>, now: Timestamp) {
        let standing = self.read_standing(answer, now);
        self.standing = Some(standing);
    }

    /// Takes an answer, and decides. [`handle_head`](Self::handle_head) may have come before.
    pub fn handle_reply(&mut self, answer: &Answered<'_>, now: Timestamp) {
        let reply = answer.reply;
        let standing = match self.standing.take() {
            Some(standing) => standing,
            None => self.read_standing(answer, now),
        };
        let decision = is_refusal(reply.status)
            .then(|| classify(reply, &standing, &self.signal_policy(), now));
        self.book(
            Answer::Status(reply.status),
            decision.clone(),
            windows(reply.headers, now),
            now,
        );
        self.step = match decision {
            None => Step::Done(End::Served),
            Some(decision) => self.follow(&decision, now),
        };
    }

    /// Takes word that a send got no answer, and decides.
    pub fn handle_failure(&mut self, failure: Failure, now: Timestamp) {
        let paid = self.paying;
        if !failure.may_have_left {
            self.take_back();
        }
        #[cfg(feature = "pay")]
        if failure.may_have_left
            && paid
            && let Some(buyer) = &mut self.buyer
        {
            buyer.purchase.handle_lost();
        }
        let decision = self.judge_failure(failure, paid);
        self.book(
            Answer::None(failure.kind),
            Some(decision.clone()),
            Vec::new(),
            now,
        );
        self.step = self.follow(&decision, now);
    }

    /// What goes into the report of one send.
    fn book(
        &mut self,
        answer: Answer,
        decision: Option<Decision>,
        windows: Vec<Window>,
        now: Timestamp,
    ) {
        let waited = std::mem::take(&mut self.slept);
        let paid = self.paying;
        self.report.sends.push(Sent {
            at: now,
            paid,
            answer,
            decision,
            waited,
            windows,
        });
    }

    fn read_standing(&mut self, answer: &Answered<'_>, now: Timestamp) -> Standing {
        #[cfg(feature = "pay")]
        if let Some(buyer) = &mut self.buyer {
            return buyer.standing(answer, self.paying, now);
        }
        let _ = (answer, now);
        Standing::unpaid()
    }

    fn signal_policy(&self) -> Policy {
        let patience = self.patience.as_ref();
        patience.map_or_else(Policy::default, |patience| {
            Policy::default().wait_ceiling(patience.wait_ceiling)
        })
    }

    /// A send without an answer: whether it may be sent again depends on what may have been done.
    fn judge_failure(&self, failure: Failure, paid: bool) -> Decision {
        let reason = match failure.kind {
            FailureKind::Timeout => Reason::Timeout,
            FailureKind::Connect | FailureKind::Broken | FailureKind::Final => Reason::ServerError,
        };
        let resends = self.facts.idempotent
            || self
                .patience
                .as_ref()
                .is_some_and(|patience| patience.resend_unanswered);
        let goes_on = match failure.kind {
            FailureKind::Final => false,
            // the same signed bytes settle at most once, so showing them again risks nothing
            _ if paid => true,
            _ => !failure.may_have_left || resends,
        };
        let action = if goes_on {
            Verdict::Backoff
        } else {
            Verdict::Stop
        };
        Decision::new(action, reason, Signal::Transport)
    }

    /// Goes where a decision points.
    fn follow(&mut self, decision: &Decision, now: Timestamp) -> Step {
        match decision.action {
            Verdict::Pay => self.buy(),
            Verdict::Wait(floor) => {
                let (Some(patience), rng) = (&self.patience, &mut self.rng) else {
                    return self.stop(decision);
                };
                let wait = patience.wait(floor, rng);
                self.again(decision, now.saturating_add(wait), now)
            }
            // no other target is configured: the server's trouble is waited out, and a hint that
            // is too long is the end
            Verdict::Failover if decision.reason == Reason::WaitTooLong => {
                let end = decision.come_back.map(End::Deferred);
                Step::Done(self.conclude(end.unwrap_or(End::Stopped(decision.reason))))
            }
            Verdict::Backoff | Verdict::Failover => {
                let (Some(patience), rng) = (&self.patience, &mut self.rng) else {
                    return self.stop(decision);
                };
                let wait = patience.backoff(self.report.attempts, rng);
                self.again(decision, now.saturating_add(wait), now)
            }
            _ => self.stop(decision),
        }
    }

    fn stop(&self, decision: &Decision) -> Step {
        let unanswered = decision.signal == Signal::Transport;
        let end = match decision.come_back {
            _ if unanswered => End::Unanswered,
            Some(at) if decision.reason == Reason::WaitTooLong => End::Deferred(at),
            _ => End::Stopped(decision.reason),
        };
        Step::Done(self.conclude(end))
    }

    /// Tries again at `at`, if there is a try left and it fits.
    fn again(&mut self, decision: &Decision, at: Timestamp, now: Timestamp) -> Step {
        let attempts = self
            .patience
            .as_ref()
            .map_or(1, |patience| patience.attempts.get());
        if !self.facts.replayable {
            return self.stop(decision);
        }
        if self.report.attempts >= attempts || !self.may_still_show(at) {
            let unanswered = decision.signal == Signal::Transport;
            let end = if unanswered {
                End::Unanswered
            } else {
                End::Exhausted(decision.reason)
            };
            return Step::Done(self.conclude(end));
        }
        if at > self.not_after() {
            let come_back = decision.come_back.unwrap_or(at);
            return Step::Done(self.conclude(End::Deferred(come_back)));
        }
        self.report.attempts = self.report.attempts.saturating_add(1);
        self.sleep_until(at, now);
        Step::Sleep(at)
    }

    fn sleep_until(&mut self, at: Timestamp, now: Timestamp) {
        let wait = now.until(at);
        self.slept = self.slept.saturating_add(wait);
        self.report.waited = self.report.waited.saturating_add(wait);
        self.step = Step::Sleep(at);
    }

    /// Hands the send out, and remembers what goes with it.
    fn send(&mut self, now: Timestamp) -> Action {
        let outgoing = Outgoing {
            cut_at: self.deadline,
            #[cfg(feature = "pay")]
            payment: self
                .buyer
                .as_mut()
                .and_then(|buyer| buyer.purchase.show(now)),
        };
        let _ = now;
        self.paying = outgoing.is_paid();
        self.step = Step::Sending;
        Action::Send(outgoing)
    }
}

#[cfg(feature = "pay")]
impl Call {
    /// Takes the ledger's answer to an intent.
    pub fn handle_intended(&mut self, intended: Intended) {
        let (Step::Intend, Some(buyer)) = (&self.step, &mut self.buyer) else {
            return;
        };
        self.step = match intended {
            Intended::New => Step::Sign,
            Intended::Standing(payment, money) => {
                buyer.purchase.resume(payment, money);
                Step::Prepare
            }
            Intended::InFlight => Step::Done(End::InFlight),
            Intended::Refused(why) => Step::Done(End::NotPaid(why)),
        };
    }

    /// Takes the wallet's answer: a signed payment, or why there is none.
    pub fn handle_signed(&mut self, signed: Result<SignedPayment, String>) {
        let (Step::Sign, Some(buyer)) = (&self.step, &mut self.buyer) else {
            return;
        };
        let signed = signed.and_then(|payment| {
            let taken = buyer.purchase.handle_signed(payment.clone());
            taken.map(|()| payment).map_err(|error| error.to_string())
        });
        self.step = match signed {
            Ok(payment) => Step::Persist(payment),
            Err(error) => Step::Done(End::NotPaid(NotPaid::Signer(error))),
        };
    }

    /// Takes the ledger's answer to the signed bytes: the bytes that stand, or why none do.
    pub fn handle_persisted(&mut self, stands: Result<SignedPayment, String>) {
        let (Step::Persist(_), Some(buyer)) = (&self.step, &mut self.buyer) else {
            return;
        };
        let taken = stands.and_then(|payment| {
            buyer
                .purchase
                .handle_persisted(payment)
                .map_err(|error| error.to_string())
        });
        self.step = match taken {
            Ok(()) => Step::Prepare,
            Err(error) => Step::Done(End::NotPaid(NotPaid::Ledger(error))),
        };
    }

    fn with_terms(&self, action: impl FnOnce(Arc<paywait_x402::Terms>) -> Action) -> Action {
        let terms = self.purchase().and_then(Purchase::terms);
        match terms {
            Some(terms) => action(terms),
            // cannot be: the step is entered with terms only
            None => Action::Finish(End::NotPaid(NotPaid::Ledger("no terms".to_owned()))),
        }
    }

    /// An offer came that can be read: it is paid unless something speaks against it.
    fn buy(&self) -> Step {
        let objection = match &self.buyer {
            _ if !self.facts.replayable => Some(NotPaid::Once),
            _ if !self.facts.payable => Some(NotPaid::Insecure),
            Some(buyer) => buyer.objection(),
            None => None,
        };
        match objection {
            Some(why) => Step::Done(End::NotPaid(why)),
            None => Step::Admit,
        }
    }

    /// Decides what the next send needs before it can go.
    fn prepare(&mut self, now: Timestamp) {
        if !self.report.sends.is_empty() && now > self.not_after() {
            self.step = Step::Done(self.conclude(End::Deferred(now)));
            return;
        }
        let Some(buyer) = &mut self.buyer else {
            return;
        };
        if buyer.purchase.is_signed() {
            if !buyer.purchase.may_show(now) {
                self.step = Step::Done(self.conclude(End::OutcomeUnknown));
            }
            return;
        }
        if buyer.is_buying() {
            self.step = match buyer.accept(now) {
                Ok(()) => Step::Intend,
                Err(why) => Step::Done(End::NotPaid(why)),
            };
        }
    }

    /// How the call ends where it would end `otherwise`, had no money been at stake.
    fn conclude(&self, otherwise: End) -> End {
        match self.purchase().map_or(Money::Unspent, Purchase::money) {
            Money::Settled => End::PaidNotDelivered,
            Money::Sent | Money::Pending | Money::Unknown => End::OutcomeUnknown,
            _ => otherwise,
        }
    }

    /// Whether, if bytes were signed, they may still be shown at `at`.
    fn may_still_show(&self, at: Timestamp) -> bool {
        let purchase = self.purchase().filter(|purchase| purchase.is_signed());
        purchase.is_none_or(|purchase| purchase.may_show(at))
    }

    /// The bytes of the last send did not leave.
    fn take_back(&mut self) {
        if let Some(buyer) = self.buyer.as_mut().filter(|_| self.paying) {
            buyer.purchase.handle_unsent();
        }
    }
}

#[cfg(not(feature = "pay"))]
impl Call {
    fn buy(&self) -> Step {
        Step::Done(End::Stopped(Reason::PaymentOffer))
    }

    fn prepare(&mut self, now: Timestamp) {
        if !self.report.sends.is_empty() && now > self.not_after() {
            self.step = Step::Done(End::Deferred(now));
        }
    }

    fn conclude(&self, otherwise: End) -> End {
        otherwise
    }

    fn may_still_show(&self, _at: Timestamp) -> bool {
        true
    }

    fn take_back(&mut self) {}
}

/// Whether an answer is not what was asked for. A 304 is what a conditional request asks for.
fn is_refusal(status: http::StatusCode) -> bool {
    let redirects = status.is_redirection() && status != http::StatusCode::NOT_MODIFIED;
    redirects || status.is_client_error() || status.is_server_error()
}
