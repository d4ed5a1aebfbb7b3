//! A buyer made by hand: it signs with alloy and builds its payments from plain JSON.

use alloy_primitives::{Address, B256, U256, address};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use alloy_sol_types::{SolStruct, eip712_domain, sol};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use paywait_seller::{Answer, Flow, Route, Shop, Terms};
use paywait_signals::Timestamp;
use serde_json::{Value, json};

sol! {
    struct TransferWithAuthorization {
        address from;
        address to;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
    }
}

/// The second public test key of the Ethereum tools, and what belongs to it.
const KEY: &str = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
pub(crate) const PAYER: Address = address!("0x70997970C51812dc3A010C7d01b50e0d17dc79C8");
pub(crate) const PAYEE: Address = address!("0x209693Bc6afc0C5328bA36FaF03C514EF312287C");
pub(crate) const NOW: Timestamp = Timestamp::from_secs(1_740_672_000);
pub(crate) const PRICE: u64 = 10_000;
pub(crate) const NONCE_USED: &str = "invalid_exact_evm_nonce_already_used";

pub(crate) fn later(seconds: u64) -> Timestamp {
    Timestamp::from_secs(NOW.as_secs().saturating_add(seconds))
}

pub(crate) fn route(flow: Flow) -> Route {
    Route::new("/report", Terms::usdc(PRICE, PAYEE).flow(flow))
}

pub(crate) fn shop(route: Route) -> Shop {
    Shop::builder().route(route).build().unwrap()
}

pub(crate) fn get(payment: Option<&str>) -> Request<Bytes> {
    let mut request = Request::get("http://seller.test/report");
    if let Some(payment) = payment {
        request = request.header("PAYMENT-SIGNATURE", payment);
    }
    request.body(Bytes::new()).unwrap()
}

/// Sends an unpaid request, and returns the offer that came back.
pub(crate) fn ask(shop: &mut Shop) -> Value {
    offer(shop.answer(&get(None), NOW).response.headers())
}

pub(crate) fn pay(shop: &mut Shop, payment: &str, now: Timestamp) -> Answer {
    shop.answer(&get(Some(payment)), now)
}

pub(crate) fn offer(headers: &HeaderMap) -> Value {
    decode(headers, "payment-required").expect("no offer")
}

pub(crate) fn receipt(headers: &HeaderMap) -> Value {
    decode(headers, "payment-response").expect("no receipt")
}

fn decode(headers: &HeaderMap, name: &str) -> Option<Value> {
    let bytes = STANDARD.decode(headers.get(name)?).unwrap();
    Some(serde_json::from_slice(&bytes).unwrap())
}

/// Asserts a 402 that refuses before settling: an offer with this `error`, and no receipt.
#[track_caller]
pub(crate) fn assert_refused(response: &Response<Bytes>, error: &str) {
    assert_eq!(response.status(), 402);
    assert_eq!(offer(response.headers())["error"], error);
    assert!(!response.headers().contains_key("payment-response"));
    assert_eq!(response.headers()["cache-control"], "no-store");
    assert_eq!(response.body(), "{}");
}

/// Asserts a 402 with a receipt that says no, and no offer.
#[track_caller]
pub(crate) fn assert_not_settled(response: &Response<Bytes>, reason: &str, has_hash: bool) {
    assert_eq!(response.status(), 402);
    let receipt = receipt(response.headers());
    assert_eq!(receipt["success"], false);
    assert_eq!(receipt["errorReason"], reason);
    assert_eq!(receipt["transaction"] != "", has_hash, "{receipt}");
    assert!(!response.headers().contains_key("payment-required"));
    assert_eq!(response.headers()["cache-control"], "no-store");
    assert_eq!(response.body(), "{}");
}

/// Asserts a status and a receipt that says yes.
#[track_caller]
pub(crate) fn assert_settled(response: &Response<Bytes>, status: u16) {
    assert_eq!(response.status(), status);
    let receipt = receipt(response.headers());
    assert_eq!(receipt["success"], true);
    assert_eq!(receipt["network"], "eip155:84532");
    assert_eq!(receipt["transaction"].as_str().unwrap().len(), 66);
    assert!(
        response
            .headers()
            .get_all("cache-control")
            .iter()
            .any(|v| v == "private")
    );
}

/// What an entry costs, in either version.
fn price(entry: &Value) -> &str {
    let names = ["amount", "maxAmountRequired"];
    let amount = names.into_iter().find_map(|name| entry.get(name));
    amount.and_then(Value::as_str).unwrap()
}

/// One payment to be made, as a well-behaved buyer would; a test changes what it wants wrong.
#[derive(Clone)]
pub(crate) struct Draft {
    pub(crate) entry: Value,
    pub(crate) extensions: Option<Value>,
    pub(crate) from: Address,
    pub(crate) to: Address,
    pub(crate) value: U256,
    pub(crate) valid_after: u64,
    pub(crate) valid_before: u64,
    pub(crate) nonce: B256,
    pub(crate) version: u64,
}

impl Draft {
    /// A payment of the first entry of an offer, made at `NOW`, with a nonce of its own.
    pub(crate) fn new(offer: &Value, nonce: u8) -> Self {
        let entry = offer["accepts"][0].clone();
        Self {
            from: PAYER,
            to: entry["payTo"].as_str().unwrap().parse().unwrap(),
            value: price(&entry).parse().unwrap(),
            valid_after: 0,
            valid_before: later(entry["maxTimeoutSeconds"].as_u64().unwrap()).as_secs(),
            nonce: B256::repeat_byte(nonce),
            extensions: None,
            version: 2,
            entry,
        }
    }

    pub(crate) fn id(mut self, offer: &Value, id: &str) -> Self {
        let mut extensions = offer["extensions"].clone();
        extensions["payment-identifier"]["info"]["id"] = json!(id);
        self.extensions = Some(extensions);
        self
    }

    /// Signs, and returns the value of the header.
    pub(crate) fn sign(&self) -> String {
        let chain_id = self.entry["network"].as_str().unwrap()[7..].parse();
        let mut payment = json!({
            "x402Version": self.version,
            "accepted": self.entry,
            "payload": self.payload(chain_id.unwrap()),
        });
        if let Some(extensions) = &self.extensions {
            payment["extensions"] = extensions.clone();
        }
        STANDARD.encode(payment.to_string())
    }

    /// Signs, and returns the value of the header of version 1.
    pub(crate) fn sign_v1(&self) -> String {
        let payment = json!({
            "x402Version": 1,
            "scheme": self.entry["scheme"],
            "network": self.entry["network"],
            "payload": self.payload(84_532),
        });
        STANDARD.encode(payment.to_string())
    }

    fn payload(&self, chain_id: u64) -> Value {
        let signer: PrivateKeySigner = KEY.parse().unwrap();
        let extra = &self.entry["extra"];
        let domain = eip712_domain! {
            name: extra["name"].as_str().unwrap().to_owned(),
            version: extra["version"].as_str().unwrap().to_owned(),
            chain_id: chain_id,
            verifying_contract: self.entry["asset"].as_str().unwrap().parse().unwrap(),
        };
        let message = TransferWithAuthorization {
            from: self.from,
            to: self.to,
            value: self.value,
            validAfter: U256::from(self.valid_after),
            validBefore: U256::from(self.valid_before),
            nonce: self.nonce,
        };
        let signature = signer
            .sign_hash_sync(&message.eip712_signing_hash(&domain))
            .unwrap();
        json!({
            "signature": format!("0x{}", alloy_primitives::hex::encode(signature.as_bytes())),
            "authorization": {
                "from": self.from.to_string(),
                "to": self.to.to_string(),
                "value": self.value.to_string(),
                "validAfter": self.valid_after.to_string(),
                "validBefore": self.valid_before.to_string(),
                "nonce": self.nonce.to_string(),
            },
        })
    }
}
