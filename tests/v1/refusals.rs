//! A 402 of version 1 after a payment: it looks like a first offer, and it is none.

use http::{Extensions, StatusCode};
use paywait::{End, Money, PurchaseName, Reason, usd};
use paywait_seller::{Canned, Route, Step, Token};
use reqwest::{Request, Response};
use reqwest_middleware::{Middleware, Next, Result};
use support::buyer::{Buyer, Ours, report, status};
use support::shop::Stand;

use crate::offers::old;

fn always(step: Step) -> Route {
    old().paid_script(vec![step; 99])
}

#[tokio::test]
async fn a_settlement_that_failed_in_free_words_is_unknown_and_not_bought_again() {
    for order in Ours::ORDERS {
        for step in [
            Step::settle_failed("fetch failed"),
            Step::settle_failed_but_moved("Settlement timed out"),
            Step::settle_failed("unexpected_settle_error"),
            Step::refused_but_moved("X-PAYMENT header is required"),
        ] {
            let stand = Stand::open([always(step.clone())]).await;
            let buyer = Buyer::new(&stand.clock);
            let ended = buyer.client(&order).get(stand.url("/report")).send().await;
            assert_eq!(status(&ended), Some(402), "{order:?} {step:?}");
            let told = report(&ended).unwrap();
            // whoever shows a nonce that was used is told so
            let moved = stand.settlements() == 1;
            let expected = if moved {
                (End::PaidNotDelivered, Money::Settled)
            } else {
                (End::OutcomeUnknown, Money::Unknown)
            };
            let money = told.paid.as_ref().unwrap().money;
            assert_eq!((told.end.clone(), money), expected, "{order:?} {step:?}");
            assert_eq!((stand.nonces(), buyer.signer.asked()), (1, 1));
            assert!(stand.paid_sends() > 1);
            assert!(buyer.tap.shows_one_payment());
            let used = buyer.ledger.used_today(paywait::Clock::now(&*stand.clock));
            assert_eq!(used, usd("0.01").unwrap());
        }
    }
}

#[tokio::test]
async fn a_settlement_that_failed_once_is_shown_again_and_served() {
    for order in Ours::ORDERS {
        let once = Step::settle_failed("fetch failed");
        let stand = Stand::open([old().paid_script([once])]).await;
        let buyer = Buyer::new(&stand.clock);
        let ended = buyer.client(&order).get(stand.url("/report")).send().await;
        assert_eq!(status(&ended), Some(200), "{order:?}");
        assert_eq!(report(&ended).unwrap().end, End::Served);
        assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
        assert_eq!(buyer.signer.asked(), 1);
    }
}

#[tokio::test]
async fn a_layer_that_pays_and_does_not_loop_leaves_it_unknown() {
    let stand = Stand::open([always(Step::settle_failed_but_moved("fetch failed"))]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&[Ours::Pay]);
    let ended = client.get(stand.url("/report")).send().await;
    assert_eq!(status(&ended), Some(402));
    assert_eq!(report(&ended).unwrap().end, End::OutcomeUnknown);
    assert_eq!((stand.paid_sends(), stand.nonces()), (1, 1));
}

#[tokio::test]
async fn a_refusal_before_the_handler_names_its_reason() {
    for order in Ours::ORDERS {
        let stand = Stand::open([old()]).await;
        let buyer = Buyer::new(&stand.clock);
        stand.seller.with_shop(|shop| {
            let payer = alloy_signer::Signer::address(&buyer.signer);
            shop.set_balance(
                &Token::usdc_base_sepolia(),
                payer,
                alloy_primitives::U256::from(9_999),
            );
        });
        let ended = buyer.client(&order).get(stand.url("/report")).send().await;
        let told = report(&ended).unwrap();
        assert_eq!(status(&ended), Some(402), "{order:?}");
        assert_eq!(told.end, End::Stopped(Reason::PaymentFailed), "{order:?}");
        let decision = told.decision().unwrap();
        let code = "invalid_exact_evm_insufficient_balance";
        assert_eq!(decision.provider_code.as_deref(), Some(code));
        assert_eq!(told.paid.as_ref().unwrap().money, Money::Refused);
        assert_eq!((stand.nonces(), stand.settlements()), (1, 0));
    }
}

#[tokio::test]
async fn half_a_refusal_says_nothing_of_the_money() {
    let half = Step::refused_but_moved("insufficient_funds").half_body();
    let stand = Stand::open([always(half)]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&[Ours::Pay]);
    let ended = client.get(stand.url("/report")).send().await;
    assert_eq!(report(&ended).unwrap().end, End::OutcomeUnknown);
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
}

#[tokio::test]
async fn what_a_body_said_of_the_money_stands_in_the_ledger() {
    let gone = Step::reply(Canned::new(StatusCode::GONE));
    let script = [
        Step::settle_failed_but_moved("fetch failed"),
        // the body says: this nonce was used
        Step::normal(),
        gone,
    ];
    let stand = Stand::open([old().paid_script(script)]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&[Ours::Retry, Ours::Pay]);
    let mut statuses = Vec::new();
    for _ in 0..2 {
        let name = PurchaseName::new("order-17");
        let request = client.get(stand.url("/report")).with_extension(name);
        let ended = request.send().await;
        statuses.push(status(&ended));
        assert_eq!(report(&ended).unwrap().end, End::PaidNotDelivered);
    }
    assert_eq!(statuses, [Some(402), Some(410)]);
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
}

/// A layer that asks again, whatever came.
struct Again(usize);

#[async_trait::async_trait]
impl Middleware for Again {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        for _ in 1..self.0 {
            let turn = request.try_clone().unwrap();
            drop(next.clone().run(turn, extensions).await);
        }
        next.run(request, extensions).await
    }
}

#[tokio::test]
async fn a_loop_outside_that_asks_again_on_a_402_buys_nothing_more() {
    for (step, moved) in [
        (Step::settle_failed_but_moved("fetch failed"), 1),
        (Step::settle_failed("fetch failed"), 0),
        (Step::refused("insufficient_funds"), 0),
    ] {
        for order in Ours::ORDERS {
            let stand = Stand::open([always(step.clone())]).await;
            let buyer = Buyer::new(&stand.clock);
            let client = buyer.client_inside(Again(4), &order);
            drop(client.get(stand.url("/report")).send().await);
            let seen = (stand.nonces(), stand.settlements());
            assert_eq!(seen, (1, moved), "{order:?} {step:?}");
        }
    }
}
