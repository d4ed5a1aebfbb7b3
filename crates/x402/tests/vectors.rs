//! The signing and wire vectors, byte for byte.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use std::time::Duration;

use alloy_primitives::{Address, B256, Signature, U256, hex};
use alloy_signer_local::PrivateKeySigner;
use alloy_sol_types::Eip712Domain;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, StatusCode};
use paywait_signals::{FailureClass, ReceiptStanding, Reply, Timestamp};
use paywait_x402::evm::{self, Authorization};
use paywait_x402::{
    Asset, KnownAsset, Network, Offer, PaymentId, Purchase, PurchaseKey, Receipt, Terms, Wallet,
    headers,
};
use serde_json::{Value, json};

fn vectors() -> Value {
    serde_json::from_str(include_str!("vectors/x402-evm.json")).unwrap()
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_else(|| panic!("{pointer} in {value}"))
}

fn key() -> PrivateKeySigner {
    text(&vectors(), "/privateKey").parse().unwrap()
}

fn number(value: &Value, pointer: &str) -> U256 {
    text(value, pointer).parse().unwrap()
}

fn domain_of(vector: &Value) -> Eip712Domain {
    let chain_id = vector
        .pointer("/domain/chainId")
        .and_then(Value::as_u64)
        .unwrap();
    let contract: Address = text(vector, "/domain/verifyingContract").parse().unwrap();
    let asset = Asset::new(Network::evm(chain_id), contract);
    evm::domain(
        text(vector, "/domain/name"),
        text(vector, "/domain/version"),
        asset,
    )
}

fn authorization_of(vector: &Value) -> Authorization {
    let mut authorization = Authorization::new(
        text(vector, "/message/from").parse().unwrap(),
        text(vector, "/message/to").parse().unwrap(),
        number(vector, "/message/value"),
        number(vector, "/message/validBefore"),
        text(vector, "/message/nonce").parse().unwrap(),
    );
    authorization.valid_after = number(vector, "/message/validAfter");
    authorization
}

#[test]
fn every_eip_3009_vector_is_reproduced() {
    let vectors = vectors();
    let vectors = vectors["vectors"].as_array().unwrap();
    assert_eq!(vectors.len(), 14);
    for vector in vectors {
        let id = text(vector, "/id");
        let domain = domain_of(vector);
        let authorization = authorization_of(vector);
        let digest = authorization.signing_hash(&domain);

        assert_eq!(
            domain.separator().to_string(),
            text(vector, "/domainSeparator"),
            "{id}"
        );
        assert_eq!(
            authorization.struct_hash().to_string(),
            text(vector, "/structHash"),
            "{id}"
        );
        // the recorded digest of one vector is printed without its leading zero
        let recorded: U256 = text(vector, "/digest").parse().unwrap();
        assert_eq!(U256::from_be_bytes(digest.0), recorded, "{id}");

        use alloy_signer::SignerSync;
        let signature = key().sign_hash_sync(&digest).unwrap();
        assert_eq!(
            hex::encode_prefixed(signature.as_bytes()),
            text(vector, "/signature"),
            "{id}"
        );
        let recorded: Signature = text(vector, "/signature").parse().unwrap();
        let signer = authorization.signer(&domain, &recorded);
        assert_eq!(signer, Some(authorization.from), "{id}");
    }
}

#[test]
fn the_domain_of_usdc_is_the_contract_s_own() {
    // EIP-712 separators as the vectors hold them for USDC on Base and Base Sepolia; those of the
    // other tokens are in assets.rs
    let vectors = vectors();
    for known in KnownAsset::all().iter().take(2) {
        let vector = vectors["vectors"]
            .as_array()
            .unwrap()
            .iter()
            .find(|vector| {
                domain_of(vector)
                    == evm::domain(known.domain_name, known.domain_version, known.asset)
            });
        let separator =
            evm::domain(known.domain_name, known.domain_version, known.asset).separator();
        assert_eq!(
            separator.to_string(),
            text(vector.unwrap(), "/domainSeparator")
        );
    }
}

fn terms(offer: &Offer, nonce: B256, id: PaymentId, valid_before: u64) -> Terms {
    Terms::new(offer, 0, key().address(), nonce, id, valid_before).unwrap()
}

/// What a purchase puts on the wire for `terms`, decoded.
async fn wire(wallet: &Wallet, terms: Terms) -> Value {
    let mut purchase = Purchase::new(PurchaseKey::named("vector"), terms.payment_id().clone());
    let signed = wallet.sign(&terms).await.unwrap();
    purchase.accept(terms, Timestamp::from_secs(0)).unwrap();
    purchase.handle_signed(signed.clone()).unwrap();
    purchase.handle_persisted(signed).unwrap();
    let mut fields = HeaderMap::new();
    purchase
        .show(Timestamp::from_secs(0))
        .unwrap()
        .write(&mut fields);
    let field = &fields[headers::PAYMENT_SIGNATURE];
    assert!(field.is_sensitive());
    serde_json::from_slice(&STANDARD.decode(field).unwrap()).unwrap()
}

#[tokio::test]
async fn the_payment_of_the_wire_vector_is_written() {
    let vectors = vectors();
    let offer = Offer::decode(text(&vectors, "/wire/PAYMENT_REQUIRED/base64").as_bytes()).unwrap();
    let expected = &vectors["wire"]["PAYMENT_SIGNATURE"]["json"];
    let nonce = text(expected, "/payload/authorization/nonce")
        .parse()
        .unwrap();
    let valid_before = text(expected, "/payload/authorization/validBefore")
        .parse()
        .unwrap();

    // the identifier of the vector is its maker's; ours goes in its place
    let id = PaymentId::random();
    let written = wire(
        &Wallet::evm(key()),
        terms(&offer, nonce, id.clone(), valid_before),
    )
    .await;

    let mut expected = expected.clone();
    expected["extensions"]["payment-identifier"]["info"]["id"] = Value::from(id.as_str());
    assert_eq!(written, expected);
}

fn offer(entry: &Value, more: &Value) -> Offer {
    let mut offer = json!({"x402Version": 2, "accepts": [entry]});
    offer
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    Offer::decode(STANDARD.encode(offer.to_string()).as_bytes()).unwrap()
}

fn entry() -> Value {
    json!({
        "scheme": "exact", "network": "eip155:84532", "amount": "10000",
        "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C", "maxTimeoutSeconds": 60,
        "extra": {"name": "USDC", "version": "2"},
    })
}

#[tokio::test]
async fn the_chosen_entry_goes_back_as_the_text_that_came() {
    let raw = r#"{"extra":{"version":"2","name":"USDC","paymentFlow":"upfront","odd":1.50},
        "payTo":"0x209693bc6afc0c5328ba36faf03c514ef312287c", "amount":10000,"unknown":[null],
        "asset":"0x036CbD53842c5426634e7929541eC2318f3dCF7e","scheme":"exact",
        "network":"eip155:84532","maxTimeoutSeconds":60}"#;
    let text = format!(r#"{{"x402Version":2,"accepts":[{raw}],"resource":{{"url":"x","n":1.0}}}}"#);
    let offer = Offer::decode(STANDARD.encode(text).as_bytes()).unwrap();
    let terms = terms(&offer, B256::ZERO, PaymentId::random(), 1_000);
    let signed = Wallet::evm(key()).sign(&terms).await.unwrap();
    let mut purchase = Purchase::new(PurchaseKey::named("x"), PaymentId::random());
    purchase.accept(terms, Timestamp::from_secs(0)).unwrap();
    purchase.handle_signed(signed.clone()).unwrap();
    purchase.handle_persisted(signed).unwrap();
    let mut fields = HeaderMap::new();
    purchase
        .show(Timestamp::from_secs(0))
        .unwrap()
        .write(&mut fields);
    let written = STANDARD
        .decode(&fields[headers::PAYMENT_SIGNATURE])
        .unwrap();
    let written = String::from_utf8(written).unwrap();
    assert!(written.contains(raw), "{written}");
    assert!(written.contains(r#"{"url":"x","n":1.0}"#), "{written}");
}

#[tokio::test]
async fn an_identifier_goes_only_to_sellers_that_ask_for_one() {
    let wallet = Wallet::evm(key());
    let without = offer(
        &entry(),
        &json!({"extensions": {"bazaar": {"info": {"a": 1}}}}),
    );
    let written = wire(
        &wallet,
        terms(&without, B256::ZERO, PaymentId::random(), 1_000),
    )
    .await;
    assert_eq!(written["extensions"], json!({"bazaar": {"info": {"a": 1}}}));

    let asks = json!({"extensions": {"payment-identifier": {"info": {"required": true}}}});
    let id = PaymentId::random();
    let written = wire(
        &wallet,
        terms(&offer(&entry(), &asks), B256::ZERO, id.clone(), 1_000),
    )
    .await;
    let info = &written["extensions"]["payment-identifier"]["info"];
    assert_eq!(info, &json!({"required": true, "id": id.as_str()}));
}

#[test]
fn an_identifier_that_cannot_be_honoured_is_not_paid_for() {
    let asks = json!({"extensions": {"payment-identifier": {"info": {"required": "yes"}}}});
    let offer = offer(&entry(), &asks);
    let terms = Terms::new(
        &offer,
        0,
        Address::ZERO,
        B256::ZERO,
        PaymentId::random(),
        1_000,
    );
    assert_eq!(terms.err(), Some(paywait_x402::TermsError::Identifier));
}

#[tokio::test]
async fn large_echoes_are_cut_before_they_break_the_server() {
    let schema = "s".repeat(20_000);
    let declared = json!({"extensions": {
        "bazaar": {"info": {"a": 1}, "schema": schema},
        "payment-identifier": {"info": {"required": false}, "schema": {}},
    }});
    let offer = offer(&entry(), &declared);
    let written = wire(
        &Wallet::evm(key()),
        terms(&offer, B256::ZERO, PaymentId::random(), 1_000),
    )
    .await;
    assert_eq!(written["extensions"]["bazaar"], json!({"info": {"a": 1}}));
    assert!(written["extensions"]["payment-identifier"]["info"]["id"].is_string());
}

#[test]
fn a_bad_entry_does_not_spoil_the_rest() {
    let with = |name: &str, value: Value| {
        let mut entry = entry();
        entry[name] = value;
        entry
    };
    let bad = [
        with("scheme", json!("upto")),
        with("network", json!("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp")),
        with("amount", json!("0")),
        with("amount", json!("0x10")),
        with("amount", json!("1e3")),
        with("amount", json!(1.5)),
        with("amount", json!("-1")),
        with("amount", json!("1".repeat(79))),
        with("asset", json!("USDC")),
        with("payTo", json!(null)),
        with("maxTimeoutSeconds", json!("60")),
        with("maxTimeoutSeconds", json!(60.5)),
        with("maxTimeoutSeconds", json!(0)),
        with("maxTimeoutSeconds", json!(-60)),
        with(
            "extra",
            json!({"name": "USDC", "version": "2", "assetTransferMethod": "permit2"}),
        ),
        with(
            "extra",
            json!({"name": "USDC", "version": "2", "assetTransferMethod": "erc7710"}),
        ),
        with(
            "extra",
            json!({"name": "USDC", "version": "2", "paymentFlow": "later"}),
        ),
        with("extra", json!({"name": "USDC"})),
        json!(null),
        json!([]),
    ];
    let count = bad.len();
    let mut accepts = bad.to_vec();
    accepts.push(entry());
    let text = json!({"x402Version": 2, "accepts": accepts}).to_string();
    let offer = Offer::decode(STANDARD.encode(text).as_bytes()).unwrap();
    assert_eq!(offer.entries().len(), 1, "{:?}", offer.rejected());
    assert_eq!(offer.rejected().len(), count);
}

#[test]
fn a_billion_seconds_are_not_signed() {
    let mut entry = entry();
    entry["maxTimeoutSeconds"] = json!(1_000_000_000_u64);
    let offer = offer(&entry, &json!({}));
    let asked = offer.entries()[0].max_timeout_seconds();
    let until =
        paywait_x402::valid_before(Timestamp::from_secs(7), asked, Duration::from_secs(600));
    assert_eq!(until, 607);
}

#[test]
fn receipts_are_worth_what_they_prove() {
    let standing = |receipt: Value| {
        Receipt::decode(STANDARD.encode(receipt.to_string()).as_bytes())
            .unwrap()
            .standing()
    };
    let failed = |class, reason: &str| ReceiptStanding::Failed {
        class,
        reason: reason.to_owned(),
    };
    for (receipt, expected) in [
        (
            json!({"success": true, "transaction": ""}),
            ReceiptStanding::Settled,
        ),
        (
            json!({"success": false, "transaction": "0xcd", "errorReason": "settlement_pending"}),
            ReceiptStanding::Pending,
        ),
        (
            json!({"success": false, "transaction": "", "errorReason": "settlement_pending"}),
            failed(FailureClass::Unknown, "settlement_pending"),
        ),
        (
            json!({"success": false, "transaction": "", "errorReason": "insufficient_funds"}),
            failed(FailureClass::BeforeBroadcast, "insufficient_funds"),
        ),
        (
            json!({"success": false, "transaction": "0xcd", "errorReason": "insufficient_funds"}),
            failed(FailureClass::Unknown, "insufficient_funds"),
        ),
        (
            json!({"success": false, "transaction": "", "errorReason": "fetch failed"}),
            failed(FailureClass::Unknown, "fetch failed"),
        ),
        (
            json!({"success": false, "errorReason": "invalid_exact_evm_nonce_already_used"}),
            failed(
                FailureClass::AlreadyUsed,
                "invalid_exact_evm_nonce_already_used",
            ),
        ),
        (json!({"success": false}), failed(FailureClass::Unknown, "")),
    ] {
        assert_eq!(standing(receipt.clone()), expected, "{receipt}");
    }
    assert!(Receipt::decode(STANDARD.encode(r#"{"success":"true"}"#).as_bytes()).is_err());
}

#[test]
fn a_402_after_a_payment_is_read_by_the_reason_of_its_offer() {
    let mut purchase = Purchase::new(PurchaseKey::named("x"), PaymentId::random());
    let text = json!({"x402Version": 2, "accepts": [entry()],
        "error": "invalid_exact_evm_nonce_already_used"});
    let mut fields = HeaderMap::new();
    let field = STANDARD.encode(text.to_string()).parse().unwrap();
    fields.insert(headers::PAYMENT_REQUIRED, field);
    let now = Timestamp::from_secs(0);
    let standing =
        purchase.handle_reply(Reply::new(StatusCode::PAYMENT_REQUIRED, &fields, &[]), now);
    assert_eq!(purchase.money(), paywait_x402::Money::Settled);
    assert!(!standing.may_show_again);
}
