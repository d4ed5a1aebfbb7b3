//! A process that buys is killed at random moments under load, and another goes on from its file: the
//! ledgers of buyer and seller agree.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use alloy_primitives::{B256, hex};
use alloy_signer_local::PrivateKeySigner;
use paywait::{
    Amount, ChainReader, Clock, KnownAsset, Ledger, Money, NonceEvent, NonceFacts, NonceOf, Proof,
    PurchaseKey, Reading, SqliteLedger, SystemClock, Timestamp, reconcile,
};
use paywait_ledger::{Fingerprint, Owner, Taken};
use paywait_seller::{Identifier, RawServer, Route, Seller, Shop, Step};
use paywait_x402::SignedPayment;
use support::shop::{terms, upfront};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};

/// The seller, the file, and the wallet that all processes share.
struct Scene {
    seller: Seller,
    server: RawServer,
    /// How far all clocks are ahead, in seconds.
    ahead: Arc<AtomicU64>,
    folder: PathBuf,
    key: PrivateKeySigner,
}

impl Scene {
    async fn open() -> Self {
        let ahead = Arc::new(AtomicU64::new(0));
        let late =
            || (0..40_u64).map(|millis| Step::normal().late(Duration::from_millis(millis % 9)));
        let shop = Shop::builder()
            .route(
                Route::new("/report/0", terms())
                    .identifier(Identifier::Optional)
                    .paid_script(late()),
            )
            .route(Route::new("/report/1", upfront()).paid_script(late()))
            .build()
            .unwrap();
        let source = Arc::clone(&ahead);
        let seller = Seller::with_clock(shop, Arc::new(move || now(source.load(Ordering::SeqCst))));
        let server = RawServer::start(seller.clone()).await.unwrap();
        let name = format!("paywait-kill-{}-{}", std::process::id(), fastrand::u64(..));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).unwrap();
        let scene = Self {
            seller,
            server,
            ahead,
            folder,
            key: PrivateKeySigner::random(),
        };
        drop(SqliteLedger::create(scene.file()).unwrap());
        scene
    }

    fn file(&self) -> PathBuf {
        self.folder.join("ledger.sqlite")
    }

    /// Starts a process that buys these names.
    fn buyer(&self, from: u64, to: u64) -> Child {
        Command::new(env!("CARGO_BIN_EXE_kill-buyer"))
            .arg(self.file())
            .arg(self.server.url())
            .args([self.ahead.load(Ordering::SeqCst), from, to].map(|number| number.to_string()))
            .env("BUYER_KEY", hex::encode(self.key.to_bytes()))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap()
    }

    /// Lets time pass in which the lease of a dead process ends.
    fn wait_for_leases(&self) {
        self.ahead.fetch_add(31, Ordering::SeqCst);
    }

    /// What the file has of a name: its payments, and whether it knows that they settled.
    async fn taken(&self, ledger: &SqliteLedger, number: u64) -> Taken {
        let url = format!("{}/report/{}", self.server.url(), number % 2);
        let key = PurchaseKey::named(&format!("order-{number}"));
        let request = Fingerprint::of("GET", &url, b"");
        let now = now(self.ahead.load(Ordering::SeqCst));
        let taken = ledger.take(key, request, Owner::random(), now).await;
        taken.unwrap()
    }

    fn settlements(&self, nonce: B256) -> usize {
        self.seller.ledger().settlements_for_nonce(nonce).count()
    }
}

/// The seller's ledger, as a node would tell of it.
#[derive(Debug)]
struct Truth {
    seller: Seller,
    time: u64,
}

impl ChainReader for Truth {
    fn read<'a>(&'a self, nonce: &'a NonceOf) -> Reading<'a> {
        let ledger = self.seller.ledger();
        let settled = ledger.settlements_for_nonce(nonce.nonce).next();
        let transaction = B256::repeat_byte(1);
        let event = settled.map(|_| NonceEvent::Used { transaction });
        let facts = NonceFacts::new(self.time, settled.is_some(), event);
        Box::pin(std::future::ready(Ok(facts)))
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.folder).ok();
    }
}

fn now(ahead: u64) -> Timestamp {
    SystemClock::default()
        .now()
        .saturating_add(Duration::from_secs(ahead))
}

/// Kills a process some time after it began to buy, and waits until it is gone.
async fn kill(mut child: Child, after: Duration) -> bool {
    let mut begins = child.stdout.take().unwrap();
    begins.read_u8().await.unwrap();
    tokio::time::sleep(after).await;
    let lives = child.try_wait().unwrap().is_none();
    child.kill().await.unwrap();
    lives
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_is_killed_at_any_moment_and_started_again_pays_once_for_each_name() {
    let kills = count("PAYWAIT_KILLS", 60);
    let scene = Scene::open().await;
    let started = Instant::now();
    let (mut killed, mut round) = (0, 0);
    while killed < kills {
        let from = round * NEW_NAMES;
        // most of its names were begun by processes that are dead
        let first = scene.buyer(from, from + NAMES);
        let after = || Duration::from_millis(fastrand::u64(0..120));
        if round % 4 == 3 {
            // two at once, of which neither knows of the other
            let second = scene.buyer(from, from + NAMES);
            let both = tokio::join!(kill(first, after()), kill(second, after()));
            killed += u64::from(both.0) + u64::from(both.1);
        } else {
            killed += u64::from(kill(first, after()).await);
        }
        scene.wait_for_leases();
        round += 1;
    }
    let names = (round - 1) * NEW_NAMES + NAMES;
    let begun = scene.seller.ledger().authorizations_seen();
    // nobody kills the last one; it goes on where the dead left off, and buys what none began
    assert!(scene.buyer(0, names).wait().await.unwrap().success());
    scene.wait_for_leases();

    let ledger = SqliteLedger::open(scene.file()).unwrap();
    let mut nonces = BTreeSet::new();
    let (mut signatures, mut open) = (0, 0);
    for number in 0..names {
        let Taken::Standing(standing) = scene.taken(&ledger, number).await else {
            panic!("order-{number} is not in the file");
        };
        let nonce = standing.payments[0].nonce();
        let one_nonce = |payment: &SignedPayment| payment.nonce() == nonce;
        assert!(standing.payments.iter().all(one_nonce), "order-{number}");
        assert!(scene.settlements(nonce) <= 1, "order-{number}");
        match standing.money {
            Money::Settled => assert_eq!(scene.settlements(nonce), 1, "order-{number}"),
            _ => open += 1,
        }
        signatures += standing.payments.len();
        nonces.insert(nonce);
    }
    let seen: BTreeSet<B256> = {
        let ledger = scene.seller.ledger();
        let paid = ledger.paid_requests();
        paid.filter_map(|request| request.nonce).collect()
    };
    assert!(
        seen.is_subset(&nonces),
        "the seller saw what the file does not know"
    );
    agree_with_the_chain(&scene, &ledger).await;

    let settlements = scene.seller.ledger().settlements().len();
    println!(
        "{killed} kills in {round} rounds, {names} names, {begun} payments seen before the last \
         process, {signatures} signatures, {settlements} settlements, {open} left to the chain, {:.1} s",
        started.elapsed().as_secs_f32()
    );
}

/// What the file leaves open, the chain decides: then what it counts is what the seller got.
async fn agree_with_the_chain(scene: &Scene, ledger: &SqliteLedger) {
    scene.ahead.fetch_add(3_600, Ordering::SeqCst);
    let now = now(scene.ahead.load(Ordering::SeqCst));
    let truth = Truth {
        seller: scene.seller.clone(),
        time: now.as_secs(),
    };
    for one in reconcile(ledger, &truth, now).await.unwrap() {
        assert_ne!(one.proof, Ok(Proof::Open), "{one:?}");
    }
    assert!(ledger.open_purchases().await.unwrap().is_empty());
    let settlements = u64::try_from(scene.seller.ledger().settlements().len()).unwrap();
    let got = settlements.checked_mul(10_000).unwrap();
    let used = ledger.used_today(now).await.unwrap();
    assert_eq!(
        used,
        KnownAsset::all()[1].usd(Amount::from_u64(got)).unwrap()
    );
}

fn count(variable: &str, default: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.map_or(default, |given| given.parse().unwrap())
}

/// A file is needed where the rest of it is.
#[test]
fn a_ledger_that_is_not_there_is_an_error_and_not_an_empty_one() {
    assert!(SqliteLedger::open(Path::new("/nowhere/at/all.sqlite")).is_err());
}

/// So many names one process buys,
const NAMES: u64 = 16;

/// of which so many are new.
const NEW_NAMES: u64 = 4;
