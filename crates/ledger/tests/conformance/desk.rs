//! Both stores, behind one trait, and what every test here asks of them.

use std::sync::{Arc, LazyLock};

use alloy_signer_local::PrivateKeySigner;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_executor::block_on;
use paywait_ledger::{
    Fingerprint, Intent, Ledger, LedgerError, Limits, MemoryLedger, Note, Origin, Owner,
    SqliteLedger, Standing, Taken,
};
use paywait_signals::Timestamp;
use paywait_x402::alloy_primitives::B256;
use paywait_x402::{Money, Offer, PaymentId, PurchaseKey, SignedPayment, Terms, Usd, Wallet, usd};
use serde_json::json;
use tempfile::TempDir;

static SIGNER: LazyLock<PrivateKeySigner> = LazyLock::new(PrivateKeySigner::random);

/// What is signed for the terms of each test. A ledger does not look into it.
pub(crate) static PAYMENT: LazyLock<SignedPayment> = LazyLock::new(|| sign(VALID_BEFORE));

/// What is signed besides.
pub(crate) static OTHER: LazyLock<SignedPayment> = LazyLock::new(|| sign(VALID_BEFORE + 7));

static ID: LazyLock<PaymentId> = LazyLock::new(PaymentId::random);

fn sign(valid_before: u64) -> SignedPayment {
    block_on(Wallet::evm(SIGNER.clone()).sign(&terms(valid_before))).unwrap()
}

pub(crate) fn terms(valid_before: u64) -> Terms {
    let offer = json!({"x402Version": 2, "accepts": [{
        "scheme": "exact", "network": "eip155:84532", "amount": "10000",
        "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C", "maxTimeoutSeconds": 120,
        "extra": {"name": "USDC", "version": "2"},
    }]});
    let offer = Offer::decode(STANDARD.encode(offer.to_string()).as_bytes()).unwrap();
    let nonce = B256::repeat_byte(1);
    Terms::new(&offer, 0, SIGNER.address(), nonce, ID.clone(), valid_before).unwrap()
}

/// A ledger of one kind.
pub(crate) enum Store {
    Memory(Arc<MemoryLedger>),
    Sqlite(
        Arc<SqliteLedger>,
        #[expect(dead_code, reason = "it is there as long as this is")] TempDir,
    ),
}

/// Both kinds, empty and without limits.
pub(crate) fn unlimited() -> [Store; 2] {
    let folder = tempfile::tempdir().unwrap();
    let file = SqliteLedger::create(folder.path().join("ledger")).unwrap();
    [
        Store::Memory(Arc::default()),
        Store::Sqlite(Arc::new(file), folder),
    ]
}

/// Both kinds, empty, with so much for the day.
pub(crate) fn stores(per_day: &str) -> [Store; 2] {
    unlimited().map(|store| {
        store.ledger().register(&limits(per_day));
        store
    })
}

pub(crate) fn limits(per_day: &str) -> Limits {
    Limits::per_call(usd("1").unwrap())
        .per_day(usd(per_day).unwrap())
        // what is open at the one origin of the tests is not what they are of
        .open_share(100)
}

impl Store {
    pub(crate) fn ledger(&self) -> &dyn Ledger {
        match self {
            Self::Memory(ledger) => ledger.as_ref(),
            Self::Sqlite(ledger, _) => ledger.as_ref(),
        }
    }

    pub(crate) fn used_then(&self, now: Timestamp) -> Usd {
        match self {
            Self::Memory(ledger) => ledger.used_today(now),
            Self::Sqlite(ledger, _) => block_on(ledger.used_today(now)).unwrap(),
        }
    }

    pub(crate) fn used(&self, now: Timestamp) -> String {
        self.used_then(now).to_string()
    }

    /// Writes an intent for a caller of its own.
    pub(crate) fn intend(&self, intent: Intent, now: Timestamp) -> Result<Owner, LedgerError> {
        let owner = Owner::random();
        match block_on(self.ledger().intend(intent, owner, now))? {
            Taken::Intended => Ok(owner),
            other => panic!("{other:?}"),
        }
    }

    /// Intends the purchase `name` at the start.
    pub(crate) fn intend_named(&self, name: &str, price: &str) -> Result<Owner, LedgerError> {
        self.intend(intent(name, price, START), at(START))
    }

    pub(crate) fn persist(&self, name: &str, owner: Owner) -> Result<SignedPayment, LedgerError> {
        let written = self
            .ledger()
            .persist(key(name), owner, PAYMENT.clone(), at(START));
        block_on(written)
    }

    pub(crate) fn take_at(&self, name: &str, now: Timestamp) -> Result<Taken, LedgerError> {
        let owner = Owner::random();
        block_on(self.ledger().take(key(name), request(name), owner, now))
    }

    pub(crate) fn take(&self, name: &str) -> Result<Taken, LedgerError> {
        self.take_at(name, at(START))
    }

    /// Takes what stands, and says for whom.
    pub(crate) fn stands(&self, name: &str, now: Timestamp) -> (Owner, Box<Standing>) {
        let owner = Owner::random();
        match block_on(self.ledger().take(key(name), request(name), owner, now)) {
            Ok(Taken::Standing(standing)) => (owner, standing),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn note(&self, name: &str, owner: Owner, money: Money) -> Result<(), LedgerError> {
        let note = Note::new(money, 1);
        block_on(self.ledger().note(key(name), owner, note, at(START)))
    }

    pub(crate) fn release(&self, name: &str, owner: Owner, signer_asked: bool) {
        self.ledger().release(key(name), owner, signer_asked);
    }

    /// A purchase that is signed, written and given back.
    pub(crate) fn signed(&self, name: &str, price: &str) -> Owner {
        let owner = self.intend_named(name, price).unwrap();
        self.persist(name, owner).unwrap();
        self.release(name, owner, true);
        owner
    }

    /// How many purchases are open.
    pub(crate) fn open(&self) -> usize {
        block_on(self.ledger().open_purchases()).unwrap().len()
    }
}

pub(crate) fn key(name: &str) -> PurchaseKey {
    PurchaseKey::named(name)
}

/// Where each request of a test goes.
pub(crate) fn origin() -> Origin {
    "https://seller.example".parse().unwrap()
}

pub(crate) fn request(path: &str) -> Fingerprint {
    Fingerprint::of("POST", &format!("https://seller.example/{path}"), b"")
}

/// The intent of the caller's purchase `name`, to be signed at `secs`.
pub(crate) fn intent(name: &str, price: &str, secs: u64) -> Intent {
    let terms = terms(secs + WINDOW);
    Intent::new(key(name), request(name), origin(), &terms, usd(price).ok()).named(true)
}

pub(crate) fn at(secs: u64) -> Timestamp {
    Timestamp::from_secs(secs)
}

pub(crate) fn before(moment: Timestamp) -> Timestamp {
    moment.saturating_sub(std::time::Duration::from_millis(1))
}

pub(crate) fn is_over(result: &Result<Owner, LedgerError>) -> bool {
    matches!(result, Err(LedgerError::OverLimit(_)))
}

pub(crate) fn come_back(result: &Result<Owner, LedgerError>) -> Option<Timestamp> {
    match result {
        Err(LedgerError::OverLimit(over)) => over.come_back,
        other => panic!("{other:?}"),
    }
}

/// When the tests begin, in seconds.
pub(crate) const START: u64 = 1_800_000_000;

/// For how long what is signed can be cashed, in seconds.
pub(crate) const WINDOW: u64 = 120;

pub(crate) const VALID_BEFORE: u64 = START + WINDOW;

/// When what is signed at the start can no longer settle: two minutes after it expired.
pub(crate) const DIES: u64 = VALID_BEFORE + 120;

pub(crate) const DAY: u64 = 24 * 60 * 60;

/// After so many seconds without a write an owner is gone.
pub(crate) const LEASE: u64 = 30;
