//! Bodies that are streams: sent once, never paid.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::Frame;
use paywait::{End, NotPaid};
use paywait_seller::{Limiter, Route, Seller, Shop, ShopResponder, Step};
use reqwest::Body;
use support::buyer::{Buyer, Ours, report, status};
use support::clock::FakeClock;
use support::shop::{Stand, slow_down, terms};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer};

/// A body that comes in two pieces and can be read once.
struct Pieces(Vec<&'static str>);

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.0.pop();
        Poll::Ready(piece.map(|piece| Ok(Frame::data(Bytes::from_static(piece.as_bytes())))))
    }
}

fn stream() -> Body {
    Body::wrap(Pieces(vec!["world", "hello "]))
}

#[tokio::test]
async fn a_stream_is_sent_once_and_its_price_is_handed_back() {
    for order in Ours::ORDERS {
        let stand = Stand::open([Route::new("/report", terms())]).await;
        let buyer = Buyer::new(&stand.clock);
        let post = buyer.client(&order).post(stand.url("/report"));

        let ended = post.body(stream()).send().await;

        assert_eq!(status(&ended), Some(402), "{order:?}: {ended:?}");
        assert_eq!(
            report(&ended).unwrap().end,
            End::NotPaid(NotPaid::Once),
            "{order:?}"
        );
        assert_eq!(
            (stand.sends(), buyer.store.admissions()),
            (1, 1),
            "{order:?}"
        );
        assert_eq!((stand.nonces(), buyer.signer.asked()), (0, 0), "{order:?}");
    }
}

#[tokio::test]
async fn a_stream_that_is_refused_is_not_sent_again() {
    for order in Ours::ORDERS {
        let route = Route::free("/report").script([Step::reply(slow_down())]);
        let stand = Stand::open([route]).await;
        let buyer = Buyer::new(&stand.clock);
        let post = buyer.client(&order).post(stand.url("/report"));

        let ended = post.body(stream()).send().await;

        assert_eq!(status(&ended), Some(429), "{order:?}: {ended:?}");
        assert_eq!(stand.sends(), 1, "{order:?}");
    }
}

#[tokio::test]
async fn a_stream_that_is_turned_back_to_wait_for_its_slot_arrives_whole() {
    let clock = FakeClock::start();
    let limiter = Limiter::new(1, Duration::from_secs(30)).fields(true);
    let shop = Shop::builder().route(Route::free("/report").limiter(limiter));
    let seller = Seller::with_clock(shop.build().unwrap(), clock.source());
    let server = MockServer::start().await;
    let responder = ShopResponder::new(seller.clone());
    Mock::given(any())
        .respond_with(responder)
        .mount(&server)
        .await;
    let buyer = Buyer::new(&clock);
    let url = format!("{}/report", server.uri());

    for (nth, order) in Ours::ORDERS.iter().enumerate() {
        let ended = buyer.client(order).post(&url).body(stream()).send().await;
        assert_eq!(status(&ended), Some(200), "{order:?}: {ended:?}");
        let waited = report(&ended).unwrap().waited;
        assert_eq!(waited.is_zero(), nth == 0, "{order:?} finds its slot taken");
    }

    let received = server.received_requests().await.unwrap();
    let bodies: Vec<&[u8]> = received
        .iter()
        .map(|request| request.body.as_slice())
        .collect();
    assert_eq!(bodies, [b"hello world"; 6]);
    assert_eq!(
        (seller.ledger().requests().len(), buyer.store.admissions()),
        (6, 6)
    );
}
