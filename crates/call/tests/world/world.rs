//! The driver of a call in a world without sockets: a real signer, a real ledger, a model seller,
//! and a clock that goes as the script says.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use alloy_signer_local::PrivateKeySigner;
use http::{HeaderMap, Method};
use paywait_call::{
    Action, Answered, Call, Facts, Failure, Intended, Means, NotPaid, Outgoing, Patience, Recalled,
};
use paywait_ledger::{
    Fingerprint, Intent, Ledger, LedgerError, Limits, MemoryLedger, Note, Origin, Owner, Taken,
};
use paywait_signals::{Reply, Timestamp};
use paywait_x402::{
    Derivation, KnownAsset, Money, Policy, PurchaseKey, SignedPayment, Terms, Usd, Wallet, usd,
};

use crate::script::{Says, Script};
use crate::seller::Seller;

/// The seller, the ledger and the time, and all that is counted.
pub(crate) struct World {
    /// The wall clock, in milliseconds.
    pub(crate) wall: u64,
    /// The latest that the wall clock showed the call at hand.
    latest: u64,
    pub(crate) ledger: MemoryLedger,
    wallet: Wallet,
    pub(crate) seller: Seller,
    pub(crate) key: PurchaseKey,
    named: bool,
    /// The nonces that the signer was asked for.
    pub(crate) nonces: BTreeSet<String>,
    /// The most that the signer was asked for, in dollars.
    pub(crate) asked_for: Usd,
    /// The most that an intent was written for, in dollars.
    pub(crate) intended: Usd,
    /// How often the signer was asked, over all calls.
    pub(crate) signatures: u32,
    pub(crate) signer_fails: bool,
    pub(crate) seen: Seen,
    /// How many half steps are left until the process dies.
    dies_in: Option<u32>,
}

/// What is known of the call at hand.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    owner: Option<Owner>,
    /// Whether the ledger gave the purchase to the call at hand.
    leased: bool,
    signer_asked: bool,
    /// Whether the ledger was asked to write the signed bytes, and answered.
    pub(crate) persisted: bool,
    pub(crate) signatures: u32,
    /// Sends that were not turned back.
    pub(crate) sends: u32,
    /// The actions done.
    pub(crate) actions: u32,
    pub(crate) served: bool,
    /// Whether bytes are out of which no seller has said that they moved nothing.
    pub(crate) open: bool,
    /// Not to be sent before.
    told: u64,
    /// Whether an unpaid request that may not be repeated may have been served.
    sealed: bool,
    /// Whether what was sent last may be sent again.
    idempotent: bool,
}

impl Seen {
    /// Whether the ledger gave the purchase to the call at hand.
    pub(crate) const fn has_lease(&self) -> bool {
        self.leased
    }
}

/// How a call is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) attempts: Option<u32>,
    pub(crate) paced: bool,
    pub(crate) idempotent: bool,
    pub(crate) deadline: Option<u64>,
}

pub(crate) const PLAN: Plan = Plan {
    seed: 7,
    attempts: Some(5),
    paced: false,
    idempotent: true,
    deadline: None,
};

/// Shared, since the first signature of each wallet is checked, and that is slow.
static WALLET: LazyLock<Wallet> = LazyLock::new(|| Wallet::evm(PrivateKeySigner::random()));

/// The process died.
#[derive(Debug)]
pub(crate) struct Died;

impl World {
    /// A world with one purchase in it, that has a name.
    pub(crate) fn new() -> Self {
        Self::with(PurchaseKey::named("order-17"), true)
    }

    /// A world with one purchase in it, that has none.
    pub(crate) fn nameless() -> Self {
        Self::with(PurchaseKey::random(), false)
    }

    fn with(key: PurchaseKey, named: bool) -> Self {
        let ledger = MemoryLedger::new();
        ledger.register(&Limits::per_call(usd("0.05").unwrap()).per_day(usd("5").unwrap()));
        Self {
            wall: START,
            latest: START,
            ledger,
            wallet: WALLET.clone(),
            seller: Seller::default(),
            key,
            named,
            nonces: BTreeSet::new(),
            asked_for: Usd::ZERO,
            intended: Usd::ZERO,
            signatures: 0,
            signer_fails: false,
            seen: Seen::default(),
            dies_in: None,
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.wall)
    }

    /// Lets the process die after so many half steps.
    pub(crate) fn dies_in(&mut self, half_steps: u32) {
        self.dies_in = Some(half_steps);
    }

    /// Starts a call for the purchase, and takes up what stands in the ledger.
    pub(crate) fn call(&mut self, plan: Plan) -> Call {
        self.dies_in = None;
        self.latest = self.wall;
        self.seen = Seen {
            owner: Some(Owner::random()),
            idempotent: plan.idempotent,
            ..Seen::default()
        };
        let mut call = Call::new(
            Facts::of(&Method::POST, plan.idempotent),
            plan.seed,
            self.now(),
        );
        if let Some(attempts) = plan.attempts {
            let mut patience = Patience::default();
            patience.attempts = attempts.try_into().unwrap();
            call.lend_patience(&patience);
        }
        if plan.paced {
            call.lend_pacer();
        }
        if let Some(millis) = plan.deadline {
            call.set_deadline(self.now().saturating_add(Duration::from_millis(millis)));
        }
        call.lend_means(self.means());
        if self.named {
            call.recall_first();
        }
        call
    }

    pub(crate) fn means(&self) -> Means {
        let policy = Arc::new(Policy::new(usd("0.05").unwrap()));
        let payer = self.wallet.payer();
        Means::new(policy, payer, Derivation::default(), self.key, self.named)
    }

    fn owner(&self) -> Owner {
        self.seen.owner.unwrap()
    }

    fn recall(&mut self) -> Recalled {
        let taken = self
            .ledger
            .take(self.key, fingerprint(), self.owner(), self.now());
        let taken = ready(taken).unwrap();
        self.recalled(taken)
    }

    /// What the ledger has, as the machine is told of it.
    fn recalled(&mut self, taken: Taken) -> Recalled {
        match taken {
            Taken::Nothing => Recalled::Nothing,
            Taken::Standing(standing) => {
                self.seen.leased = true;
                self.seen.persisted = true;
                self.seen.open = standing.money != Money::Refused;
                Recalled::Standing {
                    key: standing.key,
                    payments: standing.payments,
                    money: standing.money,
                    shown: standing.shown,
                }
            }
            Taken::InFlight => Recalled::InFlight,
            other => panic!("{other:?}"),
        }
    }

    /// Drives a call to its end, and proves that it has one.
    pub(crate) fn drive_bounded(&mut self, call: &mut Call, script: &mut Script) {
        self.drive(call, script).unwrap();
    }

    /// Drives a call until it ends, or the process dies.
    pub(crate) fn drive(&mut self, call: &mut Call, script: &mut Script) -> Result<(), Died> {
        for _ in 0..MOST_ACTIONS {
            self.latest = self.latest.max(self.wall);
            let action = call.next(self.now());
            if matches!(action, Action::Finish(_)) {
                return Ok(());
            }
            self.seen.actions += 1;
            // it dies with the action in its hands
            self.half_step()?;
            self.act(call, action, script)?;
        }
        panic!("it does not end within {MOST_ACTIONS} actions")
    }

    fn half_step(&mut self) -> Result<(), Died> {
        match &mut self.dies_in {
            Some(0) => Err(Died),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Does one action; it may die when that is done and before the call is told.
    fn act(&mut self, call: &mut Call, action: Action, script: &mut Script) -> Result<(), Died> {
        match action {
            Action::Admit => {
                self.jump(script.early_jump());
                let at = Timestamp::from_millis(self.wall + script.slot());
                call.handle_admitted(at, self.now());
            }
            Action::Intend(terms) => {
                let known = call.purchase().unwrap().payments().len();
                let intended = self.intend(&terms, known);
                self.half_step()?;
                call.handle_intended(intended, self.now());
            }
            Action::Recall => {
                let recalled = self.recall();
                self.half_step()?;
                call.handle_recalled(recalled, self.now());
            }
            Action::Sign(terms) => {
                let signed = self.sign(&terms);
                self.half_step()?;
                call.handle_signed(signed);
            }
            Action::Persist(payment) => {
                let owner = self.owner();
                let stands = ready(self.ledger.persist(self.key, owner, payment, self.now()));
                self.seen.persisted = true;
                self.half_step()?;
                call.handle_persisted(stands.map_err(|error| error.to_string()));
            }
            Action::Sleep(until) => {
                assert!(until > self.now(), "a sleep that is none");
                self.wall = until.as_millis();
            }
            Action::Send(outgoing) => self.send(call, outgoing, script)?,
            other => panic!("{other:?}"),
        }
        Ok(())
    }

    fn intend(&mut self, terms: &Terms, known: usize) -> Intended {
        let intent = Intent::new(self.key, fingerprint(), origin(), terms, Some(price(terms)));
        let intent = intent.named(self.named).known(known);
        match ready(self.ledger.intend(intent, self.owner(), self.now())) {
            Ok(Taken::Intended) => {
                self.seen.leased = true;
                self.intended = self.intended.max(price(terms));
                Intended::New
            }
            Ok(taken) => Intended::Stands(self.recalled(taken)),
            Err(LedgerError::OtherRequest) => Intended::Refused(NotPaid::OtherRequest),
            Err(error) => panic!("{error}"),
        }
    }

    fn sign(&mut self, terms: &Terms) -> Result<SignedPayment, String> {
        assert!(
            self.ledger.used_today(self.now()) >= price(terms),
            "asked the signer without a hold"
        );
        self.seen.signer_asked = true;
        self.seen.signatures += 1;
        self.signatures += 1;
        self.nonces.insert(terms.nonce().to_string());
        self.asked_for = self.asked_for.max(price(terms));
        if self.signer_fails {
            return Err("no".to_owned());
        }
        ready(self.wallet.sign(terms)).map_err(|error| error.to_string())
    }

    /// One send over the wire.
    fn send(
        &mut self,
        call: &mut Call,
        outgoing: Outgoing,
        script: &mut Script,
    ) -> Result<(), Died> {
        assert!(self.latest >= self.seen.told, "sooner than told");
        let mut fields = HeaderMap::new();
        outgoing.write(&mut fields);
        let payment = fields.remove("payment-signature");
        let paid = payment.is_some();
        assert!(!paid || self.seen.persisted, "sent before it was persisted");
        assert!(paid || !self.seen.sealed, "served perhaps, and sent again");

        let turn = script.next();
        if turn.says == Says::TurnedBack {
            self.half_step()?;
            call.handle_turned_back();
            return Ok(());
        }
        self.seen.sends += 1;
        self.wall += turn.takes / 2;
        let reply = self.seller.take(turn, payment.as_ref(), self.wall);
        // who was not asked cannot say what became of the payment
        self.seen.open |= paid && (turn.elsewhere || !turn.says.denies());
        self.wall += turn.takes / 2;
        self.jump(turn.jump);
        self.half_step()?;
        match reply {
            Some(reply) => self.hear(call, &reply, (paid, turn.elsewhere))?,
            None => self.miss(call, turn.says, paid),
        }
        self.note(call);
        Ok(())
    }

    /// An answer: its head is booked before its body is read.
    fn hear(
        &mut self,
        call: &mut Call,
        reply: &crate::seller::Reply,
        (paid, elsewhere): (bool, bool),
    ) -> Result<(), Died> {
        let answer = Answered::new(Reply::new(reply.status, &reply.fields, &[]));
        let answer = answer.same_origin(!elsewhere);
        call.handle_head(&answer, self.now());
        self.note(call);
        self.half_step()?;
        if let Some(wait) = reply.fields.get("retry-after") {
            let wait: u64 = wait.to_str().unwrap().parse().unwrap();
            self.seen.told = self.wall + wait * 1_000;
            self.latest = self.wall;
        }
        self.seen.served |= reply.status.is_success() && !(paid && elsewhere);
        call.handle_reply(&answer, self.now());
        Ok(())
    }

    /// No answer.
    fn miss(&mut self, call: &mut Call, says: Says, paid: bool) {
        let Says::Lost { kind, left, .. } = says else {
            panic!("{says:?}");
        };
        self.seen.sealed |= left && !paid && !self.seen.idempotent;
        let failure = if left {
            Failure::lost(kind)
        } else {
            Failure::unsent(kind)
        };
        call.handle_failure(failure, self.now());
    }

    fn note(&mut self, call: &Call) {
        let signed = call.purchase().filter(|purchase| purchase.is_signed());
        if let Some(purchase) = signed {
            let note = Note::new(purchase.money(), purchase.shown());
            let noted = self.ledger.note(self.key, self.owner(), note, self.now());
            ready(noted).unwrap();
        }
    }

    fn jump(&mut self, millis: i64) {
        self.wall = self.wall.saturating_add_signed(millis);
    }

    /// What a driver's guard does when it is dropped.
    pub(crate) fn drop_driver(&mut self) {
        self.ledger
            .release(self.key, self.owner(), self.seen.signer_asked);
    }

    /// What the ledger knows of the money, once nobody has the purchase.
    pub(crate) fn booked(&self) -> Option<Money> {
        let owner = Owner::random();
        match ready(self.ledger.take(self.key, fingerprint(), owner, self.now())).unwrap() {
            Taken::Standing(standing) => {
                self.ledger.release(self.key, owner, false);
                Some(standing.money)
            }
            _ => None,
        }
    }
}

fn price(terms: &Terms) -> Usd {
    let known = KnownAsset::find(terms.asset()).unwrap();
    known.usd(terms.amount()).unwrap()
}

fn origin() -> Origin {
    "https://seller.example".parse().unwrap()
}

fn fingerprint() -> Fingerprint {
    Fingerprint::of("POST", "https://seller.example/", b"")
}

/// A ledger in memory is ready at once, and so is a signer in this process.
pub(crate) fn ready<F: Future>(future: F) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

const START: u64 = 1_800_000_000_000;

/// More actions than any call takes: five attempts, and twelve turns that may each turn it back,
/// with an admission, a slot and a wait for each; twice an intent, a signature and a record; and a
/// look and a wait for each second in which another has the purchase.
pub(crate) const MOST_ACTIONS: u32 = (6 + 13) * 5 + 2 * 3 + 2 * 190;
