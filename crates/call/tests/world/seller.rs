//! A model of a seller and of the chain behind it: what it answers, and what it counts.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Value, json};

use crate::script::{Says, Turn};

/// A seller, and the chain behind it.
#[derive(Debug, Default)]
pub(crate) struct Seller {
    /// How often each nonce settled. The chain lets each settle once (EIP-3009).
    settled: BTreeMap<String, u32>,
    /// The payments that were shown, byte for byte.
    pub(crate) shown: BTreeSet<Vec<u8>>,
    /// How often what is sold was made.
    pub(crate) runs: u32,
    /// Whether it denied in one breath what it did.
    pub(crate) lied: bool,
}

/// An answer of a seller.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) fields: HeaderMap,
}

impl Seller {
    /// How often money moved.
    pub(crate) fn settlements(&self) -> u32 {
        self.settled.values().sum()
    }

    /// Takes one request; `None` is no answer.
    pub(crate) fn take(
        &mut self,
        turn: Turn,
        payment: Option<&HeaderValue>,
        now: u64,
    ) -> Option<Reply> {
        if let Some(payment) = payment {
            self.shown.insert(payment.as_bytes().to_vec());
        }
        let (moves, makes) = match turn.says {
            Says::Fair | Says::Garbled => (true, payment.is_some()),
            Says::Refuses { moves, .. } => (moves, moves),
            Says::Lost { left, moves, .. } => (left && moves, left && moves),
            Says::Fails { moves, .. } | Says::OffersAnew { moves, .. } => (moves, false),
            Says::Nonsense { moves } => (moves, false),
            Says::Gives => (false, true),
            Says::TurnedBack => (false, false),
        };
        self.runs += u32::from(makes);
        let moved = moves && payment.is_some_and(|payment| self.settle(payment, now));
        self.lied |= moved && turn.says.denies();
        answer(turn, payment.is_some())
    }

    /// Cashes a payment, if the chain lets it. Returns whether money moved.
    fn settle(&mut self, payment: &HeaderValue, now: u64) -> bool {
        let payload = decoded(payment);
        let field = |name: &str| {
            let pointer = format!("/payload/authorization/{name}");
            payload
                .pointer(&pointer)
                .and_then(Value::as_str)
                .unwrap()
                .to_owned()
        };
        let expires: u64 = field("validBefore").parse().unwrap();
        let nonce = field("nonce");
        if now / 1_000 >= expires || self.settled.contains_key(&nonce) {
            return false;
        }
        self.settled.insert(nonce, 1);
        true
    }
}

fn answer(turn: Turn, paid: bool) -> Option<Reply> {
    let mut fields = HeaderMap::new();
    let status = match turn.says {
        Says::TurnedBack | Says::Lost { .. } => return None,
        Says::Gives => 200,
        Says::Refuses {
            status,
            wait,
            moves,
            receipt,
        } => {
            if receipt && moves && paid {
                put(&mut fields, "payment-response", &success());
            }
            if let Some(wait) = wait {
                fields.insert("retry-after", wait.into());
            }
            status
        }
        Says::Nonsense { .. } => {
            fields.insert("payment-required", HeaderValue::from_static("!!"));
            402
        }
        Says::OffersAnew { reason, .. } => {
            put(&mut fields, "payment-required", &offer(reason, turn));
            402
        }
        _ if !paid => {
            put(&mut fields, "payment-required", &offer("", turn));
            402
        }
        Says::Fails { reason, hash, .. } => {
            let hash = if hash { "0x1234567890" } else { "" };
            let receipt = json!({"success": false, "errorReason": reason, "transaction": hash});
            put(&mut fields, "payment-response", &receipt);
            402
        }
        Says::Garbled => {
            fields.insert("payment-response", HeaderValue::from_static("!!"));
            200
        }
        Says::Fair => {
            put(&mut fields, "payment-response", &success());
            200
        }
    };
    let status = StatusCode::from_u16(status).unwrap();
    Some(Reply { status, fields })
}
/// The payment that a header holds.
pub(crate) fn decoded(payment: &HeaderValue) -> Value {
    serde_json::from_slice(&STANDARD.decode(payment.as_bytes()).unwrap()).unwrap()
}

fn success() -> Value {
    json!({"success": true, "transaction": "0x1234567890"})
}

fn offer(reason: &str, turn: Turn) -> Value {
    let way = |network: &str, amount: u64| {
        json!({
            "scheme": "exact", "network": network, "amount": amount.to_string(),
            "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
            "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C", "maxTimeoutSeconds": 120,
            "extra": {"name": "USDC", "version": "2"},
        })
    };
    let mut ways = vec![way("eip155:84532", turn.price)];
    if turn.others {
        ways.insert(0, way("eip155:1", 1));
        ways.insert(0, json!({"scheme": "upto"}));
    }
    json!({"x402Version": 2, "error": reason, "accepts": ways})
}

fn put(fields: &mut HeaderMap, name: &'static str, value: &Value) {
    fields.insert(name, STANDARD.encode(value.to_string()).parse().unwrap());
}
