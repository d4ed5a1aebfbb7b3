//! The same seller over real sockets: the raw server with its faults, and wiremock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{HeaderValue, StatusCode, header};
use paywait_seller::{Canned, Flow, RawServer, Route, Seller, Shop, ShopResponder, Step};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use wiremock::{Mock, MockServer, matchers::any};

use crate::buyer::*;

const GAP: Duration = Duration::from_millis(20);

fn seller(route: Route) -> Seller {
    let shop = Shop::builder().route(route).build().unwrap();
    Seller::with_clock(shop, Arc::new(|| NOW))
}

async fn get_at(url: &str, payment: Option<&str>) -> reqwest::Result<reqwest::Response> {
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .build()?;
    let mut request = client.get(format!("{url}/report"));
    if let Some(payment) = payment {
        request = request.header("PAYMENT-SIGNATURE", payment);
    }
    request.send().await
}

async fn drive(seller: &Seller, url: &str) {
    let unpaid = get_at(url, None).await.unwrap();
    assert_eq!(unpaid.status(), 402);
    let offered = offer(unpaid.headers());
    assert_eq!(offered["resource"]["url"], format!("{url}/report"));
    let payment = Draft::new(&offered, 1).sign();
    let paid = get_at(url, Some(&payment)).await.unwrap();
    assert_eq!(paid.status(), 200);
    assert_eq!(receipt(paid.headers())["success"], true);
    assert_eq!(paid.bytes().await.unwrap(), r#"{"ok":true}"#);
    let again = get_at(url, Some(&payment)).await.unwrap();
    assert_eq!(offer(again.headers())["error"], NONCE_USED);
    let ledger = seller.ledger();
    assert_eq!(ledger.requests().len(), 3);
    assert_eq!(ledger.settlements().len(), 1);
}

#[tokio::test]
async fn the_raw_server_sells() {
    let seller = seller(route(Flow::Authorization));
    let server = RawServer::start(seller.clone()).await.unwrap();
    drive(&seller, &server.url()).await;
}

#[tokio::test]
async fn wiremock_sells() {
    let seller = seller(route(Flow::Authorization));
    let server = MockServer::start().await;
    Mock::given(any())
        .respond_with(ShopResponder::new(seller.clone()))
        .mount(&server)
        .await;
    drive(&seller, &server.uri()).await;
}

#[tokio::test]
async fn wiremock_says_that_it_cannot_reset() {
    let seller = seller(route(Flow::Upfront).script([Step::unseen().reset()]));
    let server = MockServer::start().await;
    Mock::given(any())
        .respond_with(ShopResponder::new(seller))
        .mount(&server)
        .await;
    assert_eq!(get_at(&server.uri(), None).await.unwrap().status(), 501);
}

#[tokio::test]
async fn upfront_failures_are_paid_for_over_the_wire() {
    let seller = seller(route(Flow::Upfront).handler(Canned::new(StatusCode::BAD_GATEWAY)));
    let server = RawServer::start(seller.clone()).await.unwrap();
    let unpaid = get_at(&server.url(), None).await.unwrap();
    let payment = Draft::new(&offer(unpaid.headers()), 1).sign();
    let paid = get_at(&server.url(), Some(&payment)).await.unwrap();
    assert_eq!(paid.status(), 502);
    assert_eq!(receipt(paid.headers())["success"], true);
    assert_eq!(seller.ledger().settlements().len(), 1);
}

#[tokio::test]
async fn a_reset_after_settlement_loses_the_answer_and_moves_the_money() {
    let seller = seller(route(Flow::Authorization).paid_script([Step::normal().reset()]));
    let server = RawServer::start(seller.clone()).await.unwrap();
    let unpaid = get_at(&server.url(), None).await.unwrap();
    let payment = Draft::new(&offer(unpaid.headers()), 1).sign();

    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    let request =
        format!("GET /report HTTP/1.1\r\nHost: x\r\nPAYMENT-SIGNATURE: {payment}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let error = stream.read_to_end(&mut Vec::new()).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);

    assert_eq!(seller.ledger().settlements().len(), 1);
    assert_eq!(seller.ledger().requests()[1].status, None);
}

#[tokio::test]
async fn a_stall_ends_without_an_answer_and_a_late_answer_comes() {
    let steps = [Step::unseen().stall(GAP), Step::normal().late(GAP)];
    let seller = seller(route(Flow::Authorization).script(steps));
    let server = RawServer::start(seller).await.unwrap();
    let start = Instant::now();
    assert!(get_at(&server.url(), None).await.is_err());
    assert!(start.elapsed() >= GAP);
    let start = Instant::now();
    assert_eq!(get_at(&server.url(), None).await.unwrap().status(), 402);
    assert!(start.elapsed() >= GAP);
}

#[tokio::test]
async fn half_a_body_comes_after_a_whole_head() {
    let seller = seller(Route::free("/report").script([Step::normal().half_body()]));
    let server = RawServer::start(seller).await.unwrap();
    let reply = get_at(&server.url(), None).await.unwrap();
    assert_eq!(
        (reply.status().as_u16(), reply.content_length()),
        (200, Some(11))
    );
    assert!(reply.bytes().await.is_err());
}

#[tokio::test]
async fn slow_events_come_one_by_one_and_whole() {
    let events = Canned::new(StatusCode::OK)
        .header(
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/event-stream"),
        )
        .body("data: 1\n\ndata: 2\n\n");
    let route = Route::free("/report")
        .handler(events)
        .script([Step::normal().slow_events(GAP)]);
    let server = RawServer::start(seller(route)).await.unwrap();
    let start = Instant::now();
    let mut reply = get_at(&server.url(), None).await.unwrap();
    assert_eq!(reply.chunk().await.unwrap().unwrap(), "data: 1\n\n");
    assert_eq!(reply.chunk().await.unwrap().unwrap(), "data: 2\n\n");
    assert_eq!(reply.chunk().await.unwrap(), None);
    assert!(start.elapsed() >= GAP * 2);
}

/// Writes raw bytes, and returns all that comes back until the server closes.
async fn exchange(server: &RawServer, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await.unwrap();
    reply
}

#[tokio::test]
async fn a_kept_connection_takes_bodies_of_both_framings() {
    let seller = seller(Route::free("/report"));
    let server = RawServer::start(seller.clone()).await.unwrap();
    let requests = "POST /report HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc\
        POST /report HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nA: b\r\n\r\n\
        GET /report HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let replies = exchange(&server, requests.as_bytes()).await;
    assert_eq!(
        replies.matches("HTTP/1.1 200 OK\r\n").count(),
        3,
        "{replies}"
    );
    assert_eq!(seller.ledger().requests().len(), 3);
}

#[tokio::test]
async fn what_is_too_large_or_no_http_is_refused_unseen() {
    let seller = seller(Route::free("/report"));
    let server = RawServer::start(seller.clone()).await.unwrap();
    let head = format!("GET / HTTP/1.1\r\nA: {}", "a".repeat(64 * 1024));
    for (bytes, status) in [
        ("nonsense\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n", "413"),
        (
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n100001\r\n",
            "413",
        ),
        (
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            "400",
        ),
        (&head, "431"),
    ] {
        let reply = exchange(&server, bytes.as_bytes()).await;
        assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")), "{reply}");
    }
    assert!(seller.ledger().requests().is_empty());
}

#[tokio::test]
async fn a_dropped_server_takes_its_connections_down() {
    let server = RawServer::start(seller(Route::free("/report")))
        .await
        .unwrap();
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream
        .write_all(b"GET /report HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    let mut first = [0; 8];
    stream.read_exact(&mut first).await.unwrap();
    drop(server);
    // the connection ends, by whatever means, though the client keeps it open
    stream.read_to_end(&mut Vec::new()).await.ok();
}
