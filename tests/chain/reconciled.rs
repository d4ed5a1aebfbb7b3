//! What a seller left open in a ledger is ended by what the chain proves, and by nothing less.

use std::sync::{Arc, Mutex};

use alloy_primitives::B256;
use paywait_ledger::{
    Fingerprint, Intent, Ledger, LedgerError, Limits, MemoryLedger, Origin, Owner, Reconciled,
    Taken, reconcile,
};
use paywait_signals::Timestamp;
use paywait_x402::{ChainError, Money, Network, Proof, PurchaseKey, usd};

use crate::buyer::{Buyer, Price, Signed, on_the_wire, usdc};
use crate::evm::Evm;
use crate::reader::EvmReader;

/// A purchase that a call left open, and the chain on which it may settle.
struct Left {
    ledger: MemoryLedger,
    key: PurchaseKey,
    owner: Owner,
    buyer: Buyer,
    evm: Arc<Mutex<Evm>>,
    signed: Signed,
}

impl Left {
    /// Signs at second 1,000 what is valid for a minute, and gives it back with its fate unknown.
    async fn open() -> Self {
        let (mut evm, buyer) = (Evm::deploy(usdc(), 1_000), Buyer::random());
        evm.mint(buyer.address(), 50_000);
        let ledger = MemoryLedger::new();
        ledger.register(&Limits::per_call(usd("1").unwrap()).per_day(usd("1").unwrap()));
        let (key, owner) = (PurchaseKey::named("order-17"), Owner::random());
        let terms = buyer.terms(Price::of(10_000), NONCE, 1_060);
        let payment = buyer.payment(&terms).await;
        let signed = Signed::read(&on_the_wire(payment.clone(), terms.clone()));
        let intent = Intent::new(key, request(), origin(), &terms, usd("0.01").ok()).named(true);
        ledger.intend(intent, owner, now()).await.unwrap();
        ledger.persist(key, owner, payment, now()).await.unwrap();
        ledger.release(key, owner, true);
        Self {
            ledger,
            key,
            owner,
            buyer,
            evm: Arc::new(Mutex::new(evm)),
            signed,
        }
    }

    async fn reconcile(&self) -> Vec<Result<Proof, ChainError>> {
        let reader = EvmReader::new(&self.evm, 0);
        let all = reconcile(&self.ledger, &reader, now()).await.unwrap();
        assert!(all.iter().all(|one: &Reconciled| one.key == self.key));
        all.into_iter().map(|one| one.proof).collect()
    }

    /// How much counts as spent or held, and whether the purchase is still open.
    async fn stands(&self) -> (String, bool) {
        let open = self.ledger.open_purchases().await.unwrap();
        let used = self.ledger.used_today(now()).to_string();
        (used, !open.is_empty())
    }

    async fn take(&self) -> Result<Taken, LedgerError> {
        let taken = self.ledger.take(self.key, request(), self.owner, now());
        taken.await
    }

    fn seal_at(&self, time: u64) {
        let mut evm = self.evm.lock().unwrap();
        evm.set_time(time);
        evm.seal(1);
    }
}

fn origin() -> Origin {
    "https://seller.example".parse().unwrap()
}

fn request() -> Fingerprint {
    Fingerprint::of("GET", "https://seller.example/report", b"")
}

const fn now() -> Timestamp {
    Timestamp::from_secs(1_000)
}

#[tokio::test]
async fn what_settled_is_booked_and_its_key_is_spent() {
    let left = Left::open().await;
    let transaction = Some(left.signed.settle(&mut left.evm.lock().unwrap()).unwrap());
    assert_eq!(left.reconcile().await, [Ok(Proof::Settled { transaction })]);
    assert_eq!(left.stands().await, ("0.01".to_owned(), false));
    let taken = left.take().await.unwrap();
    assert!(matches!(taken, Taken::Spent(Money::Settled)), "{taken:?}");
}

#[tokio::test]
async fn what_can_never_settle_gives_its_price_back() {
    let left = Left::open().await;
    left.seal_at(1_060);
    assert_eq!(left.reconcile().await, [Ok(Proof::Unused)]);
    assert_eq!(left.stands().await, ("0".to_owned(), false));
    let settled = left.signed.settle(&mut left.evm.lock().unwrap());
    assert!(settled.is_err());
    assert!(matches!(left.take().await.unwrap(), Taken::Spent(_)));
}

#[tokio::test]
async fn what_the_payer_took_back_gives_its_price_back_while_it_lives() {
    let left = Left::open().await;
    left.buyer
        .cancel(&mut left.evm.lock().unwrap(), NONCE)
        .unwrap();
    assert_eq!(left.reconcile().await, [Ok(Proof::Cancelled)]);
    assert_eq!(left.stands().await, ("0".to_owned(), false));
}

#[tokio::test]
async fn what_is_not_proven_stays_held() {
    let left = Left::open().await;
    left.seal_at(1_059);
    assert_eq!(left.reconcile().await, [Ok(Proof::Open)]);
    assert_eq!(left.stands().await, ("0.01".to_owned(), true));
    let there = paywait_x402::Asset::new(Network::evm(8_453), usdc().contract);
    let other = Arc::new(Mutex::new(Evm::deploy(there, 9_999)));
    let reader = EvmReader::new(&other, 0);
    let all = reconcile(&left.ledger, &reader, now()).await.unwrap();
    assert!(matches!(all[0].proof, Err(ChainError::OtherChain { .. })));
    assert_eq!(left.stands().await, ("0.01".to_owned(), true));
}

#[tokio::test]
async fn what_a_call_has_in_hand_is_left_to_it() {
    let left = Left::open().await;
    left.take().await.unwrap();
    left.seal_at(1_060);
    assert_eq!(left.reconcile().await, [Ok(Proof::Unused)]);
    assert_eq!(left.stands().await, ("0.01".to_owned(), true));
}

const NONCE: B256 = B256::repeat_byte(7);
