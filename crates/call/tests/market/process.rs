//! One process with one call in its hands: a driver that does one half of a step at a time, so that
//! it can die, be dropped or be overtaken between any two.

use paywait_call::{
    Action, Answered, Call, Facts, Failure, FailureKind, Intended, Means, Recalled,
};
use paywait_call::{End, Patience};
use paywait_ledger::Owner;
use paywait_signals::{Reply, Timestamp};
use paywait_x402::{Derivation, PurchaseKey, SignedPayment};

use crate::market::{Market, fingerprint, policy, ready, wallet};
use crate::seller::{Answer, Says, Turn, Way};

/// A call under way, and what its driver holds for it.
pub(crate) struct Running {
    pub(crate) call: Call,
    pub(crate) owner: Owner,
    /// The key that the driver writes under.
    pub(crate) key: PurchaseKey,
    pub(crate) named: bool,
    /// Which request it makes.
    pub(crate) request: u8,
    /// Which ledger it writes to.
    pub(crate) books: usize,
    pub(crate) signer_asked: bool,
    /// What was done and the call was not told of.
    pub(crate) told: Option<Told>,
    /// In true time, in milliseconds: when it goes on.
    pub(crate) wakes: u64,
    /// When its lease is renewed next; never, where it is stalled.
    pub(crate) renews: Option<u64>,
    pub(crate) actions: u32,
    pub(crate) slept: u64,
    /// Whether a 2xx of the origin that was asked came whole.
    pub(crate) served: bool,
    /// Whether bytes are out, as far as it can know, of which no seller has said that they moved
    /// nothing.
    pub(crate) open: bool,
    /// Whether the ledger gave it the purchase.
    pub(crate) has_it: bool,
    /// Whether the ledger could not write what became known.
    pub(crate) untold: bool,
}

/// How a call is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) attempts: Option<u32>,
    pub(crate) deadline: Option<u64>,
    pub(crate) named: bool,
    /// Which name it gives its purchase, where it gives one.
    pub(crate) name: u8,
    pub(crate) request: u8,
    pub(crate) stalls: bool,
    pub(crate) paced: bool,
}

pub(crate) const PLAN: Plan = Plan {
    seed: 7,
    attempts: Some(5),
    deadline: None,
    named: true,
    name: 0,
    request: 0,
    stalls: false,
    paced: false,
};

/// What came of an action.
pub(crate) enum Told {
    Admitted(Timestamp),
    Recalled(Recalled),
    Intended(Intended),
    Signed(Result<SignedPayment, String>),
    Persisted(Result<SignedPayment, String>),
    Sent(Turn, bool, Answer),
    Heard(Turn, bool, Answer),
}

/// How a half step of a call went.
pub(crate) enum Went {
    On,
    Ended(End),
}

impl Running {
    pub(crate) fn start(plan: Plan, market: &mut Market, books: usize) -> Self {
        let key = if plan.named {
            PurchaseKey::named(&format!("order-{}", plan.name))
        } else {
            PurchaseKey::from_bytes(market.bytes())
        };
        let facts = Facts::of(&http::Method::POST, true);
        let mut call = Call::new(facts, plan.seed, market.wall());
        if let Some(attempts) = plan.attempts {
            let mut patience = Patience::default();
            patience.attempts = attempts.try_into().unwrap();
            call.lend_patience(&patience);
        }
        if let Some(millis) = plan.deadline {
            let at = std::time::Duration::from_millis(millis);
            call.set_deadline(market.wall().saturating_add(at));
        }
        if plan.paced {
            call.lend_pacer();
        }
        let payer = wallet().payer();
        let means = Means::new(policy(), payer, Derivation::default(), key, plan.named);
        call.lend_means(means);
        if plan.named {
            call.recall_first();
        }
        let mut owner = [0; 16];
        owner.copy_from_slice(&market.bytes()[..16]);
        Self {
            call,
            owner: Owner::from_bytes(owner),
            key,
            named: plan.named,
            request: plan.request,
            books,
            signer_asked: false,
            told: None,
            wakes: market.now,
            renews: (!plan.stalls).then_some(market.now + RENEWED_EVERY),
            actions: 0,
            slept: 0,
            served: false,
            open: false,
            has_it: false,
            untold: false,
        }
    }

    /// Does the next action, or tells the call what came of the last.
    pub(crate) fn step(&mut self, market: &mut Market) -> Went {
        match self.told.take() {
            Some(told) => self.tell(told, market),
            None => return self.act(market),
        }
        Went::On
    }

    fn act(&mut self, market: &mut Market) -> Went {
        let action = self.call.next(market.wall());
        market.tell(|| {
            let known = self
                .call
                .purchase()
                .map(|it| (it.money(), it.payments().len()));
            format!("{:?} {known:?} {action:?}", self.owner)
        });
        self.actions += 1;
        assert!(self.actions < MOST_ACTIONS, "it does not end");
        self.told = Some(match action {
            Action::Admit => {
                let slot = std::time::Duration::from_millis(market.script.slot());
                Told::Admitted(market.wall().saturating_add(slot))
            }
            Action::Recall => {
                let fingerprint = fingerprint(self.request);
                let ledger = market.ledger(self.books);
                let taken = ledger.take(self.key, fingerprint, self.owner, market.least());
                Told::Recalled(self.recalled(ready(taken), market))
            }
            Action::Intend(terms) => Told::Intended(self.intend(&terms, market)),
            Action::Sign(terms) => Told::Signed(self.sign(&terms, market)),
            Action::Persist(payment) => Told::Persisted(self.persist(payment, market)),
            Action::Send(outgoing) => {
                let (turn, paid, answer) = self.send(outgoing, market);
                Told::Sent(turn, paid, answer)
            }
            Action::Sleep(until) => {
                let wait = until.as_millis().saturating_sub(market.wall().as_millis()) + 1;
                self.wakes = market.now + wait;
                self.slept += wait;
                return Went::On;
            }
            Action::Finish(end) => return Went::Ended(end),
            other => panic!("{other:?}"),
        });
        Went::On
    }

    fn tell(&mut self, told: Told, market: &mut Market) {
        let now = market.wall();
        match told {
            Told::Admitted(at) => self.call.handle_admitted(at, now),
            Told::Recalled(recalled) => self.call.handle_recalled(recalled, now),
            Told::Intended(intended) => self.call.handle_intended(intended, now),
            Told::Signed(signed) => self.call.handle_signed(signed),
            Told::Persisted(stands) => self.call.handle_persisted(stands),
            Told::Sent(turn, paid, answer) => self.arrive(turn, paid, answer, market),
            Told::Heard(turn, paid, answer) => {
                let answered = answered(&turn, &answer);
                let apart = matches!(turn.way, Way::Elsewhere | Way::BodyCut);
                self.served |= answer.status.is_success() && !(paid && apart);
                self.call.handle_reply(&answered, now);
                self.note(market);
            }
        }
        let at_stake = self.call.purchase().map(|purchase| purchase.money());
        at_stake.inspect(|money| market.tally.count(format!("money {money}")));
    }

    /// The head of an answer, or word that none comes.
    fn arrive(&mut self, turn: Turn, paid: bool, answer: Answer, market: &mut Market) {
        let now = market.wall();
        let lost = match turn.way {
            _ if turn.says == Says::TurnedBack => {
                self.call.handle_turned_back();
                return;
            }
            Way::RequestLost => Some(Failure::lost(FailureKind::Timeout)),
            Way::AnswerLost => Some(Failure::lost(FailureKind::Broken)),
            Way::Unconnected => Some(Failure::unsent(FailureKind::Connect)),
            _ => None,
        };
        if let Some(failure) = lost {
            if paid {
                market.heard(self, false);
            }
            self.call.handle_failure(failure, now);
            self.note(market);
            return;
        }
        if paid {
            market.heard(self, answer.denies && turn.way != Way::Elsewhere);
        }
        self.call.handle_head(&answered(&turn, &answer), now);
        self.note(market);
        self.told = Some(Told::Heard(turn, paid, answer));
    }
}

fn answered<'a>(turn: &Turn, answer: &'a Answer) -> Answered<'a> {
    Answered::new(Reply::new(answer.status, &answer.fields, &[]))
        .same_origin(turn.way != Way::Elsewhere)
        .redirected(turn.way == Way::Redirected)
        .cut(turn.way == Way::BodyCut)
}

/// A third of a lease.
pub(crate) const RENEWED_EVERY: u64 = 10_000;

/// More than any call takes: attempts, waits and looks at another's purchase, with all that a paid
/// send needs before it.
const MOST_ACTIONS: u32 = 700;
