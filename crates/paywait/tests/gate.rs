//! The gate before the signer, over real sockets: a yes, balances, payees and flows. What counts is
//! the seller's ledger.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use alloy_signer_local::PrivateKeySigner;
use paywait::alloy_primitives::{Address, U256};
use paywait::{
    Amount, Approval, Approve, Asset, Balance, Balances, Domain, End, Limits, MemoryLedger,
    Namespace, NotApproved, NotPaid, Pay, PaymentFlow, Proposal, PurchaseName, Refusal, Report,
    Retry, Scope, SystemClock, Timestamp, Wallet, usd,
};
use paywait_seller::{Flow, RawServer, Route, Seller, Shop, Step, Terms, Token};
use reqwest::Response;
use reqwest_middleware::ClientWithMiddleware;

/// A seller with a socket, and what a buyer of it has.
struct Market {
    seller: Seller,
    server: RawServer,
    ledger: Arc<MemoryLedger>,
}

impl Market {
    async fn sells(route: Route) -> Self {
        let seller = Seller::new(Shop::builder().route(route).build().unwrap());
        Self {
            server: RawServer::start(seller.clone()).await.unwrap(),
            seller,
            ledger: Arc::default(),
        }
    }

    /// One thing for a cent.
    async fn of_a_cent() -> Self {
        Self::sells(Route::new("/it", cent())).await
    }

    fn url(&self) -> String {
        format!("{}/it?token=sesame", self.server.url())
    }

    fn pay(&self) -> Pay {
        self.pay_within(limits())
    }

    fn pay_within(&self, limits: Limits) -> Pay {
        let wallet = Wallet::evm(PrivateKeySigner::random());
        Pay::with_ledger(wallet, limits, Arc::<MemoryLedger>::clone(&self.ledger))
    }

    async fn buy(&self, pay: Pay) -> Response {
        client(pay).get(self.url()).send().await.unwrap()
    }

    /// How many payments were shown, and how many of them moved money.
    fn sold(&self) -> (usize, usize) {
        let ledger = self.seller.ledger();
        (ledger.paid_requests().count(), ledger.settlements().len())
    }

    fn held(&self) -> String {
        let now: Timestamp = paywait::Clock::now(&SystemClock::default());
        self.ledger.used_today(now).to_string()
    }

    /// Nothing was shown, and nothing is held.
    fn is_untouched(&self) -> bool {
        self.sold() == (0, 0) && self.held() == "0"
    }
}

fn limits() -> Limits {
    Limits::per_call(usd("0.05").unwrap()).per_day(usd("5").unwrap())
}

fn cent() -> Terms {
    Terms::usdc(10_000, payee())
}

fn payee() -> Address {
    Address::repeat_byte(0x22)
}

fn client(pay: Pay) -> ClientWithMiddleware {
    let client = paywait::client_builder().no_proxy().build().unwrap();
    reqwest_middleware::ClientBuilder::new(client)
        .with(Retry::default())
        .with(pay)
        .build()
}

fn end(reply: &Response) -> End {
    Report::of(reply.extensions()).unwrap().end.clone()
}

/// Why nothing was approved; none if the call ended otherwise.
fn denied(reply: &Response) -> Option<NotApproved> {
    if let End::NotPaid(NotPaid::NotApproved { why, .. }) = end(reply) {
        Some(why)
    } else {
        None
    }
}

/// What whoever approves does.
#[derive(Clone, Copy, Debug)]
enum Says {
    Yes,
    No,
    Fails,
    Panics,
    Nothing,
}

/// Whoever approves, and what was proposed.
#[derive(Debug)]
struct Person {
    says: Says,
    asked: Mutex<Vec<Proposal>>,
}

impl Person {
    fn says(says: Says) -> Arc<Self> {
        Arc::new(Self {
            says,
            asked: Mutex::default(),
        })
    }

    fn asked(&self) -> Vec<Proposal> {
        self.asked.lock().unwrap().clone()
    }
}

impl Approve for Person {
    fn approve<'a>(&'a self, proposal: &'a Proposal) -> Approval<'a> {
        self.asked.lock().unwrap().push(proposal.clone());
        Box::pin(async move {
            match self.says {
                Says::Yes => Ok(true),
                Says::No => Ok(false),
                Says::Fails => Err("sesame: the phone is off".into()),
                Says::Panics => panic!("the approver broke"),
                Says::Nothing => std::future::pending().await,
            }
        })
    }
}

#[tokio::test]
async fn a_yes_is_paid_and_the_person_is_told_all_of_it_but_no_secret() {
    let market = Market::of_a_cent().await;
    let person = Person::says(Says::Yes);
    let pay = market
        .pay()
        .approve_above(usd("0.009").unwrap(), Arc::<Person>::clone(&person));
    let reply = client(pay)
        .get(market.url())
        .bearer_auth("hunter2")
        .with_extension(PurchaseName::new("order-17"))
        .send()
        .await
        .unwrap();
    assert_eq!((reply.status().as_u16(), market.sold()), (200, (1, 1)));

    let asked = person.asked();
    assert_eq!(asked.len(), 1);
    let Proposal {
        quote,
        origin,
        purchase,
        ..
    } = &asked[0];
    assert_eq!(quote.token.asset.network.to_string(), "eip155:84532");
    assert_eq!(quote.token.symbol, "USDC");
    assert_eq!(quote.amount, Amount::from_u64(10_000));
    assert_eq!(quote.usd, Some(usd("0.01").unwrap()));
    assert_eq!(
        (quote.pay_to, quote.flow),
        (payee(), PaymentFlow::Authorization)
    );
    assert!(quote.valid_for >= Duration::from_secs(15));
    assert_eq!(origin, &market.server.url());
    assert_eq!(purchase.as_deref(), Some("order-17"));
    let told = format!("{:?} {}", asked[0], asked[0]);
    assert!(
        !told.contains("sesame") && !told.contains("hunter2"),
        "{told}"
    );
}

#[tokio::test]
async fn at_the_threshold_nobody_is_asked() {
    let market = Market::of_a_cent().await;
    let person = Person::says(Says::No);
    let pay = market
        .pay()
        .approve_above(usd("0.01").unwrap(), Arc::<Person>::clone(&person));
    assert_eq!(market.buy(pay).await.status().as_u16(), 200);
    assert_eq!((person.asked().len(), market.sold()), (0, (1, 1)));
}

#[tokio::test]
async fn a_no_an_error_and_silence_deny_and_nothing_is_held() {
    for (says, why) in [
        (Says::No, NotApproved::Denied),
        (Says::Fails, NotApproved::Failed),
        (Says::Nothing, NotApproved::Late),
    ] {
        let market = Market::of_a_cent().await;
        let pay = market
            .pay()
            .approve_above(usd("0.001").unwrap(), Person::says(says))
            .approval_time(Duration::from_millis(50));
        let reply = market.buy(pay).await;
        assert_eq!(reply.status().as_u16(), 402, "{says:?}");
        assert_eq!(denied(&reply), Some(why), "{says:?}");
        let words = end(&reply).to_string();
        assert!(
            words.contains("0.01 USDC") && words.contains("approve_above"),
            "{words}"
        );
        assert!(!words.contains("sesame"), "{words}");
        assert!(market.is_untouched(), "{says:?}");
    }
}

#[tokio::test]
async fn the_caller_s_deadline_ends_the_silence_too() {
    let market = Market::of_a_cent().await;
    let pay = market
        .pay()
        .approve_above(usd("0").unwrap(), Person::says(Says::Nothing));
    let call = client(pay)
        .get(market.url())
        .with_extension(paywait::Deadline::after(Duration::from_millis(500)))
        .send();
    let reply = call.await.unwrap();
    assert_eq!(denied(&reply), Some(NotApproved::Late));
    assert!(market.is_untouched());
}

#[tokio::test]
async fn whoever_panics_has_said_no() {
    let market = Market::of_a_cent().await;
    let pay = market
        .pay()
        .approve_above(usd("0").unwrap(), Person::says(Says::Panics));
    let call = client(pay).get(market.url()).send();
    assert!(tokio::spawn(call).await.unwrap_err().is_panic());
    assert!(market.is_untouched());
}

#[tokio::test]
async fn a_call_that_is_dropped_while_a_person_thinks_leaves_nothing() {
    let market = Market::of_a_cent().await;
    let person = Person::says(Says::Nothing);
    let name = || PurchaseName::new("order-17");
    let pay = market
        .pay()
        .approve_above(usd("0").unwrap(), Arc::<Person>::clone(&person));
    let call = client(pay).get(market.url()).with_extension(name()).send();
    tokio::select! {
        ended = call => panic!("it ended: {ended:?}"),
        () = async {
            while person.asked().is_empty() {
                tokio::task::yield_now().await;
            }
        } => {}
    }
    assert!(market.is_untouched());
    // the purchase is free at once for whoever asks for it next
    let next = client(market.pay()).get(market.url());
    let reply = next.with_extension(name()).send().await.unwrap();
    assert_eq!((reply.status().as_u16(), market.sold()), (200, (1, 1)));
}

/// A yes that takes a call of its own, with the same client as the call that it is for.
#[derive(Debug)]
struct Service {
    client: ClientWithMiddleware,
    url: String,
}

impl Approve for Service {
    fn approve<'a>(&'a self, _: &'a Proposal) -> Approval<'a> {
        Box::pin(async { Ok(self.client.get(&self.url).send().await?.status() == 200) })
    }
}

#[tokio::test]
async fn whoever_approves_is_out_of_the_caller_s_scope() {
    let asked = Market::of_a_cent().await;
    let market = Market::of_a_cent().await;
    let service = Service {
        client: client(asked.pay()),
        url: asked.url(),
    };
    let pay = market
        .pay()
        .approve_above(usd("0").unwrap(), Arc::new(service));
    let scope = Scope::new().with(Namespace::new("run-1"));
    let reply = scope.run(market.buy(pay)).await;
    assert_eq!((reply.status().as_u16(), market.sold()), (200, (1, 1)));
    // the service's own purchase has no name
    let open = asked.seller.ledger().paid_requests().count();
    assert_eq!(open, 1);
}

#[tokio::test]
async fn a_price_that_rises_is_asked_about_again_and_only_within_the_limit_of_the_call() {
    for (price, sold, asked) in [(40_000, (2, 1), 2), (60_000, (1, 0), 1), (9_000, (2, 1), 1)] {
        let reason = "No matching payment requirements";
        let other = Step::refused(reason).price(U256::from(price));
        let market = Market::sells(Route::new("/it", cent()).paid_script([other])).await;
        let person = Person::says(Says::Yes);
        let pay = market
            .pay()
            .approve_above(usd("0").unwrap(), Arc::<Person>::clone(&person));
        let reply = market.buy(pay).await;
        assert_eq!(market.sold(), sold, "{price}: {:?}", end(&reply));
        assert_eq!(person.asked().len(), asked, "{price}");
        if sold.1 == 1 {
            assert_eq!(market.seller.ledger().total_moved(), U256::from(price));
        }
    }
}

#[tokio::test]
async fn a_yes_to_the_first_price_is_none_to_a_higher_one() {
    let reason = "No matching payment requirements";
    let dearer = Step::refused(reason).price(U256::from(40_000));
    let market = Market::sells(Route::new("/it", cent()).paid_script([dearer])).await;
    let pay = market
        .pay()
        .approve_above(usd("0").unwrap(), Arc::new(Once::default()));
    let reply = market.buy(pay).await;
    assert_eq!(denied(&reply), Some(NotApproved::Denied));
    assert_eq!(market.sold(), (1, 0), "the first was shown, and refused");
    assert_eq!(market.held(), "0.01", "and can be cashed until it expires");
}

/// Says yes once.
#[derive(Debug, Default)]
struct Once(AtomicUsize);

impl Approve for Once {
    fn approve<'a>(&'a self, _: &'a Proposal) -> Approval<'a> {
        let before = self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move { Ok(before == 0) })
    }
}

/// What a source of balances does.
#[derive(Clone, Copy, Debug)]
enum Has {
    Units(u64),
    NoIdea,
    Fails,
    Nothing,
}

/// Tells of USDC on Avalanche Fuji, and on Base Sepolia.
#[derive(Debug)]
struct Purse {
    fuji: Has,
    base: Has,
}

impl Balances for Purse {
    fn balance(&self, _payer: Address, asset: Asset) -> Balance<'_> {
        let is_fuji = asset.network.chain_id() == 43_113;
        let has = if is_fuji { self.fuji } else { self.base };
        Box::pin(async move {
            match has {
                Has::Units(units) => Ok(Some(Amount::from_u64(units))),
                Has::NoIdea => Ok(None),
                Has::Fails => Err("no node".into()),
                Has::Nothing => std::future::pending().await,
            }
        })
    }
}

fn on_fuji(amount: u64) -> Terms {
    let contract = "0x5425890298aed601595a70AB815c96711a31Bc65";
    let token = Token::new(43_113, contract.parse().unwrap(), "USD Coin", "2");
    Terms::new(token, U256::from(amount), payee())
}

/// Two cents on Fuji, or one on Base Sepolia.
fn two_rails() -> Route {
    Route::new("/it", on_fuji(20_000)).or(cent())
}

#[tokio::test]
async fn a_rail_that_cannot_be_funded_is_skipped_and_one_that_is_not_known_is_not() {
    for (fuji, base, moved) in [
        (Has::Units(20_000), Has::Units(10_000), 10_000),
        (Has::Units(20_000), Has::Units(9_999), 20_000),
        (Has::Nothing, Has::Units(0), 20_000),
        (Has::Fails, Has::Units(0), 20_000),
        (Has::Units(0), Has::NoIdea, 10_000),
        (Has::Units(0), Has::Fails, 10_000),
        (Has::Units(0), Has::Nothing, 10_000),
        (Has::Nothing, Has::Nothing, 10_000),
    ] {
        let market = Market::sells(two_rails()).await;
        let source = Arc::new(Purse { fuji, base });
        let pay = market
            .pay()
            .balances(source)
            .balance_time(Duration::from_millis(50));
        let reply = market.buy(pay).await;
        assert_eq!(reply.status().as_u16(), 200, "{fuji:?} {base:?}");
        assert_eq!(market.sold(), (1, 1), "{fuji:?} {base:?}");
        let settled = market.seller.ledger().settlements()[0].amount;
        assert_eq!(settled, U256::from(moved), "{fuji:?} {base:?}");
    }
}

#[tokio::test]
async fn where_no_rail_can_be_funded_nothing_is_signed_and_each_says_why() {
    let market = Market::sells(two_rails()).await;
    let source = Arc::new(Purse {
        fuji: Has::Units(19_999),
        base: Has::Units(0),
    });
    let reply = market.buy(market.pay().balances(source)).await;
    let none = refused(&reply);
    let unfunded = |why: &Refusal| matches!(why, Refusal::Unfunded { .. });
    assert!(none.iter().all(unfunded) && none.len() == 2, "{none:?}");
    assert!(market.is_untouched());
}

/// Why each entry was refused.
fn refused(reply: &Response) -> Vec<Refusal> {
    let end = end(reply);
    let End::NotPaid(NotPaid::Policy(Refusal::NoMatch(none))) = end else {
        panic!("{end:?}");
    };
    none.offered
        .into_iter()
        .map(|declined| declined.why)
        .collect()
}

#[tokio::test]
async fn a_payee_that_is_denied_or_not_listed_gets_nothing() {
    for (denies, setting) in [(true, "deny_payees"), (false, "payees")] {
        let market = Market::of_a_cent().await;
        let pay = match denies {
            true => market.pay().deny_payees([payee()]),
            false => market.pay().payees([Address::repeat_byte(0x33)]),
        };
        let reply = market.buy(pay).await;
        assert_eq!(reply.status().as_u16(), 402);
        assert_eq!(refused(&reply)[0].setting(), Some(setting));
        assert!(market.is_untouched());
    }
    let market = Market::of_a_cent().await;
    let pay = market.pay().payees([payee()]);
    assert_eq!(market.buy(pay).await.status().as_u16(), 200);
}

#[tokio::test]
async fn a_flow_that_is_forbidden_is_not_paid_and_the_other_is() {
    let sells = |flow| Market::sells(Route::new("/it", cent().flow(flow)));
    let market = sells(Flow::Upfront).await;
    let reply = market.buy(market.pay().upfront(false)).await;
    assert_eq!(refused(&reply)[0].setting(), Some("upfront"));
    assert!(market.is_untouched());
    let reply = market.buy(market.pay().escrow(false)).await;
    assert_eq!((reply.status().as_u16(), market.sold()), (200, (1, 1)));

    let upfront = Terms::usdc(9_000, payee()).flow(Flow::Upfront);
    let market = Market::sells(Route::new("/it", upfront).or(cent())).await;
    assert_eq!(market.buy(market.pay()).await.status().as_u16(), 200);
    let moved = market.seller.ledger().total_moved();
    assert_eq!(
        moved,
        U256::from(10_000),
        "who is paid after serving comes first"
    );
}

#[tokio::test]
async fn a_token_that_is_no_dollar_token_is_paid_within_its_own_limit() {
    let contract = Address::repeat_byte(0x44);
    let token = Token::new(84_532, contract, "EURC", "2");
    let terms = Terms::new(token, U256::from(10_000), payee());
    let market = Market::sells(Route::new("/it", terms)).await;
    let asset = Asset::new("eip155:84532".parse().unwrap(), contract);
    let domain = Domain::new("EURC", "2");
    let eurc = || paywait::Token::new(asset, "EURC", 6, domain.clone());
    let reply = market.buy(market.pay()).await;
    assert_eq!(refused(&reply)[0].setting(), Some("token"));
    let within = |most: u64, day: u64| {
        let [most, day] = [most, day].map(Amount::from_u64);
        market
            .pay_within(limits().and_units(asset, most, day))
            .token(eurc())
    };
    assert_eq!(
        refused(&market.buy(market.pay().token(eurc())).await)[0].setting(),
        Some("units"),
        "nothing was said of how much"
    );
    let pay = within(9_999, 50_000);
    assert_eq!(refused(&market.buy(pay).await)[0].setting(), Some("units"));
    assert!(market.is_untouched());

    let person = Person::says(Says::Yes);
    let pay =
        within(10_000, 15_000).approve_above(usd("1").unwrap(), Arc::<Person>::clone(&person));
    let reply = market.buy(pay.clone()).await;
    assert_eq!((reply.status().as_u16(), market.sold()), (200, (1, 1)));
    assert_eq!(
        person.asked()[0].quote.usd,
        None,
        "it is always asked about"
    );
    assert_eq!(market.held(), "0", "no rate is guessed");
    // the day has a limit in the token's own units
    let reply = market.buy(pay).await;
    let report = Report::of(reply.extensions()).unwrap();
    let End::NotPaid(NotPaid::Limit { what, .. }) = &report.end else {
        panic!("{}", report.end);
    };
    assert!(what.contains("15000 atomic units"), "{what}");
    assert_eq!(market.sold(), (1, 1));
}
