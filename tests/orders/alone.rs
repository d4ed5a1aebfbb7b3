//! Each layer alone, and what it does with five sellers.

use std::time::Duration;

use paywait::{Clock, End, FailureKind};
use paywait_seller::{Limiter, Route, Step};
use support::buyer::{Buyer, Ours, report, status};
use support::shop::{Stand, slow_down, terms, upfront};

/// What a seller does.
const SELLERS: [&str; 5] = ["/free", "/offer", "/throttled", "/refused", "/reset"];

/// What came of one call.
#[derive(Debug, Eq, PartialEq)]
struct Row {
    status: Option<u16>,
    end: Option<End>,
    sends: usize,
    paid: usize,
    nonces: usize,
    settlements: usize,
    admissions: u64,
}

async fn call(ours: Ours, path: &str) -> Row {
    let stand = Stand::open([
        Route::free("/free"),
        Route::new("/offer", terms()),
        Route::free("/throttled").script([Step::reply(slow_down())]),
        Route::new("/reset", upfront()).paid_script([Step::normal().reset()]),
    ])
    .await;
    let buyer = Buyer::new(&stand.clock);
    let url = match path {
        "/refused" => nobody_listens().await,
        _ => stand.url(path),
    };

    let ended = buyer.client(&[ours]).get(url).send().await;

    let arrived = stand.sends();
    Row {
        status: status(&ended),
        end: report(&ended).map(|report| report.end.clone()),
        sends: if path == "/refused" {
            buyer.tap.requests()
        } else {
            arrived
        },
        paid: stand.paid_sends(),
        nonces: stand.nonces(),
        settlements: stand.settlements(),
        admissions: buyer.store.admissions(),
    }
}

/// An address on which no connection comes about.
async fn nobody_listens() -> String {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    format!("http://{address}/")
}

fn row(status: Option<u16>, sends: usize, money: [usize; 3], admissions: u64) -> Row {
    let [paid, nonces, settlements] = money;
    let end = None;
    Row {
        status,
        end,
        sends,
        paid,
        nonces,
        settlements,
        admissions,
    }
}

/// Status, sends, then paid sends, nonces and settlements, then admissions.
fn expected(ours: Ours, path: &str) -> Row {
    let none = [0; 3];
    match (ours, path) {
        (Ours::Pace, "/free") => row(Some(200), 1, none, 1),
        (_, "/free") => row(Some(200), 1, none, 0),

        (Ours::Pay, "/offer") => row(Some(200), 2, [1, 1, 1], 0),
        (Ours::Retry, "/offer" | "/reset") => row(Some(402), 1, none, 0),
        (Ours::Pace, "/offer" | "/reset") => row(Some(402), 1, none, 1),

        (Ours::Retry, "/throttled") => row(Some(200), 2, none, 0),
        (Ours::Pay, "/throttled") => row(Some(429), 1, none, 0),
        (Ours::Pace, "/throttled") => row(Some(429), 1, none, 1),

        // no byte left: what was admitted is given back
        (Ours::Retry, "/refused") => row(None, 5, none, 0),
        (_, "/refused") => row(None, 1, none, 0),

        (Ours::Pay, "/reset") => row(None, 2, [1, 1, 1], 0),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn each_layer_alone_does_its_own_part() {
    println!("layer  seller      status sends paid nonces settlements admissions  end");
    for ours in [Ours::Retry, Ours::Pay, Ours::Pace] {
        for path in SELLERS {
            let mut got = call(ours, path).await;
            let end = got.end.take();
            println!(
                "{:<6} {path:<11} {:>6} {:>5} {:>4} {:>6} {:>11} {:>10}  {}",
                format!("{ours:?}"),
                got.status
                    .map_or_else(|| "none".to_owned(), |status| status.to_string()),
                got.sends,
                got.paid,
                got.nonces,
                got.settlements,
                got.admissions,
                end.map_or_else(|| "reqwest's own error".to_owned(), |end| end.to_string()),
            );
            assert_eq!(got, expected(ours, path), "{ours:?} {path}");
        }
    }
}

#[tokio::test]
async fn without_a_loop_a_refused_connection_is_reqwests_own_error() {
    for ours in [Ours::Pay, Ours::Pace] {
        let stand = Stand::open([]).await;
        let client = Buyer::new(&stand.clock).client(&[ours]);

        let error = client.get(nobody_listens().await).send().await.unwrap_err();

        assert!(error.is_connect(), "{error:?}");
        assert!(paywait::Error::find(&error).is_none());
    }
}

#[tokio::test]
async fn retry_ends_a_refused_connection_with_an_error_of_ours_that_keeps_its_cause() {
    let stand = Stand::open([]).await;
    let client = Buyer::new(&stand.clock).client(&[Ours::Retry]);

    let error = client.get(nobody_listens().await).send().await.unwrap_err();

    let ours = paywait::Error::find(&error).unwrap();
    assert_eq!((ours.end(), ours.report().attempts), (&End::Unanswered, 5));
    assert!(ours.transport().is_some_and(reqwest::Error::is_connect));
    let last = ours.report().sends.last().unwrap();
    assert_eq!(last.answer, paywait::Answer::None(FailureKind::Connect));
}

#[tokio::test]
async fn pay_alone_says_what_it_does_not_know_after_a_reset() {
    let route = Route::new("/report", upfront()).paid_script([Step::normal().reset()]);
    let stand = Stand::open([route]).await;
    let buyer = Buyer::new(&stand.clock);

    let ended = buyer
        .client(&[Ours::Pay])
        .get(stand.url("/report"))
        .send()
        .await;

    let error = ended.unwrap_err();
    let ours = paywait::Error::find(&error).unwrap();
    assert_eq!(ours.end(), &End::OutcomeUnknown);
    assert!(ours.transport().is_some());
    assert_eq!(
        buyer.ledger.used_today(stand.clock.now()).to_string(),
        "0.01"
    );
}

#[tokio::test]
async fn pace_alone_learns_from_one_reply_and_waits_before_the_next_send() {
    let limiter = Limiter::new(1, Duration::from_secs(30)).fields(true);
    let stand = Stand::open([Route::free("/free").limiter(limiter)]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&[Ours::Pace]);
    let start = stand.clock.now();

    for _ in 0..3 {
        let ended = client.get(stand.url("/free")).send().await;
        assert_eq!(status(&ended), Some(200), "{ended:?}");
    }

    assert_eq!((stand.sends(), buyer.store.admissions()), (3, 3));
    assert!(start.until(stand.clock.now()) >= Duration::from_secs(60));
}
