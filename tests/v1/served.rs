//! What is bought in version 1, with all of our layers in each of their orders.

use http::StatusCode;
use paywait::{End, Money};
use paywait_seller::{Canned, Limiter, Place, Route, Step, Terms};
use support::buyer::{Buyer, Ours, report, status};
use support::foreign::outer_loop;
use support::shop::{Stand, slow_down, terms};

use crate::offers::{V1, old};

#[tokio::test]
async fn it_is_paid_for_once_and_served() {
    for order in Ours::ORDERS {
        let stand = Stand::open([old()]).await;
        let buyer = Buyer::new(&stand.clock);
        let ended = buyer.client(&order).get(stand.url("/report")).send().await;
        assert_eq!(status(&ended), Some(200), "{order:?}");
        let told = report(&ended).unwrap();
        let paid = told.paid.as_ref().unwrap();
        assert_eq!((&told.end, paid.money), (&End::Served, Money::Settled));
        let made = stand.seller.ledger().settlements()[0].transaction;
        assert_eq!(paid.transaction, Some(made.to_string()));
        assert_eq!((stand.sends(), stand.paid_sends()), (2, 1));
        assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
        assert_eq!(buyer.tap.payment_headers(), [V1]);
    }
}

#[tokio::test]
async fn a_429_of_the_handler_is_waited_out_and_the_same_bytes_are_shown() {
    for order in Ours::ORDERS {
        let busy = Step::verified(slow_down());
        let stand = Stand::open([old().paid_script([busy])]).await;
        let buyer = Buyer::new(&stand.clock);
        let ended = buyer.client(&order).get(stand.url("/report")).send().await;
        assert_eq!(status(&ended), Some(200), "{order:?}");
        assert!(report(&ended).unwrap().waited.as_secs() >= 1);
        assert_eq!((stand.paid_sends(), stand.nonces()), (2, 1));
        assert_eq!((stand.settlements(), buyer.signer.asked()), (1, 1));
        assert!(buyer.tap.shows_one_payment());
    }
}

#[tokio::test]
async fn a_limiter_in_the_handler_is_no_reason_to_pay_twice() {
    let window = std::time::Duration::from_secs(5);
    let limiter = Limiter::new(1, window).place(Place::InHandler);
    let stand = Stand::open([old().limiter(limiter)]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&[Ours::Retry, Ours::Pay, Ours::Pace]);
    for _ in 0..3 {
        let ended = client.get(stand.url("/report")).send().await;
        assert_eq!(status(&ended), Some(200));
    }
    assert_eq!((stand.nonces(), stand.settlements()), (3, 3));
    assert_eq!(buyer.signer.asked(), 3);
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_with_the_same_bytes() {
    for order in Ours::ORDERS {
        let stand = Stand::open([old().paid_script([Step::normal().reset()])]).await;
        let buyer = Buyer::new(&stand.clock);
        let ended = buyer.client(&order).get(stand.url("/report")).send().await;
        // the money moved, and whoever comes again is told that his nonce was used
        assert_eq!(status(&ended), Some(402), "{order:?}");
        assert_eq!(report(&ended).unwrap().end, End::PaidNotDelivered);
        assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
        assert_eq!(buyer.signer.asked(), 1);
    }
}

#[tokio::test]
async fn a_retry_layer_outside_buys_nothing_more() {
    let sins = [
        Step::verified(Canned::new(StatusCode::INTERNAL_SERVER_ERROR)),
        Step::settled(Canned::new(StatusCode::INTERNAL_SERVER_ERROR)),
        Step::settled(slow_down()),
        Step::settle_failed_but_moved("fetch failed"),
        Step::normal().reset(),
    ];
    for sin in sins {
        for order in Ours::ORDERS {
            let stand = Stand::open([old().paid_script(vec![sin.clone(); 99])]).await;
            let buyer = Buyer::new(&stand.clock);
            let client = buyer.client_inside(outer_loop(3), &order);
            drop(client.get(stand.url("/report")).send().await);
            assert_eq!(stand.nonces(), 1, "{order:?} {sin:?}");
            assert!(stand.settlements() <= 1, "{order:?} {sin:?}");
            assert_eq!(buyer.signer.asked(), 1, "{order:?} {sin:?}");
        }
    }
}

#[tokio::test]
async fn a_wallet_pays_a_seller_of_each_version_in_its_own_header() {
    let stand = Stand::open([old(), Route::new("/newer", terms())]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&[Ours::Retry, Ours::Pay, Ours::Pace]);
    for path in ["/report", "/newer", "/report"] {
        let ended = client.get(stand.url(path)).send().await;
        assert_eq!(status(&ended), Some(200), "{path}");
    }
    let v2 = http::HeaderName::from_static("payment-signature");
    assert_eq!(buyer.tap.payment_headers(), [V1, v2, V1]);
    assert_eq!((stand.nonces(), stand.settlements()), (3, 3));
}

#[tokio::test]
async fn a_chain_that_is_spelled_in_the_newer_way_is_paid_on_too() {
    let route = Route::new("/report", terms().v1("eip155:84532"));
    let stand = Stand::open([route]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&[Ours::Pay]);
    let ended = client.get(stand.url("/report")).send().await;
    assert_eq!(status(&ended), Some(200));
    assert_eq!(buyer.tap.payment_headers(), [V1]);
}

#[tokio::test]
async fn a_price_above_the_most_is_not_paid() {
    let dear = Terms::usdc(50_001, alloy_primitives::Address::repeat_byte(0x22));
    let stand = Stand::open([Route::new("/report", dear.v1("base-sepolia"))]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&[Ours::Retry, Ours::Pay, Ours::Pace]);
    let ended = client.get(stand.url("/report")).send().await;
    assert_eq!(status(&ended), Some(402));
    assert!(matches!(report(&ended).unwrap().end, End::NotPaid(_)));
    assert_eq!((stand.sends(), buyer.signer.asked()), (1, 0));
}
