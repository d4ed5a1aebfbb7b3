//! Reports of the area *budget*.

use std::sync::Arc;

use alloy_primitives::Address;
use futures_util::future::join_all;
use paywait::{
    Clock as _, KnownAsset, Ledger, Limit, Limits, MemoryLedger, NotPaid, Pay, Period,
    SqliteLedger, Wallet, usd,
};
use paywait_seller::{Route, Step, Terms};
use paywait_x402::{Policy, Refusal};
use reqwest_middleware::ClientWithMiddleware;
use support::buyer::{Buyer, Ours, bare, report};
use support::shop::{Stand, terms};

use crate::desk::{Ended, decoded, entry, offer};

/// The reports that do not apply, and why.
pub(crate) const NOT_OURS: &[(&str, &str)] = &[];

/// A seller of one thing at so many millionths of a dollar, a buyer, and what the buyer may spend.
async fn sells_at(price: u64, limits: Limits) -> (Stand, Buyer, ClientWithMiddleware) {
    let dear = Terms::usdc(price, Address::repeat_byte(0x22)).max_timeout(600);
    let stand = Stand::open([Route::new("/it", dear)]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = client(
        &stand,
        &buyer,
        limits,
        Arc::<MemoryLedger>::clone(&buyer.ledger),
    );
    (stand, buyer, client)
}

fn client(
    stand: &Stand,
    buyer: &Buyer,
    limits: Limits,
    ledger: Arc<dyn Ledger>,
) -> ClientWithMiddleware {
    let clock = Arc::<support::clock::FakeClock>::clone(&stand.clock);
    let pay = Pay::with_ledger(Wallet::evm(buyer.signer.clone()), limits, ledger);
    let looped = buyer.attach(bare(), Ours::Retry);
    looped.with(pay.with_clock(clock)).build()
}

fn a_call(most: &str) -> Limits {
    Limits::per_call(usd(most).unwrap()).no_daily_limit()
}

fn dollars(most: &str, period: Period) -> Limit {
    Limit::dollars(usd(most).unwrap(), period)
}

/// Why it was not paid, if it was not.
fn refusal(ended: &Ended) -> Option<NotPaid> {
    let end = &report(ended).unwrap().end;
    if let paywait::End::NotPaid(why) = end {
        return Some(why.clone());
    }
    assert_eq!(*end, paywait::End::Served);
    None
}

/// Buys so often at once, and returns why some of it was not paid.
async fn at_once(stand: &Stand, client: &ClientWithMiddleware, times: usize) -> Vec<NotPaid> {
    let calls = (0..times).map(|_| tokio::spawn(client.get(stand.url("/it")).send()));
    let ended = join_all(calls).await;
    ended
        .iter()
        .filter_map(|ended| refusal(ended.as_ref().unwrap()))
        .collect()
}

/// <https://github.com/thirdweb-dev/js/pull/8369>
#[test]
fn pw203_without_a_cap_there_is_no_policy_and_real_money_needs_a_word() {
    // a limit per call and a word on the day are what `Limits` is made from: there is no default
    let limits = Limits::per_call(usd("0.05").unwrap()).no_daily_limit();
    let base = Policy::new(limits.most_per_call());
    let mut dear = entry(
        "eip155:8453",
        "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        "USD Coin",
    );
    dear["amount"] = "100000000".into();
    let dear = decoded(&offer(&[dear]));
    let entry = &dear.entries()[0];
    assert!(matches!(base.check(entry), Err(Refusal::Network { .. })));
    let named = base.networks([entry.network()]);
    let (asked, allowed) = (usd("100").unwrap(), usd("0.05").unwrap());
    assert_eq!(named.check(entry), Err(Refusal::PerCall { asked, allowed }));
}

/// <https://github.com/microchipgnu/MCPay/pull/40>
#[tokio::test]
async fn pw205_limits_of_many_kinds_hold_together() {
    let limits = a_call("0.05")
        .and(dollars("0.5", Period::DAY))
        .open_share(100);
    let (stand, buyer, client) = sells_at(10_000, limits).await;
    assert_eq!(at_once(&stand, &client, 100).await.len(), 50);
    assert_eq!((buyer.signer.asked(), stand.settlements()), (50, 50));

    let limits = a_call("0.05")
        .and(dollars("0.5", Period::HOUR))
        .and(dollars("0.5", Period::CalendarDay).on_each_origin())
        .and(Limit::purchases(7, Period::HOUR).on_each_payee());
    let (stand, buyer, client) = sells_at(10_000, limits).await;
    let refused = at_once(&stand, &client, 20).await;
    let velocity = |why: &NotPaid| {
        why.to_string()
            .contains("7 purchases per hour for each payee")
    };
    assert!(
        refused.len() == 13 && refused.iter().all(velocity),
        "{refused:?}"
    );
    assert_eq!((buyer.signer.asked(), stand.settlements()), (7, 7));
}

/// <https://github.com/aibtcdev/aibtc-mcp-server/pull/567>
#[tokio::test]
async fn pw206_ten_times_the_usual_price_is_refused_and_the_setting_is_named() {
    let (stand, buyer, client) = sells_at(500_000, a_call("0.05")).await;
    let refused = at_once(&stand, &client, 1).await;
    let told = refused[0].to_string();
    for word in ["0.5 USD", "0.05 USD", "per_call"] {
        assert!(told.contains(word), "{told}");
    }
    assert_eq!((buyer.signer.asked(), stand.paid_sends()), (0, 0));
    // and in its own units where it is no dollar token
    let euro = KnownAsset::all()
        .iter()
        .find(|known| !known.dollar)
        .unwrap();
    let contract = euro.asset.contract.to_string();
    let mut asked = entry(&euro.asset.network.to_string(), &contract, euro.domain_name);
    asked["amount"] = "10000".into();
    let asked = decoded(&offer(&[asked]));
    let policy = Policy::new(usd("1").unwrap()).networks([euro.asset.network]);
    let why = policy.check(&asked.entries()[0]).unwrap_err();
    assert!(matches!(why, Refusal::NotDollars { .. }), "{why}");
    assert!(why.to_string().contains("units"), "{why}");
}

/// <https://github.com/micro/go-micro/issues/4743>
#[tokio::test]
async fn pw207_a_spent_budget_is_a_typed_end_and_no_failure_of_the_provider() {
    let limits = a_call("0.05").and(Limit::purchases(3, Period::Total));
    let (stand, buyer, client) = sells_at(10_000, limits).await;
    for call in 0..4 {
        let ended = client.get(stand.url("/it")).send().await;
        match refusal(&ended) {
            None => assert!(call < 3),
            Some(NotPaid::Limit {
                what, come_back, ..
            }) => {
                assert_eq!((call, come_back), (3, None), "{what}");
                assert_eq!(ended.unwrap().status(), 402);
            }
            Some(other) => panic!("{other}"),
        }
    }
    assert_eq!((buyer.signer.asked(), stand.paid_sends()), (3, 3));
}

/// <https://github.com/BlockRunAI/ClawRouter/issues/108>
#[tokio::test]
async fn pw208_a_runaway_loop_meets_a_velocity_limit_a_switch_and_a_ledger_that_stays() {
    let folder = std::env::temp_dir().join(format!("paywait-pw208-{}", fastrand::u64(..)));
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("ledger");
    let limits = || a_call("0.05").and(Limit::purchases(5, Period::MINUTE));
    let stand = Stand::open([Route::new("/it", terms())]).await;
    let buyer = Buyer::new(&stand.clock);
    let ledger: Arc<dyn Ledger> = Arc::new(SqliteLedger::create(&path).unwrap());
    let runaway = client(&stand, &buyer, limits(), Arc::clone(&ledger));
    assert_eq!(at_once(&stand, &runaway, 40).await.len(), 35);
    drop((runaway, ledger));

    // another process, a moment later
    let ledger: Arc<dyn Ledger> = Arc::new(SqliteLedger::open(&path).unwrap());
    let again = client(&stand, &buyer, limits(), Arc::clone(&ledger));
    assert_eq!(at_once(&stand, &again, 5).await.len(), 5);
    stand.clock.advance(std::time::Duration::from_secs(61));
    assert_eq!(ledger.halt(true).await, Ok(()));
    assert_eq!(
        at_once(&stand, &again, 2).await,
        [NotPaid::Halted, NotPaid::Halted]
    );
    assert_eq!(ledger.halt(false).await, Ok(()));
    assert_eq!(at_once(&stand, &again, 2).await, []);
    assert_eq!((buyer.signer.asked(), stand.settlements()), (7, 7));
    drop((again, ledger));
    std::fs::remove_dir_all(folder).unwrap();
}

/// <https://github.com/BerriAI/litellm/issues/34732>
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn pw209_of_ten_parallel_calls_of_30_three_fit_under_100() {
    for share in [25, 100] {
        let limits = a_call("30")
            .and(dollars("100", Period::Total))
            .open_share(share);
        let (stand, buyer, client) = sells_at(30_000_000, limits).await;
        assert_eq!(at_once(&stand, &client, 10).await.len(), 7);
        assert_eq!((buyer.signer.asked(), stand.settlements()), (3, 3));
    }
}

/// <https://github.com/BlockRunAI/Franklin/issues/128>
#[tokio::test]
async fn pw210_a_call_that_is_dropped_during_its_paid_send_keeps_its_hold() {
    let stalled = Step::normal().stall(std::time::Duration::from_secs(3_600));
    let stand = Stand::open([Route::new("/it", terms()).paid_script([stalled])]).await;
    let buyer = Buyer::new(&stand.clock);
    let limits = a_call("0.05").and(dollars("0.01", Period::DAY));
    let client = client(
        &stand,
        &buyer,
        limits,
        Arc::<MemoryLedger>::clone(&buyer.ledger),
    );
    {
        let call = client.get(stand.url("/it")).send();
        tokio::select! {
            _ = call => panic!("it stalls"),
            () = stand.arrived(2) => {}
        }
    }
    assert_eq!(
        buyer.ledger.used_today(stand.clock.now()),
        usd("0.01").unwrap()
    );
    assert_eq!(buyer.signer.asked(), 1);
}

/// <https://github.com/candelahq/candela/issues/151>
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn pw211_at_the_edge_one_of_two_is_granted() {
    for _ in 0..20 {
        let limits = a_call("0.05").and(dollars("0.01", Period::DAY));
        let (stand, buyer, client) = sells_at(10_000, limits).await;
        assert_eq!(at_once(&stand, &client, 2).await.len(), 1);
        assert_eq!((buyer.signer.asked(), stand.settlements()), (1, 1));
    }
}

/// <https://github.com/jsmestad/minga/issues/404>
#[tokio::test]
async fn pw213_the_price_that_would_pass_the_threshold_is_not_paid_and_spent_and_limit_are_told() {
    let limits = a_call("0.5").and(dollars("1", Period::Total));
    let (stand, buyer, client) = sells_at(400_000, limits).await;
    for _ in 0..2 {
        assert_eq!(at_once(&stand, &client, 1).await, []);
    }
    let refused = at_once(&stand, &client, 1).await;
    let told = refused[0].to_string();
    let words = "0.4 USD more would pass the limit of 1 USD in total, of which 0.8 USD is spent";
    assert!(told.contains(words), "{told}");
    assert_eq!(buyer.signer.asked(), 2);
}
