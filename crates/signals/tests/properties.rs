//! What holds for any reply, however hostile.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use paywait_signals::{
    Action, FailureClass, OfferStanding, Policy, Reason, ReceiptStanding, Reply, Standing,
    Timestamp, classify, retry_after, windows,
};
use proptest::prelude::*;

const NAMES: [&str; 13] = [
    "age",
    "date",
    "ratelimit",
    "ratelimit-policy",
    "retry-after",
    "retry-after-ms",
    "stripe-should-retry",
    "www-authenticate",
    "x-amz-retry-after",
    "x-ms-retry-after-ms",
    "x-ratelimit-retry-after",
    "x-retry-after",
    "x-should-retry",
];

const NOW: Timestamp = Timestamp::from_secs(1_796_040_000);

fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..40),
        "[0-9]{1,22}(\\.[0-9]{0,22})?".prop_map(String::into_bytes),
        "([0-9]{1,4}(d|h|m|s|ms|us|ns)){1,4}".prop_map(String::into_bytes),
        "(\"[a-z]{0,3}\"|[a-z]{1,3})(;(r|t|a|w|q|qu|pk)=(-?[0-9]{1,16}|:[a-z]{0,4}:)){0,5},?"
            .prop_map(String::into_bytes),
        "(Mon|Tue), [0-9]{2} (Nov|Feb) [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT"
            .prop_map(String::into_bytes),
        "[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{0,12})?(Z|[+-][0-9]{2}:[0-9]{2})"
            .prop_map(String::into_bytes),
        "(Payment|Bearer|L402)( [a-z]=\"?[a-z,\\\\]{0,4}\"?){0,3},".prop_map(String::into_bytes),
        prop_oneof![Just("true"), Just("false")].prop_map(|word| word.as_bytes().to_vec()),
    ]
}

fn headers() -> impl Strategy<Value = HeaderMap> {
    let line = (proptest::sample::select(&NAMES[..]), value());
    proptest::collection::vec(line, 0..8).prop_map(|lines| {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                headers.append(HeaderName::from_static(name), value);
            }
        }
        headers
    })
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    let json = "\\{\"(error|type|message)\":(\\{\"(code|type|metadata|details)\":(\"[a-z_]{0,12}\"|[0-9]{1,9}|null|\\{\"raw\":\"[a-z{}\\[\\]:,]{0,9}\"\\}),?){0,3}[\"}\\]]{0,6}";
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200),
        json.prop_map(String::into_bytes),
    ]
}

fn receipt() -> impl Strategy<Value = ReceiptStanding> {
    let class = prop_oneof![
        Just(FailureClass::BeforeBroadcast),
        Just(FailureClass::AlreadyUsed),
        Just(FailureClass::Unknown),
    ];
    prop_oneof![
        Just(ReceiptStanding::None),
        Just(ReceiptStanding::Unreadable),
        Just(ReceiptStanding::Settled),
        Just(ReceiptStanding::Pending),
        (class, "[ -~]{0,20}")
            .prop_map(|(class, reason)| ReceiptStanding::Failed { class, reason }),
    ]
}

fn standing() -> impl Strategy<Value = Standing> {
    let offer = prop_oneof![
        Just(OfferStanding::None),
        Just(OfferStanding::Payable),
        Just(OfferStanding::Unreadable),
    ];
    (offer, receipt(), any::<(bool, bool)>()).prop_map(|(offer, receipt, (paid, again))| {
        let mut standing = if paid {
            Standing::paid(receipt, again)
        } else {
            Standing::unpaid()
        };
        standing.offer = offer;
        standing
    })
}

fn status() -> impl Strategy<Value = StatusCode> {
    let status = prop_oneof![100_u16..=999, Just(402), Just(403), Just(429), Just(503)];
    status.prop_map(|status| StatusCode::from_u16(status).unwrap_or(StatusCode::TOO_MANY_REQUESTS))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics_and_nothing_named_is_above_a_year(
        headers in headers(), body in body(), status in status(), standing in standing(),
        now in any::<u64>(),
    ) {
        let now = Timestamp::from_millis(now);
        let year = Duration::from_secs(31_536_000);
        let reply = Reply::new(status, &headers, &body);
        classify(reply, &standing, &Policy::default(), now);
        for window in windows(&headers, now) {
            prop_assert!(window.reset.is_none_or(|reset| reset <= year));
        }
        prop_assert!(retry_after(&headers, now).is_none_or(|hint| hint.wait <= year));
    }

    #[test]
    fn a_wait_is_never_above_the_ceiling_and_never_sooner_than_told(
        headers in headers(), body in body(), status in status(), standing in standing(),
        ceiling in 0_u64..200_000,
    ) {
        let ceiling = Duration::from_millis(ceiling);
        let policy = Policy::default().wait_ceiling(ceiling);
        let decision = classify(Reply::new(status, &headers, &body), &standing, &policy, NOW);
        let hint = retry_after(&headers, NOW);
        match decision.action {
            Action::Wait(wait) => {
                prop_assert!(wait <= ceiling);
                prop_assert!(hint.is_none_or(|hint| wait >= hint.wait));
                prop_assert_eq!(decision.come_back, Some(NOW.saturating_add(wait)));
            }
            // both come back when the client likes: no word of the server may stand against it
            Action::Backoff => prop_assert_eq!(hint, None),
            Action::Failover => {
                prop_assert!(hint.is_none() || decision.reason == Reason::WaitTooLong);
            }
            Action::Pay | Action::Stop => {}
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn a_wait_is_as_long_as_the_longest_of_all_that_is_named(
        seconds in proptest::collection::vec(0_u64..300, 0..3),
        millis in proptest::collection::vec(0_u64..300_000, 0..3),
        status in status(),
    ) {
        let mut headers = HeaderMap::new();
        for value in &seconds {
            headers.append("retry-after", HeaderValue::from(*value));
        }
        for value in &millis {
            headers.append("retry-after-ms", HeaderValue::from(*value));
        }
        let policy = Policy::default().wait_ceiling(Duration::MAX);
        let reply = Reply::new(status, &headers, b"");
        let decision = classify(reply, &Standing::unpaid(), &policy, NOW);
        if let Action::Wait(wait) = decision.action {
            let finest = millis.iter().copied().max();
            for second in seconds {
                let coarse = Duration::from_secs(second);
                // seconds that are the milliseconds rounded up name the same instant
                let rounded = finest.is_some_and(|fine| {
                    let fine = Duration::from_millis(fine);
                    let rest = coarse.checked_sub(fine);
                    rest.is_some_and(|rest| rest < Duration::from_secs(1))
                });
                prop_assert!(wait >= coarse || rounded);
            }
            prop_assert!(wait >= Duration::from_millis(finest.unwrap_or(0)));
        }
    }

    #[test]
    fn money_that_moved_is_never_followed_by_another_purchase(
        headers in headers(), body in body(), status in status(),
    ) {
        let standing = Standing::paid(ReceiptStanding::Settled, false);
        let reply = Reply::new(status, &headers, &body);
        let decision = classify(reply, &standing, &Policy::default(), NOW);
        prop_assert_eq!(decision.action, Action::Stop);
        prop_assert_eq!(decision.reason, Reason::SettledAlready);
    }

    #[test]
    fn only_an_unpaid_402_with_an_offer_is_paid(
        headers in headers(), body in body(), status in status(), standing in standing(),
    ) {
        let reply = Reply::new(status, &headers, &body);
        let decision = classify(reply, &standing, &Policy::default(), NOW);
        let payable = status == StatusCode::PAYMENT_REQUIRED
            && !standing.paid
            && standing.offer == OfferStanding::Payable;
        prop_assert_eq!(decision.action == Action::Pay, payable);
    }
}
