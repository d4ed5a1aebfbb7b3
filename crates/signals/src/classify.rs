//! One refusal to one decision.

use crate::{
    Action, Decision, OfferStanding, Policy, Reason, ReceiptStanding, Reply, Signal, Standing,
    Timestamp, retry_after,
};

/// Returns what to do about one refusal.
pub fn classify(
    reply: Reply<'_>,
    standing: &Standing,
    policy: &Policy,
    now: Timestamp,
) -> Decision {
    let status = reply.status.as_u16();
    let hint = retry_after(reply.headers, now);
    let come_back = hint.as_ref().map(|hint| now.saturating_add(hint.wait));
    let decide = |action, reason, signal| Decision {
        action,
        reason,
        signal,
        come_back,
        provider_code: None,
        needs_person: false,
    };
    if standing.paid && standing.receipt == ReceiptStanding::Settled && !standing.may_show_again {
        return decide(Action::Stop, Reason::SettledAlready, Signal::Payment);
    }
    if status == 402 && !standing.paid && standing.offer == OfferStanding::Payable {
        return decide(Action::Pay, Reason::PaymentOffer, Signal::Payment);
    }
    match (status, hint) {
        (402 | 429 | 503 | 529, Some(hint)) if hint.wait <= policy.wait_ceiling => {
            decide(Action::Wait(hint.wait), Reason::RateLimited, hint.signal)
        }
        (429 | 503 | 529, Some(hint)) => decide(Action::Failover, Reason::WaitTooLong, hint.signal),
        (429, None) => decide(Action::Backoff, Reason::RateLimited, Signal::Status),
        (500.., _) => decide(Action::Failover, Reason::ServerError, Signal::Status),
        (_, _) => decide(Action::Stop, Reason::Http(status), Signal::Status),
    }
}
