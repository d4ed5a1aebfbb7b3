//! Reports of the area *redirect*.

use http::header::LOCATION;
use http::{HeaderValue, StatusCode};
use paywait::{End, Reason};
use paywait_seller::{Canned, Route, Step};
use support::buyer::{Buyer, Ours, report, status};
use support::shop::{Stand, terms};

/// The reports that do not apply, and why.
pub(crate) const NOT_OURS: &[(&str, &str)] = &[];

fn moved(status: StatusCode, to: &str) -> Canned {
    Canned::new(status).header(LOCATION, HeaderValue::try_from(to).unwrap())
}

/// <https://github.com/seanmonstar/reqwest/issues/920>
#[tokio::test]
async fn pw225_a_payment_never_follows_to_another_origin() {
    for code in [301, 302, 303, 307, 308] {
        let code = StatusCode::from_u16(code).unwrap();
        let there = Stand::open([Route::new("/it", terms())]).await;
        let away = Step::verified(moved(code, &there.url("/it")));
        let stand = Stand::open([Route::new("/it", terms()).paid_script(vec![away; 9])]).await;
        let buyer = Buyer::new(&stand.clock);
        let ended = buyer.client(&Ours::ORDERS[0]).get(stand.url("/it"));
        let ended = ended.send().await;
        assert_eq!(status(&ended), Some(code.as_u16()));
        assert_eq!(report(&ended).unwrap().end, End::OutcomeUnknown);
        assert_eq!((there.sends(), stand.nonces()), (0, 1), "{code}");
    }
}

/// <https://github.com/oryx-labs/oryxos/issues/231>
#[tokio::test]
async fn pw227_no_credential_of_the_caller_follows_either() {
    let there = Stand::open([Route::free("/it")]).await;
    let away = moved(StatusCode::FOUND, &there.url("/it"));
    let stand = Stand::open([Route::free("/it").handler(away)]).await;
    let buyer = Buyer::new(&stand.clock);
    let request = buyer.client(&Ours::ORDERS[0]).get(stand.url("/it"));
    let ended = request.header("x-api-key", "secret").send().await;
    assert_eq!(status(&ended), Some(302));
    assert_eq!(there.sends(), 0);
}

/// A redirect comes back as it is, also within a site: whoever asked decides.
///
/// <https://github.com/x402-foundation/x402/issues/605>
#[tokio::test]
async fn pw228_a_308_comes_back_with_its_location_and_is_no_success() {
    let away = moved(
        StatusCode::PERMANENT_REDIRECT,
        "https://www.seller.example/it",
    );
    let stand = Stand::open([Route::free("/it").handler(away)]).await;
    let buyer = Buyer::new(&stand.clock);
    let request = buyer.client(&Ours::ORDERS[0]).post(stand.url("/it"));
    let reply = request.body("body").send().await.unwrap();
    assert_eq!(reply.headers()[LOCATION], "https://www.seller.example/it");
    assert_ne!(paywait::report(&reply).end, End::Served);
    assert_eq!((stand.sends(), buyer.signer.asked()), (1, 0));
}

/// <https://github.com/x402-foundation/x402/issues/1692>
#[tokio::test]
async fn pw229_that_a_redirect_was_met_is_in_the_report() {
    let away = moved(StatusCode::PERMANENT_REDIRECT, "/elsewhere");
    let stand = Stand::open([Route::free("/it").handler(away)]).await;
    let buyer = Buyer::new(&stand.clock);
    let ended = buyer.client(&Ours::ORDERS[0]).get(stand.url("/it"));
    let ended = ended.send().await;
    let told = report(&ended).unwrap();
    assert_eq!(told.end, End::Stopped(Reason::Http(308)));
    assert_eq!(stand.sends(), 1);
}

/// <https://github.com/ducaale/xh/issues/270>
#[tokio::test]
async fn pw231_a_paid_post_is_never_made_a_get() {
    for code in [StatusCode::MOVED_PERMANENTLY, StatusCode::FOUND] {
        let away = Step::verified(moved(code, "/elsewhere"));
        let routes = [
            Route::new("/it", terms()).paid_script([away]),
            Route::new("/elsewhere", terms()),
        ];
        let stand = Stand::open(routes).await;
        let buyer = Buyer::new(&stand.clock);
        let request = buyer.client(&Ours::ORDERS[0]).post(stand.url("/it"));
        let ended = request.body("body").send().await;
        assert_eq!(status(&ended), Some(code.as_u16()));
        let ledger = stand.seller.ledger();
        let posts = |record: &paywait_seller::RequestRecord| record.method == http::Method::POST;
        assert!(ledger.requests().iter().all(posts));
        assert_eq!(ledger.requests().len(), 2);
    }
}
