//! Reports of the areas *budget* and *security* that are about what may be signed at all.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use alloy_primitives::{Address, B256, U256};
use http::header::LOCATION;
use http::{HeaderValue, StatusCode};
use paywait::{
    Amount, Approval, Approve, Asset, Balance, Balances, Clock, End, KnownAsset, Network, NotPaid,
    Pay, Proposal, Wallet, usd,
};
use paywait_seller::{Canned, Route, Step, Terms as Priced, Token};
use paywait_x402::{PaymentId, Policy, Refusal, Terms, TermsError};
use reqwest_middleware::ClientWithMiddleware;
use serde_json::{Value, json};
use support::buyer::{Buyer, Ours, bare, limits, report, status};
use support::clock::FakeClock;
use support::shop::{Stand, terms};

use crate::desk::{decoded, entry, offer, payable};

/// The reports that do not apply, and why.
pub(crate) const NOT_OURS: &[(&str, &str)] = &[];

fn policy() -> Policy {
    Policy::new(usd("0.05").unwrap())
}

/// Why one entry is refused.
fn refusal(policy: &Policy, entry: Value) -> Refusal {
    let offer = decoded(&offer(&[entry]));
    policy.check(&offer.entries()[0]).unwrap_err()
}

/// A payable entry with other fields.
fn with(fields: &[(&str, Value)]) -> Value {
    let mut entry = payable();
    for (name, value) in fields {
        entry[*name] = value.clone();
    }
    entry
}

/// A client that does nothing but pay.
fn payer(pay: Pay, clock: &Arc<FakeClock>) -> ClientWithMiddleware {
    let clock: Arc<dyn Clock> = Arc::<FakeClock>::clone(clock);
    bare().with(pay.with_clock(clock)).build()
}

fn pay(buyer: &Buyer) -> Pay {
    Pay::new(Wallet::evm(buyer.signer.clone()), limits())
}

/// There is no `Pay` without a limit a call: `Limits` cannot be made without one. Zero is one too.
///
/// <https://github.com/thirdweb-dev/js/pull/8369>
#[test]
fn pw203_there_is_no_policy_without_a_cap() {
    let dear = with(&[("amount", json!("100000000"))]);
    let refused = refusal(&policy(), dear);
    assert_eq!(refused.setting(), Some("per_call"));
    let blocked = refusal(&Policy::new(usd("0").unwrap()), payable());
    assert!(matches!(blocked, Refusal::Blocked { .. }), "{blocked}");
}

/// Of what is asked for there, payees are the gate's; limits of time and origin are the ledger's.
///
/// <https://github.com/microchipgnu/MCPay/pull/40>
#[test]
fn pw205_payees_are_allowed_and_denied_beside_the_cap_of_a_call() {
    let payee = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"
        .parse()
        .unwrap();
    let denied = refusal(&policy().deny_payees([payee]), payable());
    assert_eq!(denied.setting(), Some("deny_payees"));
    let other = policy().payees([Address::repeat_byte(1)]);
    assert_eq!(refusal(&other, payable()).setting(), Some("payees"));
    let listed = policy().payees([payee]);
    assert_eq!(listed.choose(&decoded(&offer(&[payable()]))), Ok(0));
}

/// <https://github.com/aibtcdev/aibtc-mcp-server/pull/567>
#[test]
fn pw206_each_unit_has_its_cap_and_the_message_names_the_setting() {
    let dear = refusal(&policy(), with(&[("amount", json!("100000"))]));
    let words = "price: asked 0.1 USD, allowed up to 0.05 USD a call (setting: per_call)";
    assert_eq!(dear.to_string(), words);

    let known = KnownAsset::all().iter();
    let eurc = known.clone().find(|known| !known.dollar).unwrap();
    let asset = eurc.asset;
    let mut priced = entry(
        &asset.network.to_string(),
        &asset.contract.to_string(),
        eurc.domain_name,
    );
    priced["amount"] = json!("100000");
    let policy = policy().networks([asset.network]);
    assert_eq!(refusal(&policy, priced.clone()).setting(), Some("units"));
    let capped = policy.units(asset, Amount::from_u64(10_000));
    let words = "price in units: asked 0.1 EURC, allowed up to 0.01 EURC a call (setting: units)";
    assert_eq!(refusal(&capped, priced).to_string(), words);
}

/// <https://github.com/paygraph-ai/paygraph/pull/36>
#[tokio::test]
async fn pw215_the_first_entry_is_not_paid_because_it_is_first() {
    let fuji = "0x5425890298aed601595a70AB815c96711a31Bc65"
        .parse()
        .unwrap();
    let fuji = Token::new(43_113, fuji, "USD Coin", "2");
    let on_fuji = |amount| Priced::new(fuji.clone(), U256::from(amount), Address::repeat_byte(2));
    for (first, prefers, moved) in [
        (50_001, 84_532, 10_000),
        (20_000, 43_113, 10_000),
        (10_000, 43_113, 10_000),
    ] {
        let stand = Stand::open([Route::new("/it", on_fuji(first)).or(terms())]).await;
        let buyer = Buyer::new(&stand.clock);
        let pay = pay(&buyer).prefer_networks([Network::evm(prefers)]);
        let call = payer(pay, &stand.clock).get(stand.url("/it"));
        assert_eq!(status(&call.send().await), Some(200));
        let ledger = stand.seller.ledger();
        assert_eq!(ledger.total_moved(), U256::from(moved));
        let on_fuji = ledger.total_moved_of(&fuji) > U256::ZERO;
        assert_eq!(on_fuji, first == 10_000, "equal prices go by preference");
    }
}

/// Whoever sits between can put his own offer into a plain reply. Pinning of payees is the ledger's.
///
/// <https://github.com/x402-foundation/x402/issues/3461>
#[tokio::test]
async fn pw216_an_offer_over_plain_http_is_not_paid() {
    not_paid_over_http("seller.example").await;
}

/// What an address resolves to is the client's to guard: reqwest takes a resolver of the user's own.
///
/// <https://github.com/openclaw/openclaw/issues/12526>
#[tokio::test]
async fn pw217_nothing_is_paid_over_http_to_an_internal_address_nor_where_a_redirect_points() {
    not_paid_over_http("metadata.internal").await;
    let away = Canned::new(StatusCode::FOUND);
    let to = HeaderValue::from_static("http://169.254.169.254/");
    let route = Route::free("/it").handler(away.header(LOCATION, to));
    let stand = Stand::open([route]).await;
    let buyer = Buyer::new(&stand.clock);
    let ended = payer(pay(&buyer), &stand.clock).get(stand.url("/it"));
    assert_eq!(status(&ended.send().await), Some(302));
    assert_eq!(buyer.signer.asked(), 0);
}

/// Asks `host`, which is a name of this machine, over plain http.
async fn not_paid_over_http(host: &str) {
    let stand = Stand::open([Route::new("/it", terms())]).await;
    let buyer = Buyer::new(&stand.clock);
    let url: reqwest::Url = stand.url("/it").parse().unwrap();
    let port = url.port().unwrap();
    let client = paywait::client_builder()
        .no_proxy()
        .resolve(host, SocketAddr::from(([127, 0, 0, 1], port)))
        .build();
    let clock: Arc<dyn Clock> = Arc::<FakeClock>::clone(&stand.clock);
    let client = reqwest_middleware::ClientBuilder::new(client.unwrap())
        .with(pay(&buyer).with_clock(clock))
        .build();
    let ended = client.get(format!("http://{host}:{port}/it")).send().await;
    let end = &report(&ended).unwrap().end;
    assert_eq!(end, &End::NotPaid(NotPaid::Insecure));
    assert_eq!(status(&ended), Some(402));
    assert_eq!((buyer.signer.asked(), stand.paid_sends()), (0, 0));
}

/// <https://github.com/ProjectOpenSea/tool-sdk/pull/11>
#[test]
fn pw218_payee_token_amount_and_time_are_checked_before_the_signer() {
    let nobody = json!("0x0000000000000000000000000000000000000000");
    let burnt = refusal(&policy(), with(&[("payTo", nobody)]));
    assert!(matches!(burnt, Refusal::NobodysPayee { .. }), "{burnt}");
    let strange = json!("0x4444444444444444444444444444444444444444");
    let strange = refusal(&policy(), with(&[("asset", strange)]));
    assert!(matches!(strange, Refusal::UnknownAsset { .. }), "{strange}");
    let dear = refusal(&policy(), with(&[("amount", json!("50001"))]));
    assert!(matches!(dear, Refusal::PerCall { .. }), "{dear}");
    let long = policy().longest_timeout(std::time::Duration::from_secs(600));
    let long = refusal(&long, with(&[("maxTimeoutSeconds", json!(601))]));
    assert!(matches!(long, Refusal::LongWindow { .. }), "{long}");
}

/// Says yes, and counts.
#[derive(Debug, Default)]
struct Counts(AtomicUsize);

impl Approve for Counts {
    fn approve<'a>(&'a self, _: &'a Proposal) -> Approval<'a> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok(true) })
    }
}

/// <https://github.com/coinbase/agentkit/pull/1404>
#[tokio::test]
async fn pw219_a_yes_is_for_what_was_asked_about_and_anything_else_is_asked_about_again() {
    let dearer = Step::refused("No matching payment requirements").price(U256::from(20_000));
    let stand = Stand::open([Route::new("/it", terms()).paid_script([dearer])]).await;
    let (buyer, person) = (Buyer::new(&stand.clock), Arc::new(Counts::default()));
    let approver = Arc::<Counts>::clone(&person);
    let pay = pay(&buyer).approve_above(usd("0").unwrap(), approver);
    let ended = payer(pay, &stand.clock).get(stand.url("/it")).send().await;
    assert_eq!(status(&ended), Some(200));
    assert_eq!(person.0.load(Ordering::SeqCst), 2);
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
}

/// <https://github.com/sepivip/SeekerClaw/pull/367>
#[test]
fn pw221_an_offer_that_would_make_the_payment_too_large_is_not_signed() {
    let mut entry = payable();
    entry["extra"]["blob"] = json!("x".repeat(30 * 1024));
    let offer = decoded(&offer(&[entry]));
    let (nonce, id) = (B256::repeat_byte(7), PaymentId::random());
    let terms = Terms::new(&offer, 0, Address::ZERO, nonce, id, 2_000_000_000);
    assert!(matches!(terms, Err(TermsError::Payload(_))), "{terms:?}");
}

/// No redirect is followed at all, so there is no list of what may go along.
///
/// <https://github.com/oomol-lab/open-connector/pull/461>
#[tokio::test]
async fn pw224_neither_a_header_nor_a_body_goes_to_another_origin() {
    for code in [
        StatusCode::TEMPORARY_REDIRECT,
        StatusCode::PERMANENT_REDIRECT,
    ] {
        let there = Stand::open([Route::free("/it")]).await;
        let to = HeaderValue::try_from(there.url("/it")).unwrap();
        let away = Step::verified(Canned::new(code).header(LOCATION, to));
        let stand = Stand::open([Route::new("/it", terms()).paid_script(vec![away; 9])]).await;
        let buyer = Buyer::new(&stand.clock);
        let client = buyer.client(&Ours::ORDERS[0]);
        let call = client.post(stand.url("/it")).header("x-custom-key", "k");
        let ended = call.body("prompt").send().await;
        assert_eq!(status(&ended), Some(code.as_u16()));
        assert_eq!(report(&ended).unwrap().end, End::OutcomeUnknown);
        assert_eq!((there.sends(), stand.nonces()), (0, 1));
    }
}

/// Has nothing on one network.
#[derive(Debug)]
struct Empty(Network);

impl Balances for Empty {
    fn balance(&self, _payer: Address, asset: Asset) -> Balance<'_> {
        let there = (asset.network == self.0).then_some(Amount::ZERO);
        Box::pin(async move { Ok(there) })
    }
}

/// <https://github.com/solana-foundation/pay-kit/pull/184>
#[tokio::test]
async fn pw069_of_what_the_wallet_can_fund_the_cheapest_is_paid() {
    let fuji = "0x5425890298aed601595a70AB815c96711a31Bc65"
        .parse()
        .unwrap();
    let fuji = Token::new(43_113, fuji, "USD Coin", "2");
    let on_fuji = Priced::new(fuji.clone(), U256::from(20_000), Address::repeat_byte(2));
    let stand = Stand::open([Route::new("/it", terms()).or(on_fuji)]).await;
    let buyer = Buyer::new(&stand.clock);
    let pay = pay(&buyer).balances(Arc::new(Empty(Network::evm(84_532))));
    let ended = payer(pay, &stand.clock).get(stand.url("/it")).send().await;
    assert_eq!(status(&ended), Some(200));
    let moved = stand.seller.ledger().total_moved_of(&fuji);
    assert_eq!(moved, U256::from(20_000));
}
