//! Signers and ledgers that never answer: a call waits for them as long as it was told to.

use std::sync::Arc;
use std::time::{Duration, Instant};

use paywait::{Clock, End, NotPaid, Pay, Wallet};
use paywait_seller::Route;
use reqwest_middleware::ClientWithMiddleware;
use support::buyer::{Buyer, bare, limits, report, status};
use support::clock::FakeClock;
use support::shop::{Stand, terms};
use support::signer::CountingSigner;

use crate::slow_ledger::{Late, SlowLedger};

const LONGEST: Duration = Duration::from_millis(50);

fn slow(buyer: &Buyer, late: Late) -> Arc<SlowLedger> {
    let inner = Arc::clone(&buyer.ledger);
    Arc::new(SlowLedger { inner, late })
}

fn client(pay: Pay, clock: &Arc<FakeClock>) -> ClientWithMiddleware {
    let clock: Arc<dyn Clock> = Arc::<FakeClock>::clone(clock);
    bare().with(pay.with_clock(clock)).build()
}

/// Makes a call that must end by its bounds; returns why nothing was paid.
async fn not_paid(client: &ClientWithMiddleware, stand: &Stand) -> NotPaid {
    let start = Instant::now();
    let ended = client.get(stand.url("/report")).send().await;
    assert!(start.elapsed() >= LONGEST, "it waits as long as it may");
    assert!(start.elapsed() < Duration::from_secs(5), "and no longer");
    assert_eq!(status(&ended), Some(402));
    assert_eq!((stand.paid_sends(), stand.settlements()), (0, 0));
    let end = &report(&ended).unwrap().end;
    let End::NotPaid(why) = end else {
        panic!("{end:?}");
    };
    why.clone()
}

#[tokio::test]
async fn a_signer_has_as_long_as_it_was_given() {
    let stand = Stand::open([Route::new("/report", terms())]).await;
    let buyer = Buyer::new(&stand.clock);
    let signer = CountingSigner::random().before(std::future::pending);
    let wallet = Wallet::evm(signer.clone());
    let ledger = Arc::clone(&buyer.ledger);
    let pay = Pay::with_ledger(wallet, limits(), ledger).signing_time(LONGEST);

    let why = not_paid(&client(pay, &stand.clock), &stand).await;

    assert!(matches!(why, NotPaid::Signer(_)), "{why:?}");
    assert_eq!(signer.asked(), 1);
    // what it made may exist: its price stays held
    let used = buyer.ledger.used_today(stand.clock.now());
    assert_eq!(used.to_string(), "0.01");
}

#[tokio::test]
async fn a_ledger_has_as_long_for_one_write_as_it_was_given() {
    for (late, asked) in [(Late::Intend, 0), (Late::Persist, 1)] {
        let stand = Stand::open([Route::new("/report", terms())]).await;
        let buyer = Buyer::new(&stand.clock);
        let wallet = Wallet::evm(buyer.signer.clone());
        let pay = Pay::with_ledger(wallet, limits(), slow(&buyer, late)).writing_time(LONGEST);

        let why = not_paid(&client(pay, &stand.clock), &stand).await;

        assert!(matches!(why, NotPaid::Ledger(_)), "{late:?}: {why:?}");
        assert_eq!(buyer.signer.asked(), asked, "{late:?}");
    }
}

#[tokio::test]
async fn a_ledger_that_does_not_confirm_a_receipt_does_not_keep_what_was_paid_for() {
    let stand = Stand::open([Route::new("/report", terms())]).await;
    let buyer = Buyer::new(&stand.clock);
    let wallet = Wallet::evm(buyer.signer.clone());
    let pay = Pay::with_ledger(wallet, limits(), slow(&buyer, Late::Note)).writing_time(LONGEST);

    let ended = client(pay, &stand.clock)
        .get(stand.url("/report"))
        .send()
        .await;

    assert_eq!(status(&ended), Some(200));
    let report = report(&ended).unwrap();
    assert_eq!(report.end, End::Served);
    assert!(report.ledger_trouble.is_some());
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
}
