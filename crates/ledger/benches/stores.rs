//! What a purchase costs on each ledger: microseconds and bytes, alone and with 64 at once.
//!
//! A purchase is the five writes of a call that pays once: take, intend, persist, note, release. The
//! two stores are measured in turn in one run. `--smoke` runs one short round, to see that it runs.
//!
//! The allocator that counts bytes costs some two nanoseconds an allocation while it does not count,
//! in both stores.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark takes the time, prints it, and fails by panicking"
)]

use std::sync::Arc;
use std::time::Instant;

use alloy_signer_local::PrivateKeySigner;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_executor::block_on;
use paywait_ledger::{
    Fingerprint, Intent, Ledger, Limits, MemoryLedger, Note, Origin, Owner, SqliteLedger, Taken,
};
use paywait_signals::Timestamp;
use paywait_x402::alloy_primitives::B256;
use paywait_x402::{Money, Offer, PaymentId, PurchaseKey, SignedPayment, Terms, Wallet, usd};
use serde_json::json;

/// What is signed, the same for all: signing is not what is measured.
struct Goods {
    terms: Terms,
    payment: SignedPayment,
}

impl Goods {
    fn new() -> Self {
        let offer = json!({"x402Version": 2, "accepts": [{
            "scheme": "exact", "network": "eip155:84532", "amount": "10000",
            "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
            "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C", "maxTimeoutSeconds": 120,
            "extra": {"name": "USDC", "version": "2"},
        }]});
        let offer = Offer::decode(STANDARD.encode(offer.to_string()).as_bytes()).unwrap();
        let signer = PrivateKeySigner::random();
        let (payer, nonce, id) = (signer.address(), B256::repeat_byte(1), PaymentId::random());
        let terms = Terms::new(&offer, 0, payer, nonce, id, START + 120).unwrap();
        let payment = block_on(Wallet::evm(signer).sign(&terms)).unwrap();
        Self { terms, payment }
    }
}

/// The writes of one call that pays once and is served.
fn origin() -> Origin {
    "https://seller.example".parse().unwrap()
}

fn buy(ledger: &dyn Ledger, goods: &Goods, number: u64) {
    let key = PurchaseKey::named(&format!("order-{number}"));
    let request = Fingerprint::of("GET", "https://seller.example/report", b"");
    let (owner, now) = (Owner::random(), Timestamp::from_secs(START));
    let taken = block_on(ledger.take(key, request, owner, now)).unwrap();
    assert!(matches!(taken, Taken::Nothing));
    let intent = Intent::new(key, request, origin(), &goods.terms, usd("0.01").ok()).named(true);
    let taken = block_on(ledger.intend(intent, owner, now)).unwrap();
    assert!(matches!(taken, Taken::Intended));
    block_on(ledger.persist(key, owner, goods.payment.clone(), now)).unwrap();
    let note = Note::new(Money::Settled, 1).delivered(true);
    block_on(ledger.note(key, owner, note, now)).unwrap();
    ledger.release(key, owner, true);
}

/// Microseconds a purchase, with so many callers at once.
fn measure(ledger: &dyn Ledger, goods: &Goods, callers: u64, each: u64, first: u64) -> f64 {
    let started = Instant::now();
    std::thread::scope(|scope| {
        for caller in 0..callers {
            scope.spawn(move || {
                let start = first + caller * each;
                (start..start + each).for_each(|number| buy(ledger, goods, number));
            });
        }
    });
    #[expect(
        clippy::as_conversions,
        clippy::float_arithmetic,
        reason = "a time is divided by a count"
    )]
    let each = started.elapsed().as_secs_f64() * 1e6 / (callers * each) as f64;
    each
}

fn main() {
    let smoke = std::env::args().any(|argument| argument == "--smoke");
    let goods = Goods::new();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite");
    let limits = Limits::per_call(usd("1").unwrap()).no_daily_limit();
    let memory: Arc<dyn Ledger> = Arc::new(MemoryLedger::new());
    let file: Arc<dyn Ledger> = Arc::new(SqliteLedger::create(&path).unwrap());
    for ledger in [&memory, &file] {
        ledger.register(&limits);
    }
    let rounds = if smoke { 1 } else { 5 };
    println!("callers  memory µs  file µs  file/memory");
    let (mut first, mut bought) = (0, 0);
    for callers in [1, 64] {
        for _ in 0..rounds {
            let each = if smoke { 2 } else { 20 };
            let in_memory = measure(memory.as_ref(), &goods, callers, each * 10, first);
            let in_file = measure(file.as_ref(), &goods, callers, each, first);
            first += callers * each * 10;
            bought += callers * each;
            println!(
                "{callers:>7} {in_memory:>10.1} {in_file:>8.1} {:>12.0}",
                ratio(in_file, in_memory)
            );
        }
    }
    println!("{} bytes a purchase in memory", held(1_000));
    drop(file);
    let bytes = std::fs::metadata(&path).unwrap().len();
    println!("{} bytes a purchase in the file", bytes / bought);
}

/// Bytes that stay allocated in memory for each of so many named purchases while they count, signed
/// bytes of their own included. They are the same however many buy at once.
fn held(purchases: u64) -> i64 {
    let ledger = MemoryLedger::new();
    buy(&ledger, &Goods::new(), 0);
    let allocated = allocation_counter::measure(|| {
        for number in 1..=purchases {
            buy(&ledger, &Goods::new(), number);
        }
    });
    allocated.bytes_current / i64::try_from(purchases).unwrap()
}

#[expect(clippy::float_arithmetic, reason = "a ratio of times")]
fn ratio(one: f64, other: f64) -> f64 {
    one / other
}

const START: u64 = 1_800_000_000;
