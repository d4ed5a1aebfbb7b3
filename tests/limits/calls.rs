//! What one call says of itself: its own limit, and its labels.

use paywait::{By, CallLimit, Labels, Ledger as _, Limit, NotPaid, Outcome, Period, Quantity};
use paywait::{Scope, Statement, Timestamp};
use paywait_x402::Refusal;

use crate::shop::{Trade, a_call, dollars, refusal};

async fn is_paid(trade: &Trade, own: Option<CallLimit>, around: Option<CallLimit>) -> bool {
    let client = trade.client(trade.pay(a_call("0.05")));
    let mut request = client.get(trade.url());
    if let Some(own) = own {
        request = request.with_extension(own);
    }
    let scope = around.map_or_else(Scope::new, |around| Scope::new().with(around));
    let ended = scope.run(request.send()).await;
    match refusal(&ended) {
        None => true,
        Some(NotPaid::Policy(Refusal::NoMatch(_))) => false,
        Some(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_call_lowers_its_limit_and_raises_it_in_so_many_words_only() {
    let (low, high) = (dollars("0.01"), dollars("0.5"));
    for (price, own, around, paid) in [
        (40_000, None, None, true),
        (40_000, Some(CallLimit::at_most(low)), None, false),
        (40_000, None, Some(CallLimit::at_most(low)), false),
        (10_000, Some(CallLimit::at_most(low)), None, true),
        (400_000, Some(CallLimit::at_most(high)), None, false),
        (400_000, Some(CallLimit::raised_to(high)), None, true),
        (600_000, Some(CallLimit::raised_to(high)), None, false),
        (400_000, None, Some(CallLimit::raised_to(high)), true),
        // who is inside loosens nothing that is said around it
        (
            40_000,
            Some(CallLimit::at_most(high)),
            Some(CallLimit::at_most(low)),
            false,
        ),
        (
            40_000,
            Some(CallLimit::raised_to(high)),
            Some(CallLimit::at_most(low)),
            false,
        ),
        (
            400_000,
            Some(CallLimit::raised_to(high)),
            Some(CallLimit::raised_to(low)),
            true,
        ),
        // a raise to less than the layer allows lowers nothing
        (40_000, Some(CallLimit::raised_to(low)), None, true),
        (1, Some(CallLimit::at_most(dollars("0"))), None, false),
    ] {
        let trade = Trade::of(price).await;
        assert_eq!(
            is_paid(&trade, own, around).await,
            paid,
            "{price} {own:?} {around:?}"
        );
        let times = usize::from(paid);
        assert_eq!(trade.signed_and_settled(), (times, times));
    }
}

#[tokio::test]
async fn scopes_nest_the_least_of_their_limits_holds() {
    let trade = Trade::of(40_000).await;
    let client = trade.client(trade.pay(a_call("0.05")));
    let inner = Scope::new().with(CallLimit::at_most(dollars("0.05")));
    let call = inner.run(client.get(trade.url()).send());
    let outer = Scope::new().with(CallLimit::at_most(dollars("0.01")));
    assert!(refusal(&outer.run(call).await).is_some());
    assert_eq!(trade.signed_and_settled(), (0, 0));
}

#[tokio::test]
async fn a_call_counts_for_each_of_its_labels_and_is_listed_by_them() {
    let trade = Trade::of(10_000).await;
    let limits = a_call("0.05")
        .and(Limit::dollars(dollars("0.02"), Period::DAY).on_each_label("agent"))
        .and(Limit::dollars(dollars("0.03"), Period::DAY));
    let client = trade.client(trade.pay(limits.open_share(100)));
    let buy = async |agent: &str| {
        let labels = Labels::new("agent", agent)
            .unwrap()
            .and("task", "report")
            .unwrap();
        let call = client.get(trade.url()).with_extension(labels).send();
        refusal(&call.await).map(|why| why.to_string())
    };
    assert_eq!(buy("ann").await, None);
    assert_eq!(buy("ann").await, None);
    let why = buy("ann").await.unwrap();
    assert!(
        why.contains("0.02 USD per day for each agent (ann)"),
        "{why}"
    );
    assert_eq!(buy("bob").await, None);
    // the wallet's limit is around all agents
    let why = buy("bob").await.unwrap();
    assert!(why.contains("limit of 0.03 USD per day,"), "{why}");
    assert_eq!(trade.signed_and_settled(), (3, 3));

    let (start, now) = (Timestamp::from_secs(0), trade.now());
    let lines = trade
        .ledger
        .lines(start, Timestamp::MAX, now)
        .await
        .unwrap();
    let statement = Statement::new(lines, By::Label("agent".to_owned()));
    let spent = |of: &str| {
        let total = statement
            .totals()
            .iter()
            .find(|total| total.of == of)
            .unwrap();
        total.amount(Outcome::Spent)
    };
    assert_eq!(spent("ann"), Quantity::Usd(dollars("0.02")));
    assert_eq!(spent("bob"), Quantity::Usd(dollars("0.01")));
}
