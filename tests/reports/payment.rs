//! Reports of the area *payment*.

use alloy_primitives::{Address, B256, ChainId, Signature, U256, hex};
use alloy_signer::Signer;
use alloy_signer_local::PrivateKeySigner;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::{Extensions, HeaderMap, HeaderValue, StatusCode};
use paywait::{Clock, End, KnownAsset, Network, NotPaid, Pay, Reason, Wallet, usd};
use paywait_seller::{Canned, Route, Step};
use paywait_x402::{EntryError, NetworkError, Offer, OfferError, Policy, Refusal, evm, headers};
use reqwest::{Request, Response};
use reqwest_middleware::{Middleware, Next};
use serde_json::json;
use support::buyer::{Ours, bare, limits, report, status};
use support::shop::terms;

use crate::desk::{ask, decoded, entry, offer, on_the_wire, payable, sells};

/// The reports that do not apply, and why.
pub(crate) const NOT_OURS: &[(&str, &str)] = &[(
    "pw068",
    "the challenges that expire are another protocol's: an x402 offer has no end of its own",
)];

fn policy() -> Policy {
    Policy::new(usd("1").unwrap())
}

/// <https://github.com/x402-foundation/x402/issues/2991>
#[test]
fn pw033_where_no_entry_matches_none_is_chosen() {
    let other = decoded(&offer(&[
        entry("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "EPjF", "USDC"),
        entry(
            "eip155:8453",
            "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "USD Coin",
        ),
    ]));
    let Err(Refusal::NoMatch(none)) = policy().choose(&other) else {
        panic!("something is chosen");
    };
    assert_eq!(
        none.offered[0].why,
        Refusal::Unreadable(EntryError::Network(NetworkError::NotEvm))
    );
    let asked = Network::evm(8_453);
    let allowed = Network::testnets().collect();
    assert_eq!(none.offered[1].why, Refusal::Network { asked, allowed });
    assert!(none.supported.networks.contains(&Network::evm(84_532)));
    assert_eq!(Network::of_v1("base-sepolia"), "eip155:84532".parse());
}

fn v1_entry(network: &str) -> serde_json::Value {
    json!({
        "scheme": "exact", "network": network, "maxAmountRequired": "10000",
        "resource": "https://seller.example/it", "description": "", "mimeType": "",
        "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C", "maxTimeoutSeconds": 60,
        "asset": crate::desk::USDC, "extra": {"name": "USDC", "version": "2"},
    })
}

/// <https://github.com/x402-foundation/x402/pull/2730>
#[test]
fn pw034_an_unknown_network_does_not_spoil_the_entries_beside_it() {
    let entries = [v1_entry("unknown-chain"), v1_entry("base-sepolia")];
    let body = json!({"x402Version": 1, "error": "", "accepts": entries}).to_string();
    let offer = Offer::of(&HeaderMap::new(), body.as_bytes())
        .unwrap()
        .unwrap();
    assert_eq!((offer.entries().len(), offer.rejected().len()), (1, 1));
    assert_eq!(policy().choose(&offer), Ok(0));
}

/// <https://github.com/open-wallet-standard/core/pull/140>
#[tokio::test]
async fn pw036_the_header_is_that_of_the_offer_s_version() {
    let (stand, buyer) = sells(Route::new("/it", terms())).await;
    assert_eq!(status(&ask(&stand, &buyer).await), Some(200));
    assert_eq!(buyer.tap.payment_headers(), [headers::PAYMENT_SIGNATURE]);
}

/// <https://github.com/coinbase/payments-mcp/issues/22>
#[test]
fn pw037_an_offer_in_a_header_needs_no_body() {
    let field = STANDARD
        .encode(offer(&[payable()]).to_string())
        .parse()
        .unwrap();
    let fields = HeaderMap::from_iter([(headers::PAYMENT_REQUIRED, field)]);
    for body in [b"{}".as_slice(), b""] {
        let offer = Offer::of(&fields, body).unwrap().unwrap();
        assert_eq!(policy().choose(&offer), Ok(0));
    }
}

/// <https://github.com/Merit-Systems/x402scan/issues/711>
#[test]
fn pw038_an_offer_in_the_url_safe_alphabet_without_padding_is_read() {
    let mut offer = offer(&[payable()]);
    offer["resource"] = json!({"url": "https://seller.example/~~~???>>>"});
    let text = URL_SAFE_NO_PAD.encode(offer.to_string());
    assert!(text.contains(['-', '_']), "{text}");
    let read = Offer::decode(text.as_bytes()).unwrap();
    assert_eq!(read.entries().len(), 1);
    for broken in ["", "e30", "!!", "eyJ4NDAyVmVyc2lvbiI6Mn0"] {
        assert!(Offer::decode(broken.as_bytes()).is_err(), "{broken:?}");
    }
}

/// <https://github.com/bosonprotocol/x402B/pull/38>
#[tokio::test]
async fn pw040_text_that_is_not_ascii_goes_back_as_it_came_and_what_is_no_text_is_refused() {
    let mut offer = offer(&[payable()]);
    offer["resource"] = json!({"url": "https://seller.example/", "description": "café"});
    let paid = on_the_wire(&offer).await;
    assert_eq!(paid["resource"], offer["resource"]);
    let json = offer.to_string().replace("café", "caf\u{1}").into_bytes();
    let latin: Vec<u8> = json
        .into_iter()
        .map(|byte| if byte == 1 { 0xe9 } else { byte })
        .collect();
    let refused = Offer::decode(STANDARD.encode(latin).as_bytes());
    assert!(
        matches!(refused, Err(OfferError::Encoding(_))),
        "{refused:?}"
    );
}

/// <https://github.com/thirdweb-dev/js/pull/8941>
#[test]
fn pw041_a_cap_of_zero_is_a_cap() {
    let offer = decoded(&offer(&[payable()]));
    assert_eq!(offer.entries()[0].amount().to_string(), "10000");
    let refused = Policy::new(usd("0").unwrap()).check(&offer.entries()[0]);
    assert!(
        matches!(refused, Err(Refusal::Blocked { .. })),
        "{refused:?}"
    );
}

/// <https://github.com/x402-foundation/x402/pull/99>
#[tokio::test]
async fn pw042_a_payment_is_valid_from_the_start_of_time() {
    let paid = on_the_wire(&offer(&[payable()])).await;
    assert_eq!(paid["payload"]["authorization"]["validAfter"], "0");
}

/// <https://github.com/mogami-tech/x402-spring-boot-starter/issues/47>
#[tokio::test]
async fn pw043_a_window_that_is_refused_is_signed_once_more_with_the_same_nonce() {
    for reason in ["valid_after", "valid_before"] {
        let reason = format!("invalid_exact_evm_payload_authorization_{reason}");
        let refused = vec![Step::refused(reason); 2];
        let (stand, buyer) = sells(Route::new("/it", terms()).paid_script(refused)).await;
        let ended = ask(&stand, &buyer).await;
        assert_eq!(status(&ended), Some(402), "then it stops");
        assert_eq!((buyer.signer.asked(), stand.nonces()), (2, 1));
    }
}

/// <https://github.com/circlefin/stablecoin-evm/pull/657>
#[tokio::test]
async fn pw044_no_payment_is_valid_from_now_only() {
    let paid = on_the_wire(&offer(&[payable()])).await;
    let authorization = &paid["payload"]["authorization"];
    assert_eq!(authorization["validAfter"], "0");
    assert_eq!(authorization["validBefore"], "2000000000");
}

/// <https://github.com/bosonprotocol/x402B/pull/76>
#[tokio::test]
async fn pw045_a_short_window_is_paid_in_time_or_refused_with_the_reason() {
    let (stand, buyer) = sells(Route::new("/it", terms().max_timeout(30))).await;
    assert_eq!(status(&ask(&stand, &buyer).await), Some(200));
    let (stand, buyer) = sells(Route::new("/it", terms().max_timeout(14))).await;
    let ended = ask(&stand, &buyer).await;
    let refusal = Refusal::Window {
        asked: 14,
        least: 15,
    };
    let end = &report(&ended).unwrap().end;
    let End::NotPaid(NotPaid::Policy(Refusal::NoMatch(none))) = end else {
        panic!("{end:?}");
    };
    assert_eq!(none.offered[0].why, refusal);
}

/// <https://github.com/x402-foundation/x402/issues/3152>
#[test]
fn pw047_each_known_token_has_the_domain_separator_of_its_contract() {
    // USDC on Base and Base Sepolia; the others are with the table
    let separators = KnownAsset::all().iter().take(2).map(|known| {
        let domain = evm::domain(known.domain_name, known.domain_version, known.asset);
        hex::encode(domain.separator())
    });
    assert_eq!(
        separators.collect::<Vec<_>>(),
        [
            "02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f",
            "71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818",
        ]
    );
}

/// Contract wallets are not signed for; that a signature is refused is final.
///
/// <https://github.com/x402-foundation/x402/issues/623>
#[tokio::test]
async fn pw050_a_refused_signature_ends_the_call() {
    let refused = Step::refused("invalid_exact_evm_payload_signature");
    let (stand, buyer) = sells(Route::new("/it", terms()).paid_script(vec![refused; 9])).await;
    let ended = ask(&stand, &buyer).await;
    assert_eq!(
        report(&ended).unwrap().end,
        End::Stopped(Reason::PaymentFailed)
    );
    assert_eq!((stand.paid_sends(), buyer.signer.asked()), (1, 1));
}

/// <https://github.com/x402-rs/x402-rs/issues/26>
#[tokio::test]
async fn pw052_a_signature_is_65_bytes_with_a_low_s_and_a_v_of_27_or_28() {
    let half = U256::from_be_bytes(hex!(
        "7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0"
    ));
    for _ in 0..16 {
        let paid = on_the_wire(&offer(&[payable()])).await;
        let text = paid["payload"]["signature"].as_str().unwrap().to_owned();
        let bytes = hex::decode(text).unwrap();
        assert_eq!(bytes.len(), 65);
        assert!(matches!(bytes.last(), Some(27 | 28)));
        assert!(U256::from_be_slice(&bytes[32..64]) <= half);
    }
}

/// A signer that says it is somebody else.
struct Liar(PrivateKeySigner);

#[async_trait::async_trait]
impl Signer for Liar {
    async fn sign_hash(&self, hash: &B256) -> alloy_signer::Result<Signature> {
        self.0.sign_hash(hash).await
    }

    fn address(&self) -> Address {
        Address::repeat_byte(9)
    }

    fn chain_id(&self) -> Option<ChainId> {
        None
    }

    fn set_chain_id(&mut self, _chain_id: Option<ChainId>) {}
}

/// <https://github.com/coinbase/payments-mcp/issues/30>
#[tokio::test]
async fn pw053_a_key_that_does_not_own_the_account_is_found_before_anything_is_sent() {
    let (stand, _) = sells(Route::new("/it", terms())).await;
    let wallet = Wallet::evm(Liar(PrivateKeySigner::random()));
    let client = bare().with(Pay::new(wallet, limits())).build();
    let ended = client.get(stand.url("/it")).send().await;
    let end = &report(&ended).unwrap().end;
    assert!(matches!(end, End::NotPaid(NotPaid::Signer(_))), "{end:?}");
    assert_eq!(stand.paid_sends(), 0);
}

/// <https://github.com/micro/mu/pull/1496>
#[tokio::test]
async fn pw055_resource_and_extensions_are_echoed_as_they_came() {
    let mut offer = offer(&[payable()]);
    offer["accepts"][0]["odd"] = json!(1.50);
    offer["resource"] = json!({"url": "https://seller.example/", "tags": ["a"], "odd": null});
    offer["extensions"] = json!({"bazaar": {"info": {"input": {"n": 1.0}}, "schema": {}}});
    let paid = on_the_wire(&offer).await;
    assert_eq!(paid["resource"], offer["resource"]);
    assert_eq!(paid["extensions"], offer["extensions"]);
    assert_eq!(paid["accepted"], offer["accepts"][0]);
}

/// <https://github.com/x402-foundation/x402/issues/2955>
#[tokio::test]
async fn pw056_a_402_from_a_cache_after_a_payment_is_not_paid_again() {
    let stale = Canned::new(StatusCode::PAYMENT_REQUIRED)
        .header(http::header::AGE, HeaderValue::from_static("30"))
        .offer(&offer(&[payable()]));
    let (stand, buyer) = sells(Route::new("/it", terms()).paid_script([Step::reply(stale)])).await;
    ask(&stand, &buyer).await.unwrap();
    assert_eq!((stand.nonces(), buyer.signer.asked()), (1, 1));
}

/// <https://github.com/gosuda/x402-facilitator/pull/53>
#[tokio::test]
async fn pw061_that_a_failure_was_paid_for_is_read_from_the_receipt_and_not_from_the_flow() {
    let failed = Step::settled(Canned::new(StatusCode::INTERNAL_SERVER_ERROR));
    let (stand, buyer) = sells(Route::new("/it", terms()).paid_script(vec![failed; 9])).await;
    let ended = ask(&stand, &buyer).await;
    assert_eq!(report(&ended).unwrap().end, End::PaidNotDelivered);
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
}

/// A 402 with these challenges, and an x402 offer beside them or not.
fn challenged(challenges: &[&'static str], beside: bool) -> Canned {
    let refused = Canned::new(StatusCode::PAYMENT_REQUIRED);
    let refused = challenges.iter().fold(refused, |refused, challenge| {
        refused.header(WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
    });
    match beside {
        true => refused.offer(&offer(&[payable()])),
        false => refused,
    }
}

async fn asks_with(challenges: &[&'static str]) {
    let alone = Route::free("/it").handler(challenged(challenges, false));
    let (stand, buyer) = sells(alone).await;
    let ended = ask(&stand, &buyer).await;
    let end = &report(&ended).unwrap().end;
    assert_eq!(
        end,
        &End::Stopped(Reason::PaymentSchemeUnsupported),
        "{challenges:?}"
    );
    assert_eq!((status(&ended), stand.sends()), (Some(402), 1));

    let beside = Step::reply(challenged(challenges, true));
    let (stand, buyer) = sells(Route::new("/it", terms()).script([beside])).await;
    ask(&stand, &buyer).await.unwrap();
    assert_eq!(
        buyer.signer.asked(),
        1,
        "the x402 offer is paid: {challenges:?}"
    );
}

/// <https://github.com/tempoxyz/mpp-rs/pull/185>
#[tokio::test]
async fn pw062_challenges_of_another_protocol_are_told_and_an_offer_beside_them_is_paid() {
    asks_with(&[r#"Payment method="stripe, inc", Payment method="tempo""#]).await;
    asks_with(&[r#"Payment method="stripe""#, r#"Payment method="tempo""#]).await;
}

/// <https://github.com/solana-foundation/pay-kit/pull/49>
#[tokio::test]
async fn pw063_a_payment_challenge_behind_another_scheme_is_seen() {
    asks_with(&[r#"Bearer realm="api", Payment id="7""#]).await;
    asks_with(&[r#"Bearer realm="api""#, r#"Payment id="7""#]).await;
}

/// <https://github.com/wevm/mppx/pull/594>
#[tokio::test]
async fn pw065_corrective_402s_are_bounded_and_all_signatures_share_a_nonce() {
    let dearer = |cents: u64| {
        let price = U256::from(10_000 * cents);
        Step::refused("No matching payment requirements").price(price)
    };
    let route = Route::new("/it", terms()).paid_script([dearer(2), dearer(3), dearer(4)]);
    let (stand, buyer) = sells(route).await;
    ask(&stand, &buyer).await.unwrap();
    assert_eq!((buyer.signer.asked(), stand.nonces()), (2, 1));
    assert!(stand.settlements() <= 1);
    let used = buyer.ledger.used_today(stand.clock.now());
    assert_eq!(
        used.to_string(),
        "0.02",
        "the larger of the two, not their sum"
    );
}

/// <https://github.com/tempoxyz/mpp-go/pull/118>
#[tokio::test]
async fn pw066_a_window_that_was_over_gets_one_more_round() {
    let over = Step::refused("invalid_exact_evm_payload_authorization_valid_before");
    let (stand, buyer) = sells(Route::new("/it", terms()).paid_script([over])).await;
    assert_eq!(status(&ask(&stand, &buyer).await), Some(200));
    assert_eq!((buyer.signer.asked(), stand.nonces()), (2, 1));
    assert_eq!(stand.settlements(), 1);
}

/// Sees that each request has the caller's key.
struct Keyed;

#[async_trait::async_trait]
impl Middleware for Keyed {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<Response> {
        assert_eq!(request.headers()[AUTHORIZATION], "Bearer k");
        next.run(request, extensions).await
    }
}

/// <https://github.com/wevm/mppx/pull/821>
#[tokio::test]
async fn pw067_the_caller_s_own_authorization_stays_beside_the_payment() {
    let (stand, buyer) = sells(Route::new("/it", terms())).await;
    let layers = buyer.attach(bare(), Ours::Pay).with(Keyed);
    let request = layers.build().get(stand.url("/it"));
    let ended = request.header(AUTHORIZATION, "Bearer k").send().await;
    assert_eq!(status(&ended), Some(200));
    assert_eq!((stand.sends(), stand.settlements()), (2, 1));
}
