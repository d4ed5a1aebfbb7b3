//! The headers and the body of a refusal.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use paywait_signals::{
    Action, FailureClass, OfferStanding, Policy, ReceiptStanding, Reply, Standing, Timestamp,
    classify, clock_ahead, retry_after, windows,
};

/// Reads a status, lines of headers, an empty line and a body.
pub(crate) fn check(data: &[u8]) {
    let mut lines = Lines(data);
    let status = lines
        .next()
        .and_then(|line| StatusCode::from_bytes(line).ok());
    let status = status.unwrap_or(StatusCode::TOO_MANY_REQUESTS);
    let mut fields = HeaderMap::new();
    for line in lines.by_ref().take_while(|line| !line.is_empty()).take(64) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            continue;
        };
        let (name, value) = line.split_at(colon);
        let value = value.get(1..).unwrap_or_default().trim_ascii();
        let name = HeaderName::from_bytes(name);
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value)) {
            fields.append(name, value);
        }
    }
    holds(Reply::new(status, &fields, lines.0));
}

/// Nothing is sooner than told, longer than the caller allows, or larger than can be kept.
fn holds(reply: Reply<'_>) {
    let hint = retry_after(reply.headers, NOW);
    let told = hint.map(|hint| hint.wait).unwrap_or_default();
    assert!(told <= LONGEST);
    for window in windows(reply.headers, NOW) {
        assert!(window.reset.unwrap_or_default() <= LONGEST);
        assert!(window.length.unwrap_or_default() <= LONGEST);
    }
    let _ahead = clock_ahead(reply.headers, NOW);
    let policy = Policy::default();
    for standing in standings() {
        let decision = classify(reply, &standing, &policy, NOW);
        let code = decision.provider_code.as_deref().unwrap_or_default();
        assert!(code.len() <= 256 && !code.chars().any(char::is_control));
        if let Action::Wait(wait) = decision.action {
            assert!(told <= wait && wait <= policy.wait_ceiling, "{decision:?}");
        }
        if decision.action == Action::Backoff {
            assert!(told <= policy.wait_ceiling, "{told:?} and {decision:?}");
        }
        if decision.action == Action::Pay {
            assert!(standing.offer == OfferStanding::Payable && !standing.paid);
        }
    }
}

fn standings() -> [Standing; 5] {
    let failed = |class| ReceiptStanding::Failed {
        class,
        reason: "insufficient_funds".to_owned(),
    };
    [
        Standing::unpaid(),
        Standing::offered(OfferStanding::Payable),
        Standing::offered(OfferStanding::Unreadable),
        Standing::paid(ReceiptStanding::None, true),
        Standing::paid(failed(FailureClass::Unknown), false),
    ]
}

struct Lines<'a>(&'a [u8]);

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.0.is_empty() {
            return None;
        }
        let end = self.0.iter().position(|byte| *byte == b'\n');
        let (line, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest.get(1..).unwrap_or_default();
        Some(line)
    }
}

const NOW: Timestamp = Timestamp::from_secs(1_796_040_000);

const LONGEST: Duration = Duration::from_secs(31_536_000);
