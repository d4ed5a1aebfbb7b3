//! A model of a seller of any kind: what it answers, and what it does with what it was shown.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Value, json};

use crate::chain::{Auth, Chain};

/// What a seller does with one send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) says: Says,
    pub(crate) moves: Moves,
    pub(crate) way: Way,
    pub(crate) asks: Asks,
    /// How long the send is under way, in milliseconds.
    pub(crate) takes: u64,
    /// How far ahead a `Date` claims to be, in seconds.
    pub(crate) date: Option<i64>,
}

/// What the answer says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Says {
    /// As an honest seller does: offers, checks, settles, serves.
    Fair,
    /// A status, with a wait in seconds, and a receipt.
    Status(u16, Option<u64>, Receipt),
    /// 402 and an offer that gives this reason.
    Anew(&'static str),
    /// 412 and an offer that gives this reason.
    Failed(&'static str),
    /// 402 with nothing.
    Bare,
    /// A layer turns the send back: nothing leaves.
    TurnedBack,
}

/// What stands in the receipt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Receipt {
    None,
    Yes,
    Garbled,
    No(&'static str),
    Broadcast(&'static str),
}

/// What becomes of the payment that was shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Moves {
    Never,
    Now,
    /// In a block so many milliseconds later, in time or not.
    Later(u64),
}

/// What happens to request and answer on their way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Way {
    Whole,
    RequestLost,
    AnswerLost,
    /// No connection came about.
    Unconnected,
    BodyCut,
    /// Delivered twice: the first answer comes, or the last.
    Doubled,
    DoubledLast,
    Elsewhere,
    Redirected,
}

/// What an offer asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asks {
    pub(crate) price: u64,
    /// The price on the other chain, where it is offered.
    pub(crate) other: Option<u64>,
    pub(crate) other_only: bool,
    pub(crate) payee: u8,
    pub(crate) window: u64,
    /// Whether it asks for an identifier, and whether its entry has a field that nobody knows.
    pub(crate) identifier: bool,
    pub(crate) extra: bool,
}

pub(crate) const ASKS: Asks = Asks {
    price: 10_000,
    other: None,
    other_only: false,
    payee: 1,
    window: 120,
    identifier: false,
    extra: false,
};

pub(crate) const FAIR: Turn = Turn {
    says: Says::Fair,
    moves: Moves::Now,
    way: Way::Whole,
    asks: ASKS,
    takes: 40,
    date: None,
};

/// An answer on its way.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) fields: HeaderMap,
    /// Whether it says, in the words of a facilitator, that this send moved nothing.
    pub(crate) denies: bool,
}

/// Takes one request at `now`, and does with the payment what `turn` says.
pub(crate) fn take(turn: &Turn, payment: Option<&Auth>, chain: &mut Chain, now: u64) -> Answer {
    let paid = payment.is_some();
    let says = match (turn.says, payment) {
        (Says::Fair, Some(auth)) => fair(turn, auth, chain, now),
        (Says::Fair, None) => Says::Anew(""),
        (says, _) => says,
    };
    let moves = match turn.says {
        Says::Fair if !matches!(says, Says::Status(200, ..)) => Moves::Never,
        _ => turn.moves,
    };
    if let Some(auth) = payment {
        match moves {
            Moves::Never => {}
            Moves::Now => chain.submit(auth.clone(), now),
            Moves::Later(after) => chain.submit(auth.clone(), now + after),
        }
    }
    answer(turn, says, paid, now)
}

/// What an honest seller says to a payment.
fn fair(turn: &Turn, auth: &Auth, chain: &Chain, now: u64) -> Says {
    let asks = turn.asks;
    let price = if auth.space == SPACES[0] {
        Some(asks.price).filter(|_| !asks.other_only)
    } else {
        asks.other
    };
    if chain.is_used(auth.space, &auth.nonce) {
        Says::Anew("invalid_exact_evm_nonce_already_used")
    } else if Some(auth.value) != price || !auth.to.eq_ignore_ascii_case(&payee(asks.payee)) {
        Says::Anew("No matching payment requirements")
    } else if now / 1_000 + 6 > auth.valid_before {
        Says::Anew("invalid_exact_evm_payload_authorization_valid_before")
    } else {
        Says::Status(200, None, Receipt::Yes)
    }
}

fn answer(turn: &Turn, says: Says, paid: bool, now: u64) -> Answer {
    let mut fields = HeaderMap::new();
    let mut denies = false;
    let status = match says {
        Says::Status(status, wait, receipt) => {
            if let Some(wait) = wait {
                fields.insert("retry-after", wait.into());
            }
            if paid {
                denies = write(receipt, &mut fields);
            }
            status
        }
        Says::Anew(reason) | Says::Failed(reason) => {
            put(&mut fields, "payment-required", &offer(turn.asks, reason));
            denies = is_before_broadcast(reason);
            if says == Says::Failed(reason) {
                412
            } else {
                402
            }
        }
        Says::Bare | Says::Fair | Says::TurnedBack => 402,
    };
    if let Some(ahead) = turn.date {
        let secs = (now / 1_000).saturating_add_signed(ahead);
        let date = std::time::UNIX_EPOCH + std::time::Duration::from_secs(secs);
        let date = httpdate::fmt_http_date(date);
        fields.insert("date", date.parse().unwrap());
    }
    Answer {
        status: StatusCode::from_u16(status).unwrap(),
        fields,
        denies: denies && paid,
    }
}

/// Writes a receipt; returns whether it denies.
fn write(receipt: Receipt, fields: &mut HeaderMap) -> bool {
    let value = match receipt {
        Receipt::None => return false,
        Receipt::Garbled => {
            fields.insert("payment-response", HeaderValue::from_static("!!"));
            return false;
        }
        Receipt::Yes => json!({"success": true, "transaction": "0x1234567890"}),
        Receipt::No(reason) => {
            json!({"success": false, "errorReason": reason, "transaction": ""})
        }
        Receipt::Broadcast(reason) => {
            json!({"success": false, "errorReason": reason, "transaction": "0x1234567890"})
        }
    };
    put(fields, "payment-response", &value);
    matches!(receipt, Receipt::No(reason) if is_before_broadcast(reason))
}

fn offer(asks: Asks, reason: &str) -> Value {
    let way = |place: usize, amount: u64| {
        let mut way = json!({
            "scheme": "exact", "network": format!("eip155:{}", SPACES[place]),
            "amount": amount.to_string(), "asset": TOKENS[place], "payTo": payee(asks.payee),
            "maxTimeoutSeconds": asks.window, "extra": {"name": NAMES[place], "version": "2"},
        });
        if asks.extra {
            way["note"] = json!("of the seller's own");
        }
        way
    };
    let mut ways = Vec::new();
    if !asks.other_only {
        ways.push(way(0, asks.price));
    }
    ways.extend(asks.other.map(|price| way(1, price)));
    let mut offer = json!({"x402Version": 2, "error": reason, "accepts": ways});
    if asks.identifier {
        offer["extensions"] = json!({"payment-identifier": {"info": {"required": true}}});
    }
    offer
}

fn payee(number: u8) -> String {
    format!("0x{}", format!("{number:02x}").repeat(20))
}

fn put(fields: &mut HeaderMap, name: &'static str, value: &Value) {
    fields.insert(name, STANDARD.encode(value.to_string()).parse().unwrap());
}

fn is_before_broadcast(reason: &str) -> bool {
    BEFORE_BROADCAST.contains(&reason)
}

/// The chains on which a dollar token is known.
pub(crate) const SPACES: [u64; 2] = [84_532, 8_453];

const TOKENS: [&str; 2] = [
    "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
];

const NAMES: [&str; 2] = ["USDC", "USD Coin"];

/// Reasons that are given before anything is broadcast.
pub(crate) const BEFORE_BROADCAST: [&str; 5] = [
    "insufficient_funds",
    "No matching payment requirements",
    "invalid_exact_evm_payload_authorization_valid_before",
    "invalid_exact_evm_authorization_value",
    "invalid_exact_evm_payload_signature",
];

/// Reasons that say that the nonce was used, and reasons that say nothing.
pub(crate) const OTHER_REASONS: [&str; 7] = [
    "invalid_exact_evm_nonce_already_used",
    "duplicate_settlement",
    "invalid_exact_evm_transaction_failed",
    "unexpected_settle_error",
    "fetch failed",
    "settlement_pending",
    "",
];
