//! Signers that panic, stall, or are asked when they should not be.

use std::time::Duration;

use http::HeaderValue;
use paywait::{Clock, Deadline, End, NotPaid, PurchaseName, usd};
use paywait_seller::{Canned, Route, Step};
use support::buyer::{Buyer, Ours, report, status};
use support::shop::{Stand, terms, upfront};
use support::signer::CountingSigner;

const ORDER: [Ours; 3] = [Ours::Retry, Ours::Pay, Ours::Pace];

#[tokio::test]
async fn a_signer_that_panics_leaves_its_price_held_and_the_key_free() {
    let stand = Stand::open([Route::new("/report", terms())]).await;
    let buyer = Buyer::new(&stand.clock);
    let broken = CountingSigner::random().before(|| async { panic!("the signer broke") });
    let panics = buyer.clone().signer(broken).client(&ORDER);
    let name = || PurchaseName::new("order-17");

    let call = panics
        .get(stand.url("/report"))
        .with_extension(name())
        .send();
    assert!(tokio::spawn(call).await.unwrap_err().is_panic());
    assert_eq!(
        buyer.ledger.used_today(stand.clock.now()),
        usd("0.01").unwrap()
    );

    let whole = buyer.client(&ORDER);
    let ended = whole
        .get(stand.url("/report"))
        .with_extension(name())
        .send()
        .await;
    assert_eq!(status(&ended), Some(200));
    assert_eq!(
        buyer.ledger.used_today(stand.clock.now()),
        usd("0.01").unwrap()
    );
    assert_eq!(stand.settlements(), 1);
}

#[tokio::test]
async fn a_signer_has_no_more_time_than_the_callers_deadline() {
    let stand = Stand::open([Route::new("/report", terms())]).await;
    let signer = CountingSigner::random().before(std::future::pending);
    let buyer = Buyer::new(&stand.clock).signer(signer);
    let call = buyer
        .client(&ORDER)
        .get(stand.url("/report"))
        .with_extension(Deadline::after(Duration::from_secs(5)))
        .send();

    let ended = tokio::time::timeout(Duration::from_secs(10), call).await;

    let ended = ended.expect("ends with its deadline");
    assert_eq!(status(&ended), Some(402));
    let end = &report(&ended).unwrap().end;
    assert!(matches!(end, End::NotPaid(NotPaid::Signer(_))), "{end:?}");
    assert_eq!((stand.nonces(), buyer.signer.asked()), (0, 1));
}

#[tokio::test]
async fn a_call_that_brings_its_own_payment_takes_no_purchase_from_the_ledger() {
    let lost = Step::settled(Canned::new(http::StatusCode::UNAUTHORIZED));
    let stand = Stand::open([Route::new("/report", upfront()).paid_script([lost])]).await;
    let buyer = Buyer::new(&stand.clock);
    for order in Ours::ORDERS {
        let client = buyer.client(&order);
        let name = PurchaseName::new("order-17");
        let call = client.get(stand.url("/report")).with_extension(name);
        drop(call.try_clone().unwrap().send().await);

        let own = HeaderValue::from_static("e30=");
        let asked = buyer.signer.asked();
        drop(call.header("payment-signature", own).send().await);
        assert_eq!(buyer.signer.asked(), asked);

        let name = PurchaseName::new("order-17");
        let ended = client
            .get(stand.url("/report"))
            .with_extension(name)
            .send()
            .await;
        assert_eq!(status(&ended), Some(200), "{order:?}: {ended:?}");
    }
    assert_eq!((stand.nonces(), buyer.signer.asked()), (1, 1));
}
