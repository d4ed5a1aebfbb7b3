//! Many callers at once.

use futures_util::future::join_all;
use paywait::{Label, Labels, Limit, NotPaid, Origin, Period, Scope};
use paywait_seller::Route;
use reqwest::Response;
use reqwest_middleware::Result;

use crate::shop::{Trade, a_call, dollars, refusal, terms};

fn total(most: &str) -> Limit {
    Limit::dollars(dollars(most), Period::Total)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_fifty_calls_of_nine_tenths_of_a_total_one_is_signed() {
    let trade = Trade::of(900_000).await;
    let client = trade.client(trade.pay(a_call("1").and(total("1"))));
    let calls = (0..50).map(|_| tokio::spawn(client.get(trade.url()).send()));
    let ended: Vec<_> = join_all(calls)
        .await
        .into_iter()
        .map(|call| call.unwrap())
        .collect();
    let served = ended
        .iter()
        .filter(|ended| refusal(ended).is_none())
        .count();
    assert_eq!(served, 1);
    assert_eq!(trade.signed_and_settled(), (1, 1));
    for why in ended.iter().filter_map(refusal) {
        // what is spent in total is spent: no time brings it back
        let NotPaid::Limit {
            come_back,
            held_until,
            what,
        } = why
        else {
            panic!("{why}");
        };
        assert_eq!((come_back, held_until), (None, None), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn at_one_origin_a_quarter_is_open_at_a_time_and_all_of_it_is_spent_in_turn() {
    let trade = Trade::of(100_000).await;
    // a quarter of it is two and a half calls
    let client = trade.client(trade.pay(a_call("1").and(total("1"))));
    let calls = (0..20).map(|_| tokio::spawn(client.get(trade.url()).send()));
    let ended = join_all(calls).await;
    let served = ended
        .iter()
        .filter(|call| refusal(call.as_ref().unwrap()).is_none());
    assert_eq!((served.count(), trade.stand.settlements()), (10, 10));
    assert_eq!(trade.used(), "1");
}

/// One call, its labels and its price in millionths.
struct Bought {
    agent: usize,
    task: usize,
    price: u64,
    ended: Result<Response>,
}

/// How much was served of what `belongs` to.
fn sum(all: &[Bought], belongs: impl Fn(&Bought) -> bool) -> u64 {
    let served = all
        .iter()
        .filter(|one| belongs(one) && refusal(&one.ended).is_none());
    served.map(|one| one.price).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_calls_at_random_prices_pass_none_of_five_nested_limits() {
    let mut rng = fastrand::Rng::with_seed(2026);
    let prices: Vec<_> = (0..20).map(|_| rng.u64(1_000..50_000)).collect();
    let routes = prices.iter().enumerate();
    let routes = routes.map(|(place, price)| Route::new(format!("/{place}"), terms(*price)));
    let trade = Trade::sells(routes).await;
    let origin: Origin = trade.stand.url("/").parse().unwrap();
    let limits = a_call("0.05")
        .and(total("12"))
        .and(Limit::dollars(dollars("11.5"), Period::HOUR).on_origin(origin))
        .and(Limit::dollars(dollars("3"), Period::DAY).on_each_label("agent"))
        .and(Limit::dollars(dollars("2"), Period::CalendarMonth).on_each_label("task"))
        .and(Limit::dollars(dollars("0.5"), Period::DAY).on_label(Label::new("task", "7").unwrap()))
        .open_share(100);
    let client = trade.client(trade.pay(limits));
    let calls = (0..1_000).map(|number| {
        let place = rng.usize(..prices.len());
        let (agent, task, price) = (number % 5, number % 8, prices[place]);
        let send = client.get(trade.stand.url(&format!("/{place}"))).send();
        let labels = Labels::new("task", task.to_string()).unwrap();
        let call = Scope::new().with(labels).run(send);
        let labels = Labels::new("agent", agent.to_string()).unwrap();
        let call = Scope::new().with(labels).run(call);
        tokio::spawn(async move {
            let ended = call.await;
            Bought {
                agent,
                task,
                price,
                ended,
            }
        })
    });
    let calls: Vec<_> = calls.collect();
    let all: Vec<_> = join_all(calls)
        .await
        .into_iter()
        .map(|call| call.unwrap())
        .collect();

    let spent = sum(&all, |_| true);
    let settled: alloy_primitives::U256 = trade
        .stand
        .seller
        .ledger()
        .settlements()
        .iter()
        .map(|one| one.amount)
        .sum();
    assert_eq!(alloy_primitives::U256::from(spent), settled);
    let micros = |amount: u64| format!("{}.{:06}", amount / 1_000_000, amount % 1_000_000);
    assert_eq!(dollars(&micros(spent)).to_string(), trade.used());
    assert!(spent <= 11_500_000, "{spent}");
    for agent in 0..5 {
        let spent = sum(&all, |one| one.agent == agent);
        assert!(spent <= 3_000_000, "agent {agent}: {spent}");
    }
    for task in 0..8 {
        let most = if task == 7 { 500_000 } else { 2_000_000 };
        let spent = sum(&all, |one| one.task == task);
        assert!(spent <= most, "task {task}: {spent}");
    }
    // who was refused would have passed one: less room is left than the dearest costs
    let tightest = sum(&all, |one| one.task == 7);
    assert!(tightest > 450_000, "{tightest}");
}
