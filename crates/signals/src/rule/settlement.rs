//! A request that carried a payment: what became of the money decides before anything else.

use std::borrow::Cow;

use crate::refusal::Refusal;
use crate::{Action, Decision, FailureClass, OfferStanding, Reason, ReceiptStanding, Signal, rule};

/// Stops where going on would buy again; otherwise goes on only with the same bytes.
pub(super) fn decide(refusal: &Refusal<'_>) -> Option<Decision> {
    if !refusal.standing.paid {
        return None;
    }
    match &refusal.standing.receipt {
        ReceiptStanding::Settled => Some(moved(refusal, Reason::SettledAlready, None)),
        ReceiptStanding::Pending => {
            let code = Some("settlement_pending");
            Some(moved(refusal, Reason::SettlementPending, code))
        }
        ReceiptStanding::Failed { class, reason } => Some(failed(refusal, *class, reason)),
        ReceiptStanding::Unreadable if refusal.status == 402 => {
            Some(refusal.stop(Reason::PaymentFailed, Signal::Payment))
        }
        ReceiptStanding::Unreadable => Some(moved(refusal, Reason::SettlementUnknown, None)),
        ReceiptStanding::None => without_receipt(refusal),
    }
}

/// The seller says that this send did not settle; what that is worth depends on its class.
fn failed(refusal: &Refusal<'_>, class: FailureClass, reason: &str) -> Decision {
    match class {
        FailureClass::AlreadyUsed => moved(refusal, Reason::SettledAlready, Some(reason)),
        FailureClass::Unknown => moved(refusal, Reason::SettlementUnknown, Some(reason)),
        FailureClass::BeforeBroadcast => payment_failed(refusal, Signal::Payment, Some(reason)),
    }
}

/// Money moved, or may have. Another purchase would be a second one, so only the same bytes may
/// be shown again: then status and hints say when, and the reason is kept.
fn moved(refusal: &Refusal<'_>, reason: Reason, code: Option<&str>) -> Decision {
    let code = code.map(str::to_owned);
    if !refusal.standing.may_show_again || !matches!(refusal.status, 402 | 429 | 500..) {
        let stop = refusal.stop(reason, Signal::Payment);
        return Decision {
            provider_code: code.or_else(|| stop.provider_code.clone()),
            ..stop
        };
    }
    let plain = rule::decide_apart_from_payment(refusal);
    let action = match (plain.action, plain.reason) {
        (Action::Wait(floor), _) => Action::Wait(floor),
        (Action::Stop, Reason::Unfunded | Reason::PaymentFailed) => Action::Backoff,
        (Action::Stop, _) | (Action::Failover, Reason::WaitTooLong) => Action::Stop,
        // no other upstream has this purchase
        (Action::Backoff | Action::Failover | Action::Pay, _) => Action::Backoff,
    };
    Decision {
        action,
        reason,
        needs_person: action == Action::Stop && reason.needs_person(),
        provider_code: code.or(plain.provider_code),
        ..plain
    }
}

/// No receipt came. A status that x402 gives to a payment speaks of the payment.
fn without_receipt(refusal: &Refusal<'_>) -> Option<Decision> {
    let told = error(refusal);
    let code = told.as_ref().map(|(_, code)| code.as_ref());
    let signal = || {
        told.as_ref()
            .map_or(Signal::Status, |(pointer, _)| body(pointer))
    };
    match refusal.status {
        402 if refusal.standing.offer != OfferStanding::None || is_x402(refusal) => {
            Some(payment_failed(refusal, signal(), code))
        }
        400 if code == Some(IDENTIFIER_MISSING) => Some(Decision {
            provider_code: code.map(str::to_owned),
            ..refusal.stop(Reason::BadRequest, signal())
        }),
        400 | 412 => Some(payment_failed(refusal, signal(), code)),
        409 => Some(refusal.stop(Reason::Conflict, Signal::Status)),
        500.. => Some(moved(refusal, Reason::SettlementUnknown, None)),
        _ => None,
    }
}

fn payment_failed(refusal: &Refusal<'_>, signal: Signal, code: Option<&str>) -> Decision {
    let stop = refusal.stop(Reason::PaymentFailed, signal);
    Decision {
        needs_person: code.is_some_and(is_empty_wallet),
        provider_code: code.map(str::to_owned).or(stop.provider_code),
        ..stop
    }
}

/// Returns the error of an x402 body and where it stands. The error is a text at the top; the
/// sellers that settle by hand put the code into `details`.
fn error<'a>(refusal: &'a Refusal<'_>) -> Option<(&'static str, Cow<'a, str>)> {
    ["/details", "/error"].into_iter().find_map(|pointer| {
        let code = refusal.body.code(pointer)?;
        is_slug(&code).then_some((pointer, code))
    })
}

/// The body of an x402 error has its error as a text, where others have an object.
fn is_x402(refusal: &Refusal<'_>) -> bool {
    refusal.body.text("/error").is_some()
}

/// A code of x402 is in lower-case words, joined by underscores.
fn is_slug(code: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    code.contains('_') && code.bytes().all(word)
}

/// A payer that lacks the money needs somebody to bring it.
fn is_empty_wallet(code: &str) -> bool {
    code.contains("insufficient_funds") || code.contains("insufficient_balance")
}

const fn body(pointer: &'static str) -> Signal {
    Signal::Body(Cow::Borrowed(pointer))
}

/// What a seller says that requires the payment-identifier extension.
const IDENTIFIER_MISSING: &str = "payment_identifier_required";
