//! Sellers of version 1: their offers are read, their payments written, their refusals understood.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use alloy_primitives::B256;
use alloy_signer_local::PrivateKeySigner;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use paywait_signals::{FailureClass, ReceiptStanding, Reply, Standing, Timestamp};
use paywait_x402::{
    Amount, Derivation, Entry, EntryError, Money, Network, NetworkError, Offer, OfferError,
    OfferSource, PaymentId, Policy, Purchase, PurchaseKey, Receipt, Refusal, SignedPayment, Terms,
    Version, Wallet, headers, usd,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// An offer as the reference server of version 1 writes it.
const OFFER: &str = r#"{"x402Version":1,"error":"X-PAYMENT header is required","accepts":[{"scheme":"exact","network":"base-sepolia","maxAmountRequired":"10000","resource":"https://api.example.com/premium-data","description":"Access to premium market data","mimeType":"application/json","outputSchema":{"input":{"type":"http","method":"GET","discoverable":true}},"payTo":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C","maxTimeoutSeconds":60,"asset":"0x036CbD53842c5426634e7929541eC2318f3dCF7e","extra":{"name":"USDC","version":"2"}}]}"#;

/// The moment from which the payment of the vectors is valid for a minute.
const START: u64 = 1_740_672_094;

fn vectors() -> Value {
    serde_json::from_str(include_str!("vectors/x402-evm.json")).unwrap()
}

fn wallet() -> Wallet {
    let key: PrivateKeySigner = vectors()["privateKey"].as_str().unwrap().parse().unwrap();
    Wallet::evm(key)
}

/// `OFFER` with another value at `pointer`.
fn changed(pointer: &str, value: &Value) -> String {
    let mut offer: Value = serde_json::from_str(OFFER).unwrap();
    *offer.pointer_mut(pointer).unwrap() = value.clone();
    offer.to_string()
}

fn in_body(body: &str) -> Result<Option<Offer>, OfferError> {
    Offer::of(&HeaderMap::new(), body.as_bytes())
}

fn offer() -> Offer {
    in_body(OFFER).unwrap().unwrap()
}

fn required(object: &Value) -> HeaderMap {
    field(headers::PAYMENT_REQUIRED, object)
}

fn field(name: HeaderName, object: &Value) -> HeaderMap {
    let value = HeaderValue::try_from(STANDARD.encode(object.to_string())).unwrap();
    HeaderMap::from_iter([(name, value)])
}

fn v2(amount: &str) -> Value {
    json!({"x402Version": 2, "accepts": [{
        "scheme": "exact", "network": "eip155:84532", "amount": amount,
        "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C", "maxTimeoutSeconds": 60,
        "extra": {"name": "USDC", "version": "2"},
    }]})
}

fn only(offer: &Offer) -> &Entry {
    let [entry] = offer.entries() else {
        panic!("one entry, not {offer:?}")
    };
    entry
}

#[test]
fn an_offer_in_the_body_is_read_by_the_names_of_version_1() {
    let offer = offer();
    assert_eq!(
        (offer.version(), offer.source(), offer.error()),
        (
            Version::V1,
            OfferSource::Body,
            Some("X-PAYMENT header is required")
        )
    );
    let entry = only(&offer);
    assert_eq!(entry.version(), Version::V1);
    assert_eq!(entry.amount(), Amount::from_u64(10_000));
    assert_eq!(entry.network(), Network::evm(84_532));
    assert_eq!(
        entry.pay_to().to_string(),
        "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"
    );
    assert_eq!(entry.max_timeout_seconds(), 60);
    assert_eq!(Policy::new(usd("0.05").unwrap()).choose(&offer), Ok(0));
}

#[test]
fn the_version_decides_what_the_price_is_called() {
    let both = |version: u64, network: &str| {
        json!({"x402Version": version, "accepts": [{
            "scheme": "exact", "network": network, "amount": "1", "maxAmountRequired": "2",
            "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
            "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C", "maxTimeoutSeconds": 60,
            "extra": {"name": "USDC", "version": "2"},
        }]})
    };
    for (version, network, amount) in [(1, "base-sepolia", 2), (2, "eip155:84532", 1)] {
        let text = both(version, network).to_string();
        let offer = in_body(&text).unwrap().unwrap();
        assert_eq!(only(&offer).amount(), Amount::from_u64(amount));
    }
    // and how networks are called: a name of version 1 is none in version 2
    let mixed = in_body(&both(2, "base-sepolia").to_string())
        .unwrap()
        .unwrap();
    assert_eq!(
        mixed.rejected(),
        [(0, EntryError::Network(NetworkError::NotCaip2))]
    );
}

#[test]
fn a_header_wins_over_a_body_whatever_version_each_speaks() {
    for header in [v2("77"), serde_json::from_str(OFFER).unwrap()] {
        let version = header["x402Version"].clone();
        for body in [
            changed("/accepts/0/maxAmountRequired", &json!("1")),
            v2("1").to_string(),
        ] {
            let offer = Offer::of(&required(&header), body.as_bytes());
            let offer = offer.unwrap().unwrap();
            assert_eq!(json!(offer.version().number()), version);
            assert_eq!(offer.source(), OfferSource::Header);
            assert_ne!(only(&offer).amount(), Amount::from_u64(1));
        }
    }
    // an offer without a way to pay is an offer
    let empty = Offer::of(
        &required(&json!({"x402Version": 2, "accepts": []})),
        OFFER.as_bytes(),
    );
    assert!(empty.unwrap().unwrap().is_empty());
}

#[test]
fn a_seller_that_forgets_the_header_is_read_by_its_body() {
    let offer = in_body(&v2("77").to_string()).unwrap().unwrap();
    assert_eq!(
        (offer.version(), offer.source()),
        (Version::V2, OfferSource::Body)
    );
    assert_eq!(only(&offer).amount(), Amount::from_u64(77));
}

#[test]
fn a_header_that_cannot_be_read_gives_way_to_a_body_that_can() {
    let garbage = HeaderMap::from_iter([(
        headers::PAYMENT_REQUIRED,
        HeaderValue::from_static("!!not base64!!"),
    )]);
    let newer = required(&json!({"x402Version": 3, "accepts": []}));
    for (header, error) in [
        (
            garbage,
            OfferError::Encoding(paywait_x402::EncodingError::NotBase64),
        ),
        (newer, OfferError::Version(3)),
    ] {
        let offer = Offer::of(&header, OFFER.as_bytes()).unwrap().unwrap();
        assert_eq!(offer.source(), OfferSource::BodyDespiteHeader);
        assert_eq!(offer.version(), Version::V1);
        // where neither can be read, the header says why
        for body in ["", "{}", &OFFER[..300], "<html>"] {
            let read = Offer::of(&header, body.as_bytes());
            assert_eq!(read.unwrap_err(), error, "{body}");
        }
    }
}

#[test]
fn a_402_of_somebody_else_has_no_offer() {
    for body in [
        "",
        " ",
        "<html>402</html>",
        "null",
        "[1]",
        "{}",
        r#"{"error":"insufficient credits"}"#,
        r#"{"error":{"type":"billing","code":"insufficient_quota"}}"#,
        r#"{"type":"https://paymentauth.org/problems/payment-required"}"#,
        r#"{"error":"half a refus"#,
    ] {
        assert!(in_body(body).unwrap().is_none(), "{body}");
    }
}

#[test]
fn an_offer_that_is_cut_off_is_unreadable_wherever_it_is_cut() {
    let named = OFFER.find("x402Version\"").unwrap() + "x402Version\"".len();
    for end in named..OFFER.len() {
        assert_eq!(in_body(&OFFER[..end]).unwrap_err(), OfferError::Body);
    }
    for end in 0..named {
        assert!(in_body(&OFFER[..end]).unwrap().is_none());
    }
    let reordered = r#"{"accepts":[{"description":"the rest is missi"#;
    assert_eq!(in_body(reordered).unwrap_err(), OfferError::Body);
    // a body longer than is read is a body that was cut
    let long = OFFER.replace("Access to premium market data", &"x".repeat(64 * 1024));
    assert_eq!(in_body(&long).unwrap_err(), OfferError::Body);
}

#[test]
fn an_offer_of_an_odd_version_or_shape_is_unreadable() {
    for (version, error) in [
        (json!(0), OfferError::Version(0)),
        (json!(3), OfferError::Version(3)),
        (json!(u64::MAX), OfferError::Version(u64::MAX)),
        (json!("1"), OfferError::Body),
        (json!(1.0), OfferError::Body),
        (json!(-1), OfferError::Body),
        (json!(null), OfferError::Body),
        (json!([1]), OfferError::Body),
    ] {
        let read = in_body(&changed("/x402Version", &version));
        assert_eq!(read.unwrap_err(), error, "{version}");
    }
    for accepts in [json!(null), json!({}), json!("exact"), json!(1)] {
        let read = in_body(&changed("/accepts", &accepts));
        assert_eq!(read.unwrap_err(), OfferError::Body, "{accepts}");
    }
    for body in [
        OFFER.replacen('{', r#"{"x402Version":2,"#, 1),
        OFFER.replacen('{', r#"{"accepts":[],"#, 1),
        OFFER.replacen(r#""accepts""#, r#""accept""#, 1),
        format!("{OFFER}{OFFER}"),
    ] {
        assert_eq!(in_body(&body).unwrap_err(), OfferError::Body, "{body}");
    }
    let list = r#"[1,"X-PAYMENT header is required",null,[],null]"#;
    assert!(in_body(list).unwrap().is_none());
    let many = json!({"x402Version": 1, "accepts": vec![json!({}); 65]}).to_string();
    assert_eq!(in_body(&many).unwrap_err(), OfferError::TooManyEntries);
}

#[test]
fn what_is_no_text_is_no_reason_and_spoils_nothing() {
    // the reference server of version 1 puts what it caught here, and an exception is written {}
    for error in [json!({}), json!(null), json!(7), json!(["no"])] {
        let offer = in_body(&changed("/error", &error)).unwrap().unwrap();
        assert_eq!(offer.error(), None, "{error}");
        assert_eq!(offer.entries().len(), 1);
    }
}

#[test]
fn a_bad_entry_does_not_spoil_the_rest() {
    let good: Value = serde_json::from_str(OFFER).unwrap();
    let good = good["accepts"][0].clone();
    let with = |name: &str, value: Value| {
        let mut entry = good.clone();
        entry[name] = value;
        entry
    };
    let without = |name: &str| {
        let mut entry = good.clone();
        entry.as_object_mut().unwrap().remove(name);
        entry
    };
    let network = EntryError::Network;
    let bad = [
        (
            with("network", json!("solana")),
            network(NetworkError::NotEvm),
        ),
        (
            with("network", json!("solana-devnet")),
            network(NetworkError::NotEvm),
        ),
        (
            with("network", json!("atlantis")),
            network(NetworkError::Unknown),
        ),
        (with("network", json!(84_532)), EntryError::Shape),
        (with("scheme", json!("upto")), EntryError::Scheme),
        (without("maxAmountRequired"), EntryError::Amount),
        (with("maxAmountRequired", json!("0")), EntryError::Amount),
        (with("maxAmountRequired", json!("-1")), EntryError::Amount),
        (with("maxAmountRequired", json!("0x1")), EntryError::Amount),
        (with("maxAmountRequired", json!(1.5)), EntryError::Amount),
        (
            with("maxAmountRequired", json!("1".repeat(79))),
            EntryError::Amount,
        ),
        (with("maxAmountRequired", json!(["1"])), EntryError::Amount),
        (with("maxTimeoutSeconds", json!("60")), EntryError::Timeout),
        (with("maxTimeoutSeconds", json!(0)), EntryError::Timeout),
        (with("payTo", json!("0x12")), EntryError::Address),
        (with("extra", json!(null)), EntryError::Domain),
        (with("extra", json!({"name": "USDC"})), EntryError::Domain),
        (json!([]), EntryError::Shape),
        (json!(null), EntryError::Shape),
    ];
    let accepts: Vec<_> = bad.iter().map(|(entry, _)| entry.clone()).collect();
    let accepts: Vec<_> = accepts.into_iter().chain([good]).collect();
    let text = json!({"x402Version": 1, "accepts": accepts}).to_string();
    let offer = in_body(&text).unwrap().unwrap();
    let expected: Vec<_> = bad.iter().map(|(_, error)| *error).enumerate().collect();
    assert_eq!(offer.rejected(), expected);
    assert_eq!(offer.entries().len(), 1);
}

#[test]
fn no_amount_is_read_as_a_smaller_one() {
    for amount in [
        json!("115792089237316195423570985008687907853269984665640564039457584007913129639935"),
        json!("18446744073709551616"),
        json!(u64::MAX),
    ] {
        let offer = in_body(&changed("/accepts/0/maxAmountRequired", &amount));
        let offer = offer.unwrap().unwrap();
        let refused = Policy::new(usd("0.05").unwrap()).check(&offer.entries()[0]);
        let too_much = matches!(refused, Err(Refusal::PerCall { .. } | Refusal::Uncountable));
        assert!(too_much, "{amount}: {refused:?}");
    }
}

#[test]
fn bottomless_bodies_are_read_by_nobody_and_harm_nobody() {
    let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    for body in [
        deep.clone(),
        format!("{}1", r#"{"x402Version":1,"error":"#.repeat(2_000)),
        OFFER.replace(r#""X-PAYMENT header is required""#, &deep),
        OFFER.replace(r#""10000""#, &deep),
        OFFER.replace(r#"{"name""#, &format!(r#"{{"more":{deep},"name""#)),
        OFFER.replacen('{', &format!(r#"{{"more":{deep},"#), 1),
    ] {
        drop(in_body(&body));
    }
}

/// Accepts the first entry of `offer`, signs it, and returns what may be shown.
async fn bought(offer: &Offer, nonce: B256) -> (Purchase, SignedPayment) {
    let until = START + 60;
    let id = PaymentId::random();
    let wallet = wallet();
    let terms = Terms::new(offer, 0, wallet.payer(), nonce, id.clone(), until).unwrap();
    assert_eq!(terms.version(), offer.version());
    let signed = wallet.sign(&terms).await.unwrap();
    let mut purchase = Purchase::new(PurchaseKey::named("v1"), id);
    purchase.accept(terms, Timestamp::from_secs(0)).unwrap();
    purchase.handle_signed(signed.clone()).unwrap();
    purchase.handle_persisted(signed.clone()).unwrap();
    (purchase, signed)
}

fn show(purchase: &mut Purchase) -> HeaderMap {
    let mut fields = HeaderMap::new();
    let showing = purchase.show(Timestamp::from_secs(START)).unwrap();
    showing.write(&mut fields);
    fields
}

#[tokio::test]
async fn the_payment_of_the_wire_vector_is_written_byte_for_byte() {
    let vectors = vectors();
    let wire = &vectors["wire"]["X_PAYMENT_v1"];
    let nonce = wire["json"]["payload"]["authorization"]["nonce"].as_str();
    let (mut purchase, signed) = bought(&offer(), nonce.unwrap().parse().unwrap()).await;

    let fields = show(&mut purchase);

    let field = &fields[headers::X_PAYMENT];
    assert!(field.is_sensitive());
    assert_eq!(field, wire["base64"].as_str().unwrap());
    assert_eq!(fields.len(), 1);
    assert_eq!(signed.version(), Version::V1);
    assert!(!format!("{signed:?}").contains("9e4da37d"));
}

#[tokio::test]
async fn a_payment_has_the_seller_s_own_spelling_of_the_network() {
    for spelling in ["base-sepolia", "eip155:84532", "eip155:084532"] {
        let text = changed("/accepts/0/network", &json!(spelling));
        let offer = in_body(&text).unwrap().unwrap();
        assert_eq!(only(&offer).network(), Network::evm(84_532));
        let (mut purchase, _) = bought(&offer, B256::ZERO).await;
        let fields = show(&mut purchase);
        let written = STANDARD.decode(&fields[headers::X_PAYMENT]).unwrap();
        let written: Value = serde_json::from_slice(&written).unwrap();
        assert_eq!(written["network"], spelling);
        let names: Vec<_> = written.as_object().unwrap().keys().collect();
        assert_eq!(names, ["network", "payload", "scheme", "x402Version"]);
    }
}

#[tokio::test]
async fn a_header_that_speaks_version_1_is_answered_in_version_1() {
    let mut object: Value = serde_json::from_str(OFFER).unwrap();
    // version 1 has no extensions, so no identifier is sent, and an odd demand for one is none
    object["extensions"] = json!({"payment-identifier": {"info": {"required": "yes"}}});
    let offer = Offer::of(&required(&object), &[]).unwrap().unwrap();
    let (mut purchase, _) = bought(&offer, B256::ZERO).await;
    let fields = show(&mut purchase);
    assert!(fields.contains_key(headers::X_PAYMENT));
    assert!(!fields.contains_key(headers::PAYMENT_SIGNATURE));
}

#[tokio::test]
async fn a_request_never_carries_a_payment_of_each_version() {
    for (offer, own, other) in [
        (offer(), headers::X_PAYMENT, headers::PAYMENT_SIGNATURE),
        (
            in_body(&v2("10000").to_string()).unwrap().unwrap(),
            headers::PAYMENT_SIGNATURE,
            headers::X_PAYMENT,
        ),
    ] {
        let (mut purchase, _) = bought(&offer, B256::ZERO).await;
        let mut fields = HeaderMap::new();
        fields.append(&other, HeaderValue::from_static("old"));
        fields.append(&own, HeaderValue::from_static("old"));
        let showing = purchase.show(Timestamp::from_secs(START)).unwrap();
        showing.write(&mut fields);
        assert!(!fields.contains_key(&other));
        assert_eq!(fields.get_all(&own).iter().count(), 1);
        assert_ne!(fields[own], "old");
    }
}

#[tokio::test]
async fn both_versions_of_one_chain_agree_on_the_nonce_and_on_what_is_signed() {
    let offers = [
        offer(),
        in_body(&changed("/accepts/0/network", &json!("eip155:84532")))
            .unwrap()
            .unwrap(),
        Offer::of(&required(&v2("10000")), &[]).unwrap().unwrap(),
    ];
    let payer = wallet().payer();
    let key = PurchaseKey::named("order-17");
    let mut seen = Vec::new();
    for offer in &offers {
        let nonce = Derivation::default().nonce(payer, only(offer).asset(), key);
        let terms = Terms::new(offer, 0, payer, nonce, PaymentId::random(), START).unwrap();
        seen.push((nonce, terms.authorization(), terms.domain()));
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0], seen[2]);
}

#[tokio::test]
async fn a_payment_in_one_version_is_not_what_terms_in_the_other_asked_for() {
    let wallet = wallet();
    let id = PaymentId::random();
    let [first, second] = [
        offer(),
        Offer::of(&required(&v2("10000")), &[]).unwrap().unwrap(),
    ]
    .map(|offer| Terms::new(&offer, 0, wallet.payer(), B256::ZERO, id.clone(), START).unwrap());
    let signed = wallet.sign(&first).await.unwrap();
    let mut purchase = Purchase::new(PurchaseKey::named("v1"), id);
    purchase.accept(second, Timestamp::from_secs(0)).unwrap();
    assert!(purchase.handle_signed(signed).is_err());
}

/// What a purchase makes of a reply to its first send.
async fn answered(status: u16, fields: &HeaderMap, body: &str) -> (Money, Standing) {
    let (mut purchase, _) = bought(&offer(), B256::ZERO).await;
    drop(show(&mut purchase));
    let status = StatusCode::from_u16(status).unwrap();
    let reply = Reply::new(status, fields, body.as_bytes());
    let standing = purchase.handle_reply(reply, Timestamp::from_secs(START));
    (purchase.money(), standing)
}

#[tokio::test]
async fn a_fresh_offer_after_a_payment_is_a_refusal_by_its_reason() {
    use FailureClass::{AlreadyUsed, BeforeBroadcast, Unknown};
    for (error, money, class, reason) in [
        (
            json!("insufficient_funds"),
            Money::Refused,
            BeforeBroadcast,
            "insufficient_funds",
        ),
        (
            json!("invalid_exact_evm_payload_signature"),
            Money::Refused,
            BeforeBroadcast,
            "invalid_exact_evm_payload_signature",
        ),
        (
            json!("invalid_exact_evm_nonce_already_used"),
            Money::Settled,
            AlreadyUsed,
            "invalid_exact_evm_nonce_already_used",
        ),
        (
            json!("invalid_transaction_state"),
            Money::Unknown,
            Unknown,
            "invalid_transaction_state",
        ),
        (
            json!("unexpected_settle_error"),
            Money::Unknown,
            Unknown,
            "unexpected_settle_error",
        ),
        (
            json!("fetch failed"),
            Money::Unknown,
            Unknown,
            "fetch failed",
        ),
        (
            json!("Settlement timed out"),
            Money::Unknown,
            Unknown,
            "Settlement timed out",
        ),
        (
            json!("X-PAYMENT header is required"),
            Money::Unknown,
            Unknown,
            "X-PAYMENT header is required",
        ),
        (json!({}), Money::Unknown, Unknown, ""),
        (json!(null), Money::Unknown, Unknown, ""),
    ] {
        let body = changed("/error", &error);
        let (known, standing) = answered(402, &HeaderMap::new(), &body).await;
        assert_eq!(known, money, "{error}");
        let reason = reason.to_owned();
        assert_eq!(standing.receipt, ReceiptStanding::Failed { class, reason });
        assert!(standing.paid);
        assert_eq!(standing.offer, paywait_signals::OfferStanding::None);
        assert_eq!(standing.may_show_again, class != AlreadyUsed, "{error}");
    }
}

#[tokio::test]
async fn what_a_cut_or_odd_body_says_after_a_payment_is_unknown() {
    for body in [
        &OFFER[..200],
        r#"{"x402Version":9,"error":"insufficient_funds","accepts":[]}"#,
    ] {
        let (money, _) = answered(402, &HeaderMap::new(), body).await;
        assert_eq!(money, Money::Unknown, "{body}");
    }
    // what is no offer says nothing, and on another status no offer is looked for
    for (status, body) in [(402, "{}"), (402, ""), (429, OFFER), (404, OFFER)] {
        let (money, standing) = answered(status, &HeaderMap::new(), body).await;
        assert_eq!(money, Money::Sent, "{status} {body}");
        assert_eq!(standing.receipt, ReceiptStanding::None);
    }
}

#[tokio::test]
async fn a_receipt_beats_the_offer_in_the_body() {
    let receipt = json!({"success": true, "transaction": "0xab", "network": "base-sepolia"});
    let fields = field(headers::X_PAYMENT_RESPONSE, &receipt);
    let body = changed("/error", &json!("insufficient_funds"));
    let (money, _) = answered(402, &fields, &body).await;
    assert_eq!(money, Money::Settled);
}

#[test]
fn a_receipt_of_version_1_is_read_whatever_its_network_is() {
    for network in [
        json!("base-sepolia"),
        json!("eip155:84532"),
        json!(84_532),
        json!(null),
        json!({"id": 1}),
        json!([]),
    ] {
        for success in [true, false] {
            let receipt = json!({"success": success, "transaction": "", "network": network,
                "errorReason": "insufficient_funds", "payer": 1});
            let fields = field(headers::X_PAYMENT_RESPONSE, &receipt);
            let read = Receipt::decode(headers::receipt(&fields).unwrap().as_bytes());
            assert_eq!(read.unwrap().success(), success, "{network}");
        }
    }
}

proptest! {
    #[test]
    fn no_header_and_no_body_is_a_panic(
        header in proptest::option::of(proptest::collection::vec(32_u8..127, 0..80)),
        body in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut fields = HeaderMap::new();
        if let Some(header) = header {
            fields.insert(headers::PAYMENT_REQUIRED, HeaderValue::from_bytes(&header).unwrap());
        }
        drop(Offer::of(&fields, &body));
    }

    #[test]
    fn an_offer_with_any_bytes_put_into_it_is_no_panic(
        at in 0..OFFER.len(),
        len in 0_usize..20,
        put in proptest::collection::vec(any::<u8>(), 0..20),
    ) {
        let mut body = OFFER.as_bytes().to_vec();
        let end = at.saturating_add(len).min(body.len());
        body.splice(at..end, put);
        drop(Offer::of(&HeaderMap::new(), &body));
    }

    #[test]
    fn whatever_is_read_costs_what_the_text_says(amount in 1_u64..) {
        let text = changed("/accepts/0/maxAmountRequired", &json!(amount.to_string()));
        let offer = in_body(&text).unwrap().unwrap();
        prop_assert_eq!(only(&offer).amount(), Amount::from_u64(amount));
    }
}
