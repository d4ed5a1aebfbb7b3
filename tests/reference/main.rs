//! Against the reference seller from npm, so that the mock is not the only judge.

mod again;
mod book;
mod buyer;
mod flows;

use support::reference::ReferenceSeller;

#[tokio::test]
async fn an_unpaid_request_is_offered_a_price_and_moves_no_money() {
    let seller = match ReferenceSeller::start().await {
        Ok(seller) => seller,
        Err(left_out) => return left_out.report("an unpaid request is offered a price"),
    };
    let client = reqwest::Client::builder().no_proxy().build().unwrap();

    let reply = client
        .get(seller.url("/authorization/200"))
        .send()
        .await
        .unwrap();

    assert_eq!(reply.status(), 402);
    assert!(reply.headers().contains_key("payment-required"));
    let ledger = seller.ledger().await;
    assert_eq!(ledger.settlements, []);
    assert_eq!(ledger.runs("/authorization/200"), 0);
    let [request] = ledger.requests.as_slice() else {
        panic!("one request, not {:?}", ledger.requests);
    };
    assert_eq!((request.paid, request.status), (false, Some(402)));
    assert_eq!((&request.nonce, &request.payment_id), (&None, &None));
}

#[tokio::test]
async fn a_reset_forgets_the_requests() {
    let seller = match ReferenceSeller::start().await {
        Ok(seller) => seller,
        Err(left_out) => return left_out.report("a reset forgets the requests"),
    };
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    client.get(seller.url("/upfront/429")).send().await.unwrap();
    assert_eq!(seller.ledger().await.requests.len(), 1);

    seller.reset().await;

    assert_eq!(seller.ledger().await.requests, []);
}
