//! What the tests of reports share: offers as texts, and what is put on the wire for them.

use alloy_primitives::B256;
use alloy_signer_local::PrivateKeySigner;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use paywait::{Timestamp, Wallet};
use paywait_seller::Route;
use paywait_x402::{Offer, PaymentId, Purchase, PurchaseKey, Terms, headers};
use reqwest::Response;
use serde_json::{Value, json};
use support::buyer::{Buyer, Ours};
use support::shop::Stand;

/// What came of one call.
pub(crate) type Ended = reqwest_middleware::Result<Response>;

/// A seller of one thing at `/it`, and a buyer with all three layers.
pub(crate) async fn sells(route: Route) -> (Stand, Buyer) {
    let stand = Stand::open([route]).await;
    let buyer = Buyer::new(&stand.clock);
    (stand, buyer)
}

/// Asks for it once.
pub(crate) async fn ask(stand: &Stand, buyer: &Buyer) -> Ended {
    let client = buyer.client(&Ours::ORDERS[0]);
    client.get(stand.url("/it")).send().await
}

/// An entry of 0.01 USDC on a network.
pub(crate) fn entry(network: &str, asset: &str, name: &str) -> Value {
    json!({
        "scheme": "exact", "network": network, "amount": "10000", "asset": asset,
        "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C", "maxTimeoutSeconds": 60,
        "extra": {"name": name, "version": "2"},
    })
}

/// The entry that all buyers here can pay.
pub(crate) fn payable() -> Value {
    entry("eip155:84532", USDC, "USDC")
}

pub(crate) fn offer(entries: &[Value]) -> Value {
    json!({"x402Version": 2, "accepts": entries})
}

pub(crate) fn decoded(offer: &Value) -> Offer {
    Offer::decode(STANDARD.encode(offer.to_string()).as_bytes()).unwrap()
}

/// Signs the first entry of an offer, and reads what goes out.
pub(crate) async fn on_the_wire(offer: &Value) -> Value {
    let (offer, signer) = (decoded(offer), PrivateKeySigner::random());
    let (nonce, id) = (B256::repeat_byte(7), PaymentId::random());
    let terms = Terms::new(&offer, 0, signer.address(), nonce, id, 2_000_000_000).unwrap();
    let payment = Wallet::evm(signer).sign(&terms).await.unwrap();
    let now = Timestamp::from_secs(1_900_000_000);
    let mut purchase = Purchase::new(PurchaseKey::random(), terms.payment_id().clone());
    purchase.accept(terms, now).unwrap();
    purchase.handle_signed(payment.clone()).unwrap();
    purchase.handle_persisted(payment).unwrap();
    let mut fields = HeaderMap::new();
    purchase.show(now).unwrap().write(&mut fields);
    let header = fields.get(headers::PAYMENT_SIGNATURE).unwrap();
    serde_json::from_slice(&STANDARD.decode(header).unwrap()).unwrap()
}

/// USDC on Base Sepolia.
pub(crate) const USDC: &str = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
