//! Several buyers, their ledgers, a seller and the chains, and the time: all without sockets.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, LazyLock};

use alloy_signer_local::PrivateKeySigner;
use paywait_ledger::{Fingerprint, Ledger, Limits, OnDeath, Origin};
use paywait_signals::Timestamp;
use paywait_x402::{Network, Policy, PurchaseKey, Usd, Wallet, usd};

use crate::chain::{Auth, Chain};
use crate::checks::Exposure;
use crate::script::Script;
use crate::seller::{self, Answer, SPACES, Turn, Way};
use crate::tally::Tally;

/// One store of records, and what it counts.
#[derive(Clone)]
pub(crate) struct Books {
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) used: Arc<dyn Fn(Timestamp) -> Usd>,
    /// Opens the same records once more.
    pub(crate) reopens: Arc<dyn Fn(&Self) -> Self>,
}

/// Makes an empty store.
pub(crate) type Opens = fn() -> Books;

pub(crate) struct Market {
    /// True time, which is the chains', in milliseconds.
    pub(crate) now: u64,
    /// How far the wall clock of the buyers is off.
    off: i64,
    /// True time and wall clock when the buyers last believed the wall clock.
    anchor: (u64, u64),
    /// By how much the wall clock has gone back, all in all.
    pub(crate) back: u64,
    pub(crate) chain: Chain,
    pub(crate) books: Vec<Books>,
    opens: Opens,
    pub(crate) limit: Usd,
    pub(crate) on_death: OnDeath,
    pub(crate) script: Script,
    rng: fastrand::Rng,
    /// What each ledger was given, per purchase.
    pub(crate) exposures: BTreeMap<(usize, PurchaseKey), Exposure>,
    /// Whose each nonce is.
    pub(crate) owners: BTreeMap<(u64, String), PurchaseKey>,
    /// How often each purchase settled, over all spaces.
    pub(crate) settled: BTreeMap<PurchaseKey, u32>,
    /// Whether what settles on two chains is counted apart.
    pub(crate) apart: bool,
    pub(crate) tally: Tally,
    tells: bool,
}

impl Market {
    pub(crate) fn new(script: Script, seed: u64, opens: Opens) -> Self {
        let mut this = Self {
            now: START,
            off: 0,
            anchor: (START, START),
            back: 0,
            chain: Chain::default(),
            books: Vec::new(),
            opens,
            limit: usd("5").unwrap(),
            on_death: OnDeath::Presume,
            script,
            rng: fastrand::Rng::with_seed(seed),
            exposures: BTreeMap::new(),
            owners: BTreeMap::new(),
            settled: BTreeMap::new(),
            apart: false,
            tally: Tally::default(),
            tells: std::env::var_os("PAYWAIT_TELL").is_some(),
        };
        this.lose_records();
        this
    }

    /// From now on an empty store is used, as after a lost disk.
    pub(crate) fn lose_records(&mut self) {
        let books = (self.opens)();
        let limits = Limits::per_call(usd("0.05").unwrap()).per_day(self.limit);
        books.ledger.register(&limits);
        self.books.push(books);
    }

    /// The records are opened anew, as after the death of their process.
    pub(crate) fn reopen(&mut self) {
        for books in &mut self.books {
            *books = (books.reopens)(books);
        }
    }

    pub(crate) fn ledger(&self, books: usize) -> Arc<dyn Ledger> {
        Arc::clone(&self.books[books].ledger)
    }

    /// What the buyers' wall clock shows.
    pub(crate) fn wall(&self) -> Timestamp {
        Timestamp::from_millis(self.now.saturating_add_signed(self.off))
    }

    /// The earlier of what the wall clock shows and of what it would, had it gone on steadily.
    pub(crate) fn least(&self) -> Timestamp {
        let (then, wall) = self.anchor;
        self.wall()
            .min(Timestamp::from_millis(wall + self.now - then))
    }

    /// Tells what happens, where one schedule is replayed.
    pub(crate) fn tell(&self, what: impl FnOnce() -> String) {
        if self.tells {
            let what: String = what().chars().take(250).collect();
            println!("{:>9} {what}", self.now - START);
        }
    }

    /// The wall clock jumps, and is never off by as much as a day.
    pub(crate) fn jump(&mut self, by: i64) {
        let off = (self.off + by).clamp(-MOST_OFF, MOST_OFF);
        self.back += (off - self.off).min(0).unsigned_abs();
        self.off = off;
        // a clock that goes back is believed at once
        self.anchor = (self.now, self.least().as_millis());
    }

    pub(crate) fn bytes(&mut self) -> [u8; 32] {
        let mut bytes = [0; 32];
        self.rng.fill(&mut bytes);
        bytes
    }

    /// Lets a request arrive.
    pub(crate) fn serve(&mut self, turn: &Turn, payment: Option<&Auth>) -> Answer {
        let mut answer = seller::take(turn, payment, &mut self.chain, self.now);
        if matches!(turn.way, Way::Doubled | Way::DoubledLast) {
            // what is delivered twice is taken for two
            self.mine();
            let second = seller::take(turn, payment, &mut self.chain, self.now);
            if turn.way == Way::DoubledLast {
                answer = second;
            }
        }
        self.mine();
        answer
    }

    /// Lets time pass.
    pub(crate) fn pass(&mut self, millis: u64) {
        self.now += millis;
        let elapsed = self.now - self.anchor.0;
        if elapsed > BELIEVED_AFTER {
            self.anchor = (self.now, self.wall().as_millis());
        }
        self.mine();
    }

    fn mine(&mut self) {
        for auth in self.chain.mine(self.now) {
            self.check_settled(&auth);
        }
    }

    /// Lets so much time pass that nothing can settle any more.
    pub(crate) fn pass_all(&mut self) {
        while !self.chain.is_idle() {
            self.pass(600_000);
        }
    }
}

static WALLET: LazyLock<Wallet> = LazyLock::new(|| Wallet::evm(PrivateKeySigner::random()));

static POLICY: LazyLock<Arc<Policy>> = LazyLock::new(|| {
    let networks = SPACES.map(Network::evm);
    Arc::new(Policy::new(usd("0.05").unwrap()).networks(networks))
});

pub(crate) fn wallet() -> &'static Wallet {
    &WALLET
}

pub(crate) fn policy() -> Arc<Policy> {
    Arc::clone(&POLICY)
}

pub(crate) fn origin() -> Origin {
    "https://seller.example".parse().unwrap()
}

pub(crate) fn fingerprint(request: u8) -> Fingerprint {
    Fingerprint::of("POST", "https://seller.example/", &[request])
}

/// A ledger in memory is ready at once, and so is a signer in this process; one in a file is not.
pub(crate) fn ready<F: Future>(future: F) -> F::Output {
    futures_executor::block_on(future)
}

const START: u64 = 1_800_000_000_000;

/// Ten hours, in milliseconds.
const MOST_OFF: i64 = 36_000_000;

/// As long as a clock that jumped is not believed.
const BELIEVED_AFTER: u64 = 3_600_000;
