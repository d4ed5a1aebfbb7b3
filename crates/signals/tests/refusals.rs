//! Replays a corpus of refusals: status, headers, body and payment, to the decision.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use std::time::Duration;

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use paywait_signals::{
    Action, Decision, FailureClass, OfferStanding, Policy, ReceiptStanding, Reply, Standing,
    Timestamp, classify,
};
use serde_json::Value;

const CORPUS: &str = include_str!("corpus/refusals.json");

/// A case is left out only by a rule: it needs a text to be read, or a wait that is named in
/// neither a wait header nor a structured field.
#[test]
fn every_uncontested_refusal_is_decided_as_expected() {
    let corpus: Value = serde_json::from_str(CORPUS).unwrap();
    let now = Timestamp::from_secs(corpus["now_epoch"].as_u64().unwrap());
    let ceiling = Duration::from_millis(corpus["wait_ceiling_ms"].as_u64().unwrap());
    let policy = Policy::default().wait_ceiling(ceiling);
    let mut replayed = 0;
    let mut wrong = 0;
    for case in corpus["cases"].as_array().unwrap() {
        if needs_text(case) || needs_other_hint(case) {
            continue;
        }
        replayed += 1;
        let headers = headers(case);
        let body = case["body"].as_str().unwrap().as_bytes();
        let status = u16::try_from(case["status"].as_u64().unwrap()).unwrap();
        let reply = Reply::new(StatusCode::from_u16(status).unwrap(), &headers, body);
        let decision = classify(reply, &standing(case, &headers), &policy, now);
        let Some(difference) = difference(case, &decision) else {
            continue;
        };
        let contested = case["contested"] == true;
        let label = if contested { "contested" } else { "WRONG" };
        println!("{label} {}: {difference}", case["id"]);
        wrong += usize::from(!contested);
    }
    assert!(replayed > 100, "{replayed} cases replayed");
    assert_eq!(wrong, 0, "uncontested cases disagree");
}

/// Whether the expected reason is in no code: the code of the case is missing, a bare number or
/// one of the broad types, so that only the text tells.
fn needs_text(case: &Value) -> bool {
    let told_by_code_only = [
        "out_of_credit",
        "spend_limit",
        "usage_cap",
        "billing",
        "daily_quota",
        "no_provider",
        "moderation",
        "ramp_too_fast",
    ];
    let reason = case["expect"]["reason"].as_str().unwrap();
    let code = case["expect"]["provider_code"].as_str().unwrap_or_default();
    let broad = ["", "invalid_request_error", "rate_limit_error"].contains(&code)
        || code.bytes().all(|byte| byte.is_ascii_digit());
    told_by_code_only.contains(&reason) && broad
}

/// Whether a wait is expected that stands in no wait header and in no structured field.
fn needs_other_hint(case: &Value) -> bool {
    let expected = &case["expect"];
    let waits = expected["decision"] == "wait" || expected["reason"] == "wait_too_long";
    let lines = case["headers"].as_array().unwrap();
    let named = lines.iter().any(|line| {
        let name = line[0].as_str().unwrap().to_ascii_lowercase();
        name.contains("retry-after")
            || (name == "ratelimit" && line[1].as_str().unwrap().starts_with('"'))
    });
    waits && !named
}

fn difference(case: &Value, decision: &Decision) -> Option<String> {
    let expected = &case["expect"];
    let (action, wait) = match decision.action {
        Action::Pay => ("pay", None),
        Action::Wait(wait) => ("wait", Some(u64::try_from(wait.as_millis()).unwrap())),
        Action::Backoff => ("backoff", None),
        Action::Failover => ("failover", None),
        Action::Stop => ("stop", None),
        _ => ("another", None),
    };
    let reason = decision.reason.to_string();
    let also = case["also_accept_reason"].as_array();
    let same_reason = expected["reason"] == reason
        || also.is_some_and(|also| also.iter().any(|one| *one == reason));
    let same_wait = match (expected["wait_ms"].as_u64(), wait) {
        (Some(expected), Some(wait)) => (expected..=expected.saturating_add(1_000)).contains(&wait),
        (expected, wait) => expected == wait,
    };
    let same_code = match expected["provider_code"].as_str() {
        Some(code) => decision.provider_code.as_deref() == Some(code),
        None => true,
    };
    let same_person = expected["human_action"] == decision.needs_person;
    let same = expected["decision"] == action
        && same_reason
        && same_wait
        && same_code
        && (same_person || expected["reason"] != reason);
    (!same).then(|| format!("expected {expected}, got {decision:?}"))
}

/// What whoever paid would tell of this case.
fn standing(case: &Value, headers: &HeaderMap) -> Standing {
    let body: Value = serde_json::from_str(case["body"].as_str().unwrap()).unwrap_or_default();
    let offered = headers.get("payment-required");
    let offer = match (payable(&body), offered.map(decoded)) {
        (true, _) => OfferStanding::Payable,
        (false, Some(Some(offer))) if payable(&offer) => OfferStanding::Payable,
        (false, Some(_)) => OfferStanding::Unreadable,
        (false, None) => OfferStanding::None,
    };
    if case["request"]["paid"] != true {
        return Standing::offered(offer);
    }
    let receipt = headers
        .get("payment-response")
        .or_else(|| headers.get("x-payment-response"))
        .map_or(ReceiptStanding::None, receipt);
    let mut standing = Standing::paid(receipt, false);
    standing.offer = offer;
    if let (Some(offer), true) = (
        offered.and_then(decoded),
        standing.receipt == ReceiptStanding::None,
    ) {
        standing.receipt = refused_with(&offer);
    }
    standing
}

/// A seller that refuses before it settles says why in the offer that it repeats.
fn refused_with(offer: &Value) -> ReceiptStanding {
    match offer["error"].as_str() {
        Some(reason) => ReceiptStanding::Failed {
            class: FailureClass::BeforeBroadcast,
            reason: reason.to_owned(),
        },
        None => ReceiptStanding::None,
    }
}

fn payable(offer: &Value) -> bool {
    let entries = offer["accepts"].as_array();
    offer["x402Version"].is_number() && entries.is_some_and(|entries| !entries.is_empty())
}

fn receipt(header: &HeaderValue) -> ReceiptStanding {
    let Some(receipt) = decoded(header) else {
        return ReceiptStanding::Unreadable;
    };
    if receipt["success"] == true {
        return ReceiptStanding::Settled;
    }
    let reason = receipt["errorReason"].as_str().unwrap_or_default();
    let moved = receipt["transaction"]
        .as_str()
        .is_some_and(|hash| !hash.is_empty());
    let class = match (reason, moved) {
        ("settlement_pending", _) => return ReceiptStanding::Pending,
        ("invalid_exact_evm_nonce_already_used", false) => FailureClass::AlreadyUsed,
        ("insufficient_funds", false) => FailureClass::BeforeBroadcast,
        _ => FailureClass::Unknown,
    };
    ReceiptStanding::Failed {
        class,
        reason: reason.to_owned(),
    }
}

fn decoded(header: &HeaderValue) -> Option<Value> {
    let config =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let bytes = [STANDARD, URL_SAFE]
        .iter()
        .find_map(|alphabet| GeneralPurpose::new(alphabet, config).decode(header).ok())?;
    serde_json::from_slice(&bytes).ok()
}

fn headers(case: &Value) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in case["headers"].as_array().unwrap() {
        let name = HeaderName::try_from(line[0].as_str().unwrap()).unwrap();
        let value = HeaderValue::from_str(line[1].as_str().unwrap()).unwrap();
        headers.append(name, value);
    }
    headers
}
