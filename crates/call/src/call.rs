//! The machine of one call: one loop, one judge.

use std::time::Duration;

use paywait_signals::{Decision, Policy, Standing, Timestamp, Window, classify, windows};
#[cfg(feature = "pay")]
use paywait_x402::SignedPayment;

use crate::buyer::{Buyer, Ready};
#[cfg(feature = "pay")]
use crate::question::Question;
use crate::repeats::Repeats;
use crate::{Action, Answer, Answered, End, Facts, Failure, Outgoing, Patience, Report, Sent};

/// One call: what the caller asked for once.
///
/// See the crate's documentation for the order in which to use it. An event that does not belong
/// to the action that was handed out last is not acted on. Time that goes backward counts as no
/// time.
#[derive(Debug)]
pub struct Call {
    pub(crate) facts: Facts,
    pub(crate) started: Timestamp,
    deadline: Option<Timestamp>,
    pub(crate) patience: Option<Patience>,
    paced: bool,
    pub(crate) buyer: Buyer,
    pub(crate) step: Step,
    /// Whether the send under way carries a payment.
    pub(crate) paying: bool,
    /// Refusals of paid sends that came alike.
    pub(crate) repeats: Repeats,
    /// How often another caller was waited for: of the same key, or of room under a limit.
    #[cfg(feature = "pay")]
    pub(crate) awaited: u32,
    /// When the pacer was first asked for the send at hand.
    asked_at: Option<Timestamp>,
    /// What the head of the answer at hand says of the payment.
    standing: Option<Standing>,
    /// The wait before the next send, for its line in the report.
    slept: Duration,
    pub(crate) rng: fastrand::Rng,
    pub(crate) report: Report,
}

/// What the call does next, or waits for.
#[derive(Debug)]
pub(crate) enum Step {
    Admit,
    Prepare,
    #[cfg(feature = "pay")]
    Recall,
    #[cfg(feature = "pay")]
    AwaitOther(Timestamp),
    #[cfg(feature = "pay")]
    AwaitRoom(Timestamp),
    #[cfg(feature = "pay")]
    Ask(Question),
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

impl Call {
    /// Starts a call. `seed` makes its jitter repeatable.
    pub fn new(facts: Facts, seed: u64, now: Timestamp) -> Self {
        Self {
            facts,
            started: now,
            deadline: None,
            patience: None,
            paced: false,
            buyer: Buyer::default(),
            step: Step::Admit,
            paying: false,
            repeats: Repeats::default(),
            #[cfg(feature = "pay")]
            awaited: 0,
            asked_at: None,
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

    /// Sets the caller's deadline: it bounds waits and sends. The earliest of several holds.
    pub fn set_deadline(&mut self, at: Timestamp) {
        self.deadline = Some(self.deadline.map_or(at, |deadline| deadline.min(at)));
    }

    /// Returns whether the call asks before each send.
    pub const fn is_paced(&self) -> bool {
        self.paced
    }

    /// Returns the caller's deadline, if there is one.
    pub const fn deadline(&self) -> Option<Timestamp> {
        self.deadline
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
        if let Step::Done(end) = &self.step {
            Some(end)
        } else {
            None
        }
    }

    /// Ends the call without another send.
    pub fn give_up(&mut self, end: End) {
        self.step = Step::Done(end);
    }

    /// Returns what happened so far, and closes the book.
    pub fn into_report(mut self) -> Report {
        self.report.end = if let Step::Done(end) = self.step {
            end
        } else {
            self.buyer.conclude(End::Unanswered)
        };
        #[cfg(feature = "pay")]
        {
            self.report.paid = self.buyer.paid();
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
        #[cfg(feature = "pay")]
        if let Step::AwaitOther(until) = self.step
            && until <= now
        {
            self.step = Step::Recall;
        }
        #[cfg(feature = "pay")]
        if let Step::AwaitRoom(until) = self.step
            && until <= now
        {
            self.step = Step::Prepare;
        }
        #[cfg(feature = "pay")]
        if matches!(self.step, Step::Admit)
            && let Some(question) = self.buyer.question(now)
        {
            self.step = Step::Ask(question);
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
            Step::Recall => Action::Recall,
            #[cfg(feature = "pay")]
            Step::AwaitOther(until) | Step::AwaitRoom(until) => Action::Sleep(*until),
            #[cfg(feature = "pay")]
            Step::Ask(Question::Balances(tokens)) => Action::Balances(tokens.clone()),
            #[cfg(feature = "pay")]
            Step::Ask(Question::Approval(quote)) => Action::Approve(quote.clone()),
            #[cfg(feature = "pay")]
            Step::Intend => self.with_terms(Action::Intend),
            #[cfg(feature = "pay")]
            Step::Sign => self.with_terms(Action::Sign),
            #[cfg(feature = "pay")]
            Step::Persist(payment) => Action::Persist(payment.clone()),
            Step::Prepare => self.send(now),
            // asked again before the send was answered: the bytes are not handed out twice
            Step::Sending => Action::Finish(self.buyer.conclude(End::Unanswered)),
            Step::Sleep(until) => Action::Sleep(*until),
            Step::Done(end) => Action::Finish(end.clone()),
        }
    }

    /// Takes the pacer's answer: a send may go at `at`. Later than the deadline, or than the longest
    /// wait allowed, is the end of the call.
    pub fn handle_admitted(&mut self, at: Timestamp, now: Timestamp) {
        if !matches!(self.step, Step::Admit) {
            return;
        }
        // a pacer that puts a send off again and again is not waited for longer than one that does once
        let asked_at = *self.asked_at.get_or_insert(now);
        if at <= now {
            self.asked_at = None;
            self.step = Step::Prepare;
            return;
        }
        let too_long = asked_at.until(at) > self.signal_policy().wait_ceiling;
        if too_long || at > self.not_after() {
            self.step = Step::Done(self.buyer.conclude(End::Deferred(at)));
            return;
        }
        self.sleep_until(at, now);
    }

    /// Takes word that a layer turned the send back before a byte left. It counts as no send.
    pub fn handle_turned_back(&mut self) {
        if !self.is_sending() {
            return;
        }
        self.take_back();
        self.step = Step::Admit;
    }

    /// Takes the head of an answer: what it says of the money is known before its body is read.
    /// Where [only the body can say it](Answered::is_told_by_head), the answer is waited for.
    pub fn handle_head(&mut self, answer: &Answered<'_>, now: Timestamp) {
        if self.is_sending() && answer.is_told_by_head() {
            self.standing = Some(self.buyer.standing(answer, self.paying, now));
        }
    }

    /// Takes an answer, and decides. [`handle_head`](Self::handle_head) may have come before.
    pub fn handle_reply(&mut self, answer: &Answered<'_>, now: Timestamp) {
        if !self.is_sending() {
            return;
        }
        self.facts.follows_redirects |= answer.redirected;
        let reply = answer.reply;
        let standing = match self.standing.take() {
            Some(standing) => standing,
            None => self.buyer.standing(answer, self.paying, now),
        };
        let decision = if is_refusal(reply.status) {
            let decision = classify(reply, &standing, &self.signal_policy(), now);
            Some(self.judge_refusal(decision, reply.body, now))
        } else {
            (self.paying && answer.cut).then(Self::judge_cut)
        };
        self.book(
            Answer::Status(reply.status),
            decision.clone(),
            windows(reply.headers, now),
            now,
        );
        self.step = match decision {
            // whoever served it is not whom the payment was shown to
            None if self.paying && !answer.same_origin => {
                Step::Done(self.buyer.conclude(End::Unanswered))
            }
            None => Step::Done(End::Served),
            Some(decision) => self.follow(&decision, now),
        };
    }

    /// Takes word that a send got no answer, and decides.
    ///
    /// After a paid send the money's fate is unknown, whatever the failure says of its bytes.
    pub fn handle_failure(&mut self, failure: Failure, now: Timestamp) {
        if !self.is_sending() {
            return;
        }
        let paid = self.paying;
        // a layer below may have sent more than once: its last error speaks of its last send only
        self.buyer.lose(paid);
        let decision = self.judge_failure(failure, paid);
        self.book(
            Answer::None(failure.kind),
            Some(decision.clone()),
            Vec::new(),
            now,
        );
        self.step = self.follow(&decision, now);
    }

    /// Returns whether the last send carried a payment.
    pub const fn is_paying(&self) -> bool {
        self.paying
    }

    const fn is_sending(&self) -> bool {
        matches!(self.step, Step::Sending)
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

    fn signal_policy(&self) -> Policy {
        let patience = self.patience.as_ref();
        patience.map_or_else(Policy::default, |patience| {
            Policy::default().wait_ceiling(patience.wait_ceiling)
        })
    }

    pub(crate) fn sleep_until(&mut self, at: Timestamp, now: Timestamp) {
        let wait = now.until(at);
        self.slept = self.slept.saturating_add(wait);
        self.report.waited = self.report.waited.saturating_add(wait);
        self.step = Step::Sleep(at);
    }

    /// Decides what the next send needs before it can go.
    fn prepare(&mut self, now: Timestamp) {
        if !self.report.sends.is_empty() && now > self.not_after() {
            self.step = Step::Done(self.buyer.conclude(End::Deferred(now)));
            return;
        }
        match self.buyer.ready(now) {
            Ready::ToSend => {}
            #[cfg(feature = "pay")]
            Ready::ToIntend => self.step = Step::Intend,
            #[cfg(feature = "pay")]
            Ready::Not(end) => self.step = Step::Done(end),
        }
    }

    /// Hands the send out, and remembers what goes with it.
    fn send(&mut self, now: Timestamp) -> Action {
        let outgoing = Outgoing {
            cut_at: self.deadline,
            payment: self.buyer.show(now),
        };
        self.paying = outgoing.payment.is_some();
        self.standing = None;
        self.step = Step::Sending;
        Action::Send(outgoing)
    }

    /// The bytes of the last send did not leave.
    fn take_back(&mut self) {
        if self.paying {
            self.buyer.take_back();
        }
    }
}

/// Whether an answer is not what was asked for. A 304 is what a conditional request asks for.
fn is_refusal(status: http::StatusCode) -> bool {
    let redirects = status.is_redirection() && status != http::StatusCode::NOT_MODIFIED;
    redirects || status.is_client_error() || status.is_server_error()
}
