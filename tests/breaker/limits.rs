//! What counts against the day.

use paywait_seller::{Route, Terms};
use support::buyer::{Buyer, Ours, status};
use support::shop::Stand;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn however_many_buy_at_once_the_day_has_one_limit() {
    let dear = Terms::usdc(50_000, alloy_primitives::Address::repeat_byte(0x22));
    let stand = Stand::open([Route::new("/report", dear)]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&[Ours::Retry, Ours::Pay]);

    let calls: Vec<_> = (0..120)
        .map(|_| tokio::spawn(client.get(stand.url("/report")).send()))
        .collect();
    let mut served = 0_usize;
    for call in calls {
        let ended = call.await.unwrap();
        served = served.saturating_add(usize::from(status(&ended) == Some(200)));
    }

    assert_eq!((served, stand.settlements()), (100, 100));
    assert_eq!(buyer.signer.asked(), 100);
}
