//! Each bound from both sides: what is just within is read, and what is just beyond has its own
//! error.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use alloy_primitives::{Address, B256, keccak256};
use alloy_signer_local::PrivateKeySigner;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue, StatusCode};
use paywait_signals::{ReceiptStanding, Reply, Timestamp};
use paywait_x402::{
    Amount, EncodingError, EntryError, Money, MoneyError, Offer, OfferError, OfferSource,
    PayloadError, PaymentId, Policy, Purchase, PurchaseKey, Receipt, Refusal, Sealed,
    SignedPayment, Terms, TermsError, UnsealError, Wallet, headers, usd,
};
use serde_json::{Value, json};

fn entry() -> Value {
    json!({
        "scheme": "exact", "network": "eip155:84532", "amount": "10000",
        "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C", "maxTimeoutSeconds": 60,
        "extra": {"name": "USDC", "version": "2"},
    })
}

fn offer() -> Value {
    json!({"x402Version": 2, "accepts": [entry()]})
}

/// `object` with `value` at `pointer`, whose last name may be new.
fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = object.pointer_mut(parent).unwrap();
    parent
        .as_object_mut()
        .unwrap()
        .insert(name.to_owned(), value);
    object
}

fn read(offer: &Value) -> Result<Offer, OfferError> {
    Offer::decode(STANDARD.encode(offer.to_string()).as_bytes())
}

fn in_body(body: &str) -> Result<Option<Offer>, OfferError> {
    Offer::of(&HeaderMap::new(), body.as_bytes())
}

/// A text of JSON, with white space behind it up to `length`.
fn padded(object: &Value, length: usize) -> String {
    let text = object.to_string();
    let room = length.saturating_sub(text.len());
    text + &" ".repeat(room)
}

fn receipt(object: &Value) -> Receipt {
    Receipt::decode(STANDARD.encode(object.to_string()).as_bytes()).unwrap()
}

fn terms(offer: &Value) -> Result<Terms, TermsError> {
    let (offer, payer) = (read(offer).unwrap(), key().address());
    Terms::new(&offer, 0, payer, B256::ZERO, PaymentId::random(), 1_000)
}

fn key() -> PrivateKeySigner {
    KEY.parse().unwrap()
}

async fn payment(terms: &Terms) -> SignedPayment {
    Wallet::evm(key()).sign(terms).await.unwrap()
}

#[test]
fn a_header_is_read_up_to_128_kib() {
    let longest = 128 * 1024 / 4 * 3;
    let spelled = |object: &Value, length| STANDARD.encode(padded(object, length));
    let settled = json!({"success": true});
    let field = spelled(&offer(), longest);
    assert_eq!(field.len(), 128 * 1024);
    assert!(Offer::decode(field.as_bytes()).is_ok());
    assert!(Receipt::decode(spelled(&settled, longest).as_bytes()).is_ok());

    let too_large = EncodingError::TooLarge;
    let field = spelled(&offer(), longest + 1);
    let unreadable = Offer::decode(field.as_bytes()).unwrap_err();
    assert_eq!(unreadable, OfferError::Encoding(too_large));
    let field = spelled(&settled, longest + 1);
    assert_eq!(Receipt::decode(field.as_bytes()), Err(too_large));
}

#[test]
fn a_receipt_that_is_too_large_leaves_open_what_moved() {
    let field = STANDARD.encode(padded(&json!({"success": true}), 128 * 1024));
    let value = HeaderValue::try_from(field).unwrap();
    let fields = HeaderMap::from_iter([(headers::PAYMENT_RESPONSE, value)]);
    let mut purchase = Purchase::new(PurchaseKey::named("x"), PaymentId::random());
    let reply = Reply::new(StatusCode::PAYMENT_REQUIRED, &fields, &[]);
    let standing = purchase.handle_reply(reply, Timestamp::from_secs(0));
    assert_eq!(standing.receipt, ReceiptStanding::Unreadable);
    assert_eq!(purchase.money(), Money::Unknown);
}

#[test]
fn a_body_is_read_up_to_64_kib() {
    // the white space stands within: what is cut off is no offer
    let ends_at = |length: usize| {
        let text = offer().to_string();
        let within = text.strip_suffix('}').unwrap();
        format!("{within}{}}}", " ".repeat(length - text.len()))
    };
    let whole = in_body(&ends_at(64 * 1024)).unwrap().unwrap();
    assert_eq!(whole.source(), OfferSource::Body);
    assert_eq!(
        in_body(&ends_at(64 * 1024 + 1)).unwrap_err(),
        OfferError::Body
    );
    // what comes after 64 KiB is not looked at, however much it is
    let long = padded(&offer(), 1024 * 1024);
    assert!(in_body(&long).unwrap().is_some());
}

#[test]
fn sixty_four_entries_are_read() {
    let of = |count: usize| read(&with(offer(), "/accepts", json!(vec![entry(); count])));
    assert_eq!(of(64).unwrap().entries().len(), 64);
    assert_eq!(of(65).unwrap_err(), OfferError::TooManyEntries);
    let bad = with(offer(), "/accepts", json!(vec![1; 64]));
    assert_eq!(read(&bad).unwrap().rejected().len(), 64);
}

#[test]
fn sixty_four_extensions_are_read_and_in_version_1_none() {
    let of = |version: u8, count: usize| {
        let names = (0..count).map(|place| (format!("e{place}"), json!({})));
        let offer = with(offer(), "/extensions", Value::Object(names.collect()));
        read(&with(offer, "/x402Version", json!(version)))
    };
    assert!(of(2, 64).is_ok());
    assert_eq!(of(2, 65).unwrap_err(), OfferError::TooManyExtensions);
    assert!(of(1, 65).is_ok());
}

#[test]
fn json_nests_up_to_127_deep() {
    let nested = |depth: usize| {
        let error = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"x402Version":1,"accepts":[],"error":{error}}}"#)
    };
    assert!(in_body(&nested(126)).unwrap().is_some());
    assert_eq!(in_body(&nested(127)).unwrap_err(), OfferError::Body);
    let field = |depth| Offer::decode(STANDARD.encode(nested(depth)).as_bytes());
    assert!(field(126).is_ok());
    assert_eq!(
        field(127).unwrap_err(),
        OfferError::Encoding(EncodingError::NotAnObject)
    );
}

#[test]
fn bottomless_extensions_harm_nobody() {
    let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    for extension in [
        format!(r#"{{"info":{{"required":true,"x":{deep}}}}}"#),
        format!(r#"{{"info":{{"required":true}},"schema":{deep}}}"#),
        deep,
    ] {
        let json = offer().to_string();
        let open = json.strip_suffix('}').unwrap();
        let json = format!(r#"{open},"extensions":{{"payment-identifier":{extension}}}}}"#);
        let read = Offer::decode(STANDARD.encode(json).as_bytes()).unwrap();
        let id = PaymentId::random();
        // too much to echo, and so left out or refused
        drop(Terms::new(&read, 0, Address::ZERO, B256::ZERO, id, 1_000));
    }
}

#[test]
fn of_a_seller_s_texts_512_bytes_are_kept() {
    let (kept, cut) = ("x".repeat(512), "x".repeat(513));
    for text in [&kept, &cut] {
        let offered = read(&with(offer(), "/error", json!(text))).unwrap();
        assert_eq!(offered.error(), Some(&*kept));
        let receipt = receipt(&json!({"success": false, "errorReason": text, "transaction": text}));
        assert_eq!(receipt.error_reason(), Some(&*kept));
        assert_eq!(receipt.transaction(), kept);
    }
    // never within a character
    let euros = "€".repeat(200);
    let offered = read(&with(offer(), "/error", json!(euros))).unwrap();
    assert_eq!(offered.error().map(str::len), Some(510));
}

#[test]
fn a_signing_domain_has_at_most_512_bytes() {
    for name in ["name", "version"] {
        let of = |length: usize| {
            let pointer = format!("/accepts/0/extra/{name}");
            read(&with(offer(), &pointer, json!("x".repeat(length)))).unwrap()
        };
        assert_eq!(of(512).entries().len(), 1);
        assert_eq!(of(513).rejected(), [(0, EntryError::Domain)]);
    }
}

#[tokio::test]
async fn a_payment_is_written_up_to_14_000_characters() {
    let of = |length: usize| with(offer(), "/accepts/0/more", json!("x".repeat(length)));
    let (mut fits, mut does_not) = (0_usize, 12_000);
    while does_not - fits > 1 {
        let middle = fits.midpoint(does_not);
        match terms(&of(middle)) {
            Ok(_) => fits = middle,
            Err(why) => {
                assert_eq!(why, TermsError::Payload(PayloadError::TooLarge));
                does_not = middle;
            }
        }
    }
    let payment = payment(&terms(&of(fits)).unwrap()).await;
    let mut purchase = Purchase::new(PurchaseKey::named("x"), PaymentId::random());
    purchase.resume(purchase.key(), vec![payment], Money::Signed, 0);
    let mut fields = HeaderMap::new();
    let showing = purchase.show(Timestamp::from_secs(0)).unwrap();
    showing.write(&mut fields);
    let field = fields.get(headers::PAYMENT_SIGNATURE).unwrap();
    assert_eq!(field.len(), 14_000);
}

#[test]
fn money_is_read_up_to_96_digits_and_256_bits() {
    let one = |zeros: usize| format!("{}1", "0".repeat(zeros));
    assert_eq!(one(95).parse(), Ok(Amount::from_u64(1)));
    assert_eq!(one(96).parse::<Amount>(), Err(MoneyError::TooLarge));
    assert_eq!(usd(&one(95)), usd("1"));
    assert_eq!(usd(&one(96)), Err(MoneyError::TooLarge));
    let most = Amount::MAX.to_string();
    assert_eq!(most.parse(), Ok(Amount::MAX));
    let more = most.replace("935", "936");
    assert_eq!(more.parse::<Amount>(), Err(MoneyError::TooLarge));
    assert_eq!(usd("0.0000000000000000001"), Err(MoneyError::TooFine));
}

#[test]
fn a_window_is_signed_from_15_seconds_on() {
    let of = |seconds: u64| {
        let offer = read(&with(
            offer(),
            "/accepts/0/maxTimeoutSeconds",
            json!(seconds),
        ));
        checked(&offer.unwrap())
    };
    assert_eq!(of(15), Ok(()));
    let (asked, least) = (14, 15);
    assert_eq!(of(14), Err(Refusal::Window { asked, least }));
    assert_eq!(of(u64::MAX), Ok(()));
}

#[test]
fn a_price_is_paid_up_to_the_limit_to_the_last_unit() {
    let of = |amount: &str| {
        let offer = read(&with(offer(), "/accepts/0/amount", json!(amount))).unwrap();
        checked(&offer)
    };
    assert_eq!(of("50000"), Ok(()));
    let (asked, allowed) = (usd("0.050001").unwrap(), usd("0.05").unwrap());
    assert_eq!(of("50001"), Err(Refusal::PerCall { asked, allowed }));
    assert_eq!(of(&Amount::MAX.to_string()), Err(Refusal::Uncountable));
}

/// What a policy says of the first entry of an offer.
fn checked(offer: &Offer) -> Result<(), Refusal> {
    let policy = Policy::new(usd("0.05").unwrap());
    policy.check(offer.entries().first().unwrap()).map(drop)
}

/// The fields of a payment as a ledger keeps them, behind a right check sum.
fn framed(json: &str) -> Result<SignedPayment, UnsealError> {
    let sum = keccak256(json);
    let bytes = [b"paywait/payment/1\n", sum.as_slice(), json.as_bytes()].concat();
    SignedPayment::unseal(&Sealed::from_bytes(bytes))
}

fn fields() -> Value {
    json!({
        "payer": Address::ZERO, "pay_to": Address::ZERO, "amount": "1", "chain": 1,
        "contract": Address::ZERO, "nonce": B256::ZERO, "valid_before": 1,
        "payment_id": "pay_a5e1248bd1a944232cccdabd6f40b78b", "version": 2, "header": "e30=",
    })
}

#[test]
fn a_kept_payment_has_at_most_64_kib() {
    let room = 64 * 1024 - "paywait/payment/1\n".len() - 32;
    assert!(framed(&padded(&fields(), room)).is_ok());
    let beyond = framed(&padded(&fields(), room + 1));
    assert_eq!(beyond.unwrap_err(), UnsealError::TooLarge);
}

#[test]
fn a_kept_identifier_has_16_to_128_characters() {
    let of = |length: usize| {
        let kept = with(fields(), "/payment_id", json!("x".repeat(length)));
        framed(&kept.to_string()).map(|payment| payment.payment_id().as_str().len())
    };
    assert_eq!(of(15), Err(UnsealError::Format));
    assert_eq!((of(16), of(128)), (Ok(16), Ok(128)));
    assert_eq!(of(129), Err(UnsealError::Format));
}

#[test]
fn a_kept_payment_without_bytes_that_can_be_sent_is_none() {
    for header in ["", "é", "a\nb", "\u{7f}"] {
        let kept = with(fields(), "/header", json!(header));
        assert_eq!(framed(&kept.to_string()).unwrap_err(), UnsealError::Format);
    }
}

/// The first account of the usual test mnemonic: known to everybody.
const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
