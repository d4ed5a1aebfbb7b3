//! Reports of the area *settlement*.

use std::time::Duration;

use http::StatusCode;
use paywait::{Clock, Deadline, End, Ledger, Money, Network, usd};
use paywait_seller::{Canned, Identifier, Route, Step};
use paywait_signals::{FailureClass, ReceiptStanding};
use paywait_x402::{Policy, Receipt, Refusal};
use serde_json::json;
use support::buyer::{Ours, report, status};
use support::shop::{terms, upfront};

use crate::desk::{ask, decoded, entry, offer, sells};

/// The reports that do not apply, and why.
pub(crate) const NOT_OURS: &[(&str, &str)] = &[];

/// <https://github.com/x402-foundation/x402/issues/1062>
#[tokio::test]
async fn pw014_a_pending_settlement_is_waited_for_with_the_same_bytes() {
    let pending = Step::pending(Duration::from_secs(3_600));
    let (stand, buyer) = sells(Route::new("/it", upfront()).paid_script([pending])).await;
    let ended = ask(&stand, &buyer).await;
    assert_eq!(status(&ended), Some(200));
    assert!(!report(&ended).unwrap().waited.is_zero());
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
    assert!(buyer.tap.shows_one_payment());
    let used = buyer.ledger.used_today(stand.clock.now());
    assert_eq!(used.to_string(), "0.01");
}

/// <https://github.com/x402-foundation/x402/pull/3325>
#[test]
fn pw016_a_receipt_has_more_than_two_values() {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    let read = |receipt: serde_json::Value| {
        let receipt = Receipt::decode(STANDARD.encode(receipt.to_string()).as_bytes());
        receipt.unwrap().standing()
    };
    let failed = |reason: &str, transaction: &str| {
        let receipt = json!({"success": false, "errorReason": reason, "transaction": transaction});
        read(receipt)
    };
    let settled = read(json!({"success": true, "transaction": "0xab"}));
    assert_eq!(settled, ReceiptStanding::Settled);
    assert_eq!(
        failed("settlement_pending", "0xab"),
        ReceiptStanding::Pending
    );
    for (reason, transaction, right) in [
        ("insufficient_funds", "", FailureClass::BeforeBroadcast),
        ("insufficient_funds", "0xab", FailureClass::Unknown),
        ("settlement_pending", "", FailureClass::Unknown),
        ("", "", FailureClass::Unknown),
        ("nonce_already_used", "", FailureClass::AlreadyUsed),
    ] {
        let ReceiptStanding::Failed { class, .. } = failed(reason, transaction) else {
            panic!("{reason}");
        };
        assert_eq!(class, right, "{reason} {transaction}");
    }
}

/// <https://github.com/x402-foundation/x402/issues/831>
#[tokio::test]
async fn pw017_a_corrective_402_is_signed_once_more_and_a_bare_new_offer_is_not() {
    for (reason, signatures) in [
        ("No matching payment requirements", 2),
        ("Payment required", 1),
    ] {
        let again = Step::refused(reason);
        let (stand, buyer) = sells(Route::new("/it", terms()).paid_script([again])).await;
        ask(&stand, &buyer).await.unwrap();
        assert_eq!(buyer.signer.asked(), signatures, "{reason}");
        assert_eq!((stand.nonces(), stand.settlements()), (1, 1), "{reason}");
    }
}

/// The body is delivered; what it cost stays counted, since a 2xx is taken as paid for.
///
/// <https://github.com/x402-foundation/x402/issues/222>
#[tokio::test]
async fn pw019_a_200_whose_receipt_says_no_is_delivered_and_stays_counted() {
    let no = json!({"success": false, "errorReason": "insufficient_funds", "transaction": ""});
    let served = Canned::json(StatusCode::OK, "{}").receipt(&no);
    let route = Route::new("/it", terms()).paid_script([Step::verified(served)]);
    let (stand, buyer) = sells(route).await;
    let ended = ask(&stand, &buyer).await;
    assert_eq!(report(&ended).unwrap().end, End::Served);
    let used = buyer.ledger.used_today(stand.clock.now());
    assert_eq!(
        (used.to_string().as_str(), stand.settlements()),
        ("0.01", 0)
    );
}

/// <https://github.com/x402-rs/x402-rs/issues/22>
#[tokio::test]
async fn pw020_a_429_that_was_paid_for_is_waited_out_and_not_bought_again() {
    let slow = Step::settled(Canned::new(StatusCode::TOO_MANY_REQUESTS).retry_after(20));
    let route = Route::new("/it", upfront()).identifier(Identifier::Optional);
    let (stand, buyer) = sells(route.paid_script([slow])).await;
    let ended = ask(&stand, &buyer).await;
    let told = report(&ended).unwrap();
    assert!(told.waited >= Duration::from_secs(20), "{told}");
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
    assert!(buyer.tap.shows_one_payment() && stand.paid_sends() > 1);
}

/// <https://github.com/zeriontech/zerion-ai/pull/108>
#[tokio::test]
async fn pw021_the_status_does_not_say_whether_it_was_paid() {
    let slow = Canned::new(StatusCode::TOO_MANY_REQUESTS).retry_after(2);
    let steps = [
        Step::settled(slow.clone()),
        Step::settled(Canned::new(StatusCode::OK)),
    ];
    let (stand, buyer) = sells(Route::new("/it", upfront()).paid_script(steps)).await;
    let ended = ask(&stand, &buyer).await;
    let told = report(&ended).unwrap();
    assert_eq!((status(&ended), &told.end), (Some(200), &End::Served));
    assert_eq!(told.paid.as_ref().unwrap().money, Money::Settled);
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));

    let unpaid = Step::verified(slow);
    let (stand, buyer) = sells(Route::new("/it", terms()).paid_script(vec![unpaid; 9])).await;
    let ended = ask(&stand, &buyer).await;
    assert_eq!(report(&ended).unwrap().end, End::OutcomeUnknown);
    assert_eq!(stand.settlements(), 0);
}

/// <https://github.com/tempoxyz/pympp/pull/202>
#[tokio::test]
async fn pw023_what_is_cut_while_a_payment_is_out_is_an_unknown_outcome() {
    let silent = Step::normal().stall(Duration::from_secs(5));
    let (stand, buyer) = sells(Route::new("/it", terms()).paid_script([silent])).await;
    let client = buyer.client(&Ours::ORDERS[0]);
    let request = client.get(stand.url("/it"));
    let request = request.with_extension(Deadline::after(Duration::from_millis(200)));
    let error = request.send().await.unwrap_err();
    let ours = paywait::Error::find(&error).unwrap();
    assert_eq!(ours.end(), &End::OutcomeUnknown);
    assert!(ours.report().paid.is_some());
    let open = buyer.ledger.open_purchases().await.unwrap();
    assert_eq!(open.len(), 1, "the authorization is kept");
    assert!(status(&ask(&stand, &buyer).await).is_some());
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
}

/// <https://github.com/x402-foundation/x402/issues/837>
#[test]
fn pw025_a_wrong_signing_domain_is_refused_before_anything_is_signed() {
    let mainnet = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
    let policy = Policy::new(usd("1").unwrap()).networks([Network::evm(8_453)]);
    let wrong = decoded(&offer(&[entry("eip155:8453", mainnet, "USDC")]));
    let refused = policy.check(&wrong.entries()[0]).unwrap_err();
    assert!(
        matches!(refused, Refusal::OtherDomain { .. }),
        "{refused:?}"
    );
    let asked = "signing domain: asked \"USDC\" version \"2\", allowed \"USD Coin\" version \"2\"";
    assert_eq!(refused.to_string(), asked);
    let right = decoded(&offer(&[entry("eip155:8453", mainnet, "USD Coin")]));
    assert_eq!(policy.choose(&right), Ok(0));
}

/// <https://github.com/x402-foundation/x402/issues/2348>
#[tokio::test]
async fn pw026_a_facilitator_that_knows_no_such_network_is_not_asked_for_ever() {
    let reason = "No facilitator registered for scheme: exact and network: eip155:84532";
    let body = json!({"error": reason}).to_string();
    let broken = Canned::json(StatusCode::INTERNAL_SERVER_ERROR, body);
    for step in [Step::refused(reason), Step::verified(broken)] {
        let (stand, buyer) = sells(Route::new("/it", terms()).paid_script(vec![step; 9])).await;
        let ended = ask(&stand, &buyer).await;
        assert_eq!(report(&ended).unwrap().end, End::OutcomeUnknown);
        assert!(stand.paid_sends() <= 4);
        assert_eq!((stand.nonces(), buyer.signer.asked()), (1, 1));
        let used = buyer.ledger.used_today(stand.clock.now());
        assert_eq!(
            used.to_string(),
            "0.01",
            "held until it can be cashed no more"
        );
    }
}

/// <https://github.com/solana-foundation/pay-kit/pull/301>
#[tokio::test]
async fn pw028_a_conflict_after_a_failure_that_was_paid_for_stops() {
    let failed = Step::settled(Canned::new(StatusCode::INTERNAL_SERVER_ERROR));
    let conflict = Step::reply(Canned::new(StatusCode::CONFLICT));
    let (stand, buyer) = sells(Route::new("/it", upfront()).paid_script([failed, conflict])).await;
    let ended = ask(&stand, &buyer).await;
    let told = report(&ended).unwrap();
    assert_eq!(
        (status(&ended), &told.end),
        (Some(409), &End::PaidNotDelivered)
    );
    assert!(
        told.paid.as_ref().unwrap().transaction.is_some(),
        "the receipt"
    );
    assert_eq!((stand.paid_sends(), stand.nonces()), (2, 1));
}

/// <https://github.com/x402-foundation/x402/issues/1805>
#[tokio::test]
async fn pw029_payments_that_are_told_one_transaction_are_as_many_payments() {
    let shared = json!({"success": true, "transaction": "0xab", "network": "eip155:84532"});
    let served = Step::settled_silently(Canned::new(StatusCode::OK).receipt(&shared));
    let (stand, buyer) = sells(Route::new("/it", terms()).paid_script(vec![served; 5])).await;
    let five = tokio::join!(
        ask(&stand, &buyer),
        ask(&stand, &buyer),
        ask(&stand, &buyer),
        ask(&stand, &buyer),
        ask(&stand, &buyer),
    );
    for ended in [five.0, five.1, five.2, five.3, five.4] {
        assert_eq!(report(&ended).unwrap().end, End::Served);
    }
    assert_eq!((stand.nonces(), stand.settlements()), (5, 5));
    let used = buyer.ledger.used_today(stand.clock.now());
    assert_eq!(used.to_string(), "0.05");
}

/// <https://github.com/GetBindu/Bindu/pull/532>
#[tokio::test]
async fn pw030_a_nonce_that_a_seller_burns_by_itself_leaves_the_outcome_unknown() {
    let steps = [
        Step::refused("validation temporarily unavailable"),
        Step::refused("payment already used"),
    ];
    let burns = Route::new("/it", terms()).paid_script(steps.into_iter().chain(vec![
        Step::refused(
            "payment already used"
        );
        9
    ]));
    let (stand, buyer) = sells(burns).await;
    let ended = ask(&stand, &buyer).await;
    assert_eq!(report(&ended).unwrap().end, End::OutcomeUnknown);
    assert_eq!((stand.nonces(), buyer.signer.asked()), (1, 1));
    let used = buyer.ledger.used_today(stand.clock.now());
    assert_eq!(used.to_string(), "0.01");
}

/// <https://github.com/x402-foundation/x402/issues/858>
#[tokio::test]
async fn pw032_a_second_402_is_no_first_offer() {
    let again = Step::refused("Payment required");
    let (stand, buyer) = sells(Route::new("/it", terms()).paid_script(vec![again; 9])).await;
    let ended = ask(&stand, &buyer).await;
    assert_eq!(report(&ended).unwrap().end, End::OutcomeUnknown);
    assert_eq!((stand.nonces(), buyer.signer.asked()), (1, 1));
}
