//! A ledger in a file: what it keeps, what is refused, and that what cannot be written is not taken
//! for written.

#![expect(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a helper of a test fails the test by panicking"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use alloy_signer_local::PrivateKeySigner;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_executor::block_on;
use paywait_ledger::{
    Fingerprint, Intent, Ledger, LedgerError, Limit, Limits, Note, OpenError, Origin, Owner,
    Period, SqliteLedger, SqliteOptions, Standing, StoreError, Taken,
};
use paywait_signals::Timestamp;
use paywait_x402::alloy_primitives::B256;
use paywait_x402::{Money, Offer, PaymentId, PurchaseKey, SignedPayment, Terms, Wallet, usd};
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

static SIGNER: LazyLock<PrivateKeySigner> = LazyLock::new(PrivateKeySigner::random);
static PAYMENT: LazyLock<SignedPayment> =
    LazyLock::new(|| block_on(Wallet::evm(SIGNER.clone()).sign(&TERMS)).unwrap());
static TERMS: LazyLock<Terms> = LazyLock::new(|| {
    let offer = json!({"x402Version": 2, "accepts": [{
        "scheme": "exact", "network": "eip155:84532", "amount": "10000",
        "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C", "maxTimeoutSeconds": 120,
        "extra": {"name": "USDC", "version": "2"},
    }]});
    let offer = Offer::decode(STANDARD.encode(offer.to_string()).as_bytes()).unwrap();
    let (nonce, id) = (B256::repeat_byte(1), PaymentId::random());
    Terms::new(&offer, 0, SIGNER.address(), nonce, id, START + 120).unwrap()
});

/// A folder, and the path of a ledger in it.
fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite");
    (folder, path)
}

fn now() -> Timestamp {
    Timestamp::from_secs(START)
}

fn intend(ledger: &SqliteLedger, name: &str) -> Result<Owner, LedgerError> {
    let (key, request) = (PurchaseKey::named(name), request());
    let intent = Intent::new(key, request, origin(), &TERMS, usd("0.01").ok()).named(true);
    let owner = Owner::random();
    match block_on(ledger.intend(intent, owner, now()))? {
        Taken::Intended => Ok(owner),
        other => panic!("{other:?}"),
    }
}

fn origin() -> Origin {
    "https://seller.example".parse().unwrap()
}

fn request() -> Fingerprint {
    Fingerprint::of("GET", "https://seller.example/report", b"")
}

fn sign(ledger: &SqliteLedger, name: &str) {
    let owner = intend(ledger, name).unwrap();
    let key = PurchaseKey::named(name);
    block_on(ledger.persist(key, owner, PAYMENT.clone(), now())).unwrap();
    block_on(ledger.note(key, owner, Note::new(Money::Pending, 3), now())).unwrap();
    ledger.release(key, owner, true);
}

fn stands(ledger: &SqliteLedger, name: &str) -> Box<Standing> {
    let taken = ledger.take(PurchaseKey::named(name), request(), Owner::random(), now());
    match block_on(taken) {
        Ok(Taken::Standing(standing)) => standing,
        other => panic!("{other:?}"),
    }
}

fn store(error: LedgerError) -> StoreError {
    match error {
        LedgerError::Store(error) => error,
        other => panic!("{other:?}"),
    }
}

/// A ledger with one purchase in it, that nobody has open.
fn written(path: &Path) {
    let ledger = SqliteLedger::create(path).unwrap();
    sign(&ledger, "one");
}

#[test]
fn another_process_finds_what_was_written_byte_for_byte() {
    let (_folder, path) = place();
    written(&path);
    let ledger = SqliteLedger::open(&path).unwrap();
    assert_eq!(
        block_on(ledger.used_today(now())).unwrap().to_string(),
        "0.01"
    );
    let standing = stands(&ledger, "one");
    assert_eq!((standing.money, standing.shown), (Money::Pending, 3));
    assert_eq!(standing.payments[0].seal(), PAYMENT.seal());
}

#[test]
fn a_write_is_queued_when_it_is_called_and_not_when_it_is_awaited() {
    let (_folder, path) = place();
    let ledger = SqliteLedger::create(&path).unwrap();
    let intent = Intent::new(
        PurchaseKey::named("one"),
        request(),
        origin(),
        &TERMS,
        usd("0.01").ok(),
    );
    drop(ledger.intend(intent, Owner::random(), now()));
    assert_eq!(
        block_on(ledger.used_today(now())).unwrap().to_string(),
        "0.01"
    );
    let late = Intent::new(
        PurchaseKey::named("two"),
        request(),
        origin(),
        &TERMS,
        usd("0.01").ok(),
    );
    drop(ledger.intend(late, Owner::random(), now()));
    drop(ledger);
    let ledger = SqliteLedger::open(&path).unwrap();
    assert_eq!(
        block_on(ledger.used_today(now())).unwrap().to_string(),
        "0.02"
    );
}

#[test]
fn two_on_one_file_share_what_counts_and_grant_no_more_than_there_is() {
    let (_folder, path) = place();
    let one = SqliteLedger::create(&path).unwrap();
    let other = SqliteLedger::open(&path).unwrap();
    let limits = Limits::per_call(usd("1").unwrap())
        .per_day(usd("0.10").unwrap())
        .open_share(100);
    for ledger in [&one, &other] {
        ledger.register(&limits);
    }
    let granted: usize = std::thread::scope(|scope| {
        let asks = [("a", &one), ("b", &other)].map(|(prefix, ledger)| {
            scope.spawn(move || {
                let names = (0..16).map(|number| format!("{prefix}{number}"));
                names.filter(|name| intend(ledger, name).is_ok()).count()
            })
        });
        asks.map(|ask| ask.join().unwrap()).into_iter().sum()
    });
    assert_eq!(granted, 10);
    assert_eq!(block_on(one.used_today(now())).unwrap().to_string(), "0.1");
    assert_eq!(
        block_on(other.used_today(now())).unwrap().to_string(),
        "0.1"
    );
}

#[test]
fn a_period_of_any_length_can_be_written_and_read_again() {
    let (_folder, path) = place();
    let ledger = SqliteLedger::create(&path).unwrap();
    let spans = [
        Duration::MAX,
        Duration::from_nanos(1),
        Duration::from_micros(1_500),
    ];
    let per_call = Limits::per_call(usd("1").unwrap()).no_daily_limit();
    let limits = spans
        .map(Period::Rolling)
        .into_iter()
        .fold(per_call, |limits, period| {
            limits.and(Limit::dollars(usd("1").unwrap(), period))
        });
    for (name, ledger) in [("one", ledger), ("two", SqliteLedger::open(&path).unwrap())] {
        ledger.register(&limits);
        intend(&ledger, name).unwrap();
        drop(ledger);
        assert!(SqliteLedger::open(&path).is_ok());
    }
}

#[test]
fn a_file_that_is_missing_is_no_empty_ledger_and_one_that_is_there_is_not_made_again() {
    let (_folder, path) = place();
    assert_eq!(SqliteLedger::open(&path).unwrap_err(), OpenError::Missing);
    assert!(!path.exists());
    written(&path);
    assert_eq!(SqliteLedger::create(&path).unwrap_err(), OpenError::Exists);
    stands(&SqliteLedger::open(&path).unwrap(), "one");
}

#[test]
fn what_is_no_ledger_is_refused_and_left_as_it_was() {
    let (folder, path) = place();
    for bytes in [b"".as_slice(), b"not a database at all", &[0; 4_096]] {
        fs::write(&path, bytes).unwrap();
        let error = SqliteLedger::open(&path).unwrap_err();
        assert_eq!(error, OpenError::NotALedger, "{} bytes", bytes.len());
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
    let other = folder.path().join("other.sqlite");
    Connection::open(&other)
        .unwrap()
        .execute_batch("CREATE TABLE mine (x)")
        .unwrap();
    assert_eq!(
        SqliteLedger::open(&other).unwrap_err(),
        OpenError::NotALedger
    );
    assert_eq!(
        SqliteLedger::open(folder.path()).unwrap_err(),
        OpenError::NotALedger
    );
}

#[test]
fn a_newer_format_is_refused_and_named_also_while_it_is_open() {
    let (_folder, path) = place();
    written(&path);
    let ledger = SqliteLedger::open(&path).unwrap();
    let newer = Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 7).unwrap();
    assert_eq!(
        store(intend(&ledger, "two").unwrap_err()),
        StoreError::Version
    );
    drop(ledger);
    let error = SqliteLedger::open(&path).unwrap_err();
    assert_eq!(error, OpenError::Version { found: 7, known: 1 });
}

#[test]
fn a_damaged_file_is_never_taken_for_a_smaller_ledger() {
    let (_folder, path) = place();
    written(&path);
    let whole = fs::read(&path).unwrap();
    let mut refused = 0;
    for place in (0..whole.len()).step_by(61) {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x5a;
        fs::write(&path, &bytes).unwrap();
        match SqliteLedger::open(&path) {
            Err(_) => refused += 1,
            // what does not matter was hit; or it is found when it is read
            Ok(ledger) => {
                let taken =
                    ledger.take(PurchaseKey::named("one"), request(), Owner::random(), now());
                match block_on(taken) {
                    Ok(Taken::Standing(standing)) => {
                        assert_eq!(standing.payments[0].seal(), PAYMENT.seal(), "{place}");
                    }
                    Err(LedgerError::Store(_)) => refused += 1,
                    other => panic!("{place}: {other:?}"),
                }
            }
        }
        fs::remove_file(path.with_extension("sqlite-wal")).ok();
        fs::remove_file(path.with_extension("sqlite-shm")).ok();
    }
    assert!(refused > 10, "{refused}");
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert!(SqliteLedger::open(&path).is_err(), "half of it");
}

#[test]
fn a_payment_that_is_missing_or_changed_is_damage_and_not_nothing() {
    for change in [
        "DELETE FROM payment",
        "UPDATE payment SET sealed = x'00'",
        "UPDATE purchase SET fields = replace(fields, '0.01', '0.001')",
        "UPDATE purchase SET is_open = 0",
        "UPDATE posting SET until = 0",
        "PRAGMA foreign_keys = OFF; DELETE FROM purchase",
    ] {
        let (_folder, path) = place();
        written(&path);
        Connection::open(&path)
            .unwrap()
            .execute_batch(change)
            .unwrap();
        let opened = SqliteLedger::open(&path);
        let error = match opened {
            Err(error) => Some(error),
            Ok(ledger) => {
                let taken =
                    ledger.take(PurchaseKey::named("one"), request(), Owner::random(), now());
                block_on(taken)
                    .err()
                    .map(|error| OpenError::Store(store(error)))
            }
        };
        assert_eq!(
            error,
            Some(OpenError::Store(StoreError::Damaged)),
            "{change}"
        );
    }
}

#[test]
fn what_is_counted_is_what_the_records_say_whatever_the_sums_do() {
    for change in [
        "DELETE FROM total",
        "UPDATE total SET sum = '1'",
        "DELETE FROM posting",
    ] {
        let (_folder, path) = place();
        written(&path);
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(change).unwrap();
        let ledger = SqliteLedger::open(&path).unwrap();
        let used = block_on(ledger.used_today(now())).unwrap();
        assert_eq!(used.to_string(), "0.01", "{change}");
    }
}

#[test]
fn a_ledger_that_another_keeps_locked_says_so_and_writes_nothing() {
    let (_folder, path) = place();
    written(&path);
    let options = SqliteOptions::default().busy_timeout(Duration::from_millis(50));
    let ledger = options.open(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(store(intend(&ledger, "two").unwrap_err()), StoreError::Busy);
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(
        block_on(ledger.used_today(now())).unwrap().to_string(),
        "0.01"
    );
    assert!(intend(&ledger, "two").is_ok());
}

#[test]
fn a_ledger_that_is_full_says_so_and_what_was_there_stands() {
    let (_folder, path) = place();
    let ledger = SqliteOptions::default()
        .most_pages(24)
        .create(&path)
        .unwrap();
    let names = (0..10_000).map(|number| format!("order-{number}"));
    let mut granted = 0_u32;
    let mut full = None;
    for name in names {
        match intend(&ledger, &name) {
            Ok(_) => granted += 1,
            Err(error) => {
                full = Some(store(error));
                break;
            }
        }
    }
    assert_eq!(full, Some(StoreError::Full));
    let cents = block_on(ledger.used_today(now())).unwrap();
    assert_eq!(
        cents,
        usd(&format!("{}.{:02}", granted / 100, granted % 100)).unwrap()
    );
}

#[test]
fn a_file_that_was_moved_away_is_not_written_to() {
    let (folder, path) = place();
    written(&path);
    let ledger = SqliteLedger::open(&path).unwrap();
    fs::rename(&path, folder.path().join("elsewhere")).unwrap();
    assert_eq!(
        store(intend(&ledger, "two").unwrap_err()),
        StoreError::Moved
    );
}

#[cfg(unix)]
#[test]
fn nobody_else_may_read_what_can_be_cashed() {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, path) = place();
    let ledger = SqliteLedger::create(&path).unwrap();
    sign(&ledger, "one");
    for entry in fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{:?}", entry.file_name());
    }
    assert!(!format!("{ledger:?}").contains("ledger.sqlite"));
}

/// When the tests begin, in seconds.
const START: u64 = 1_800_000_000;
