//! Each bound from both sides: what is just within is read, and what is just beyond says nothing.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use paywait_signals::{
    Action, Decision, Policy, Reply, Standing, Timestamp, classify, retry_after, windows,
};

fn headers(name: &'static str, values: &[&str]) -> HeaderMap {
    let values = values.iter().map(|value| HeaderValue::from_str(value));
    let name = HeaderName::from_static(name);
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append(name.clone(), value.unwrap());
    }
    headers
}

fn decide(status: u16, headers: &HeaderMap, body: &str) -> Decision {
    let status = StatusCode::from_u16(status).unwrap();
    let reply = Reply::new(status, headers, body.as_bytes());
    classify(reply, &Standing::unpaid(), &Policy::default(), NOW)
}

/// The code that is read of a body.
fn code(body: &str) -> Option<String> {
    decide(429, &HeaderMap::new(), body).provider_code
}

fn wait(name: &'static str, value: &str) -> Option<u64> {
    let hint = retry_after(&headers(name, &[value]), NOW);
    hint.map(|hint| hint.wait.as_secs())
}

#[test]
fn a_body_is_read_up_to_64_kib_and_beyond_it_counts_as_cut() {
    let ends_at = |length: usize| {
        let (start, end) = (r#"{"error":{"x":""#, r#"","code":"slow_down"}}"#);
        format!(
            "{start}{}{end}",
            "x".repeat(length - start.len() - end.len())
        )
    };
    assert_eq!(code(&ends_at(64 * 1024)).as_deref(), Some("slow_down"));
    // cut within its last member, which is no member any more
    assert_eq!(code(&ends_at(64 * 1024 + 4)), None);
}

#[test]
fn a_code_has_at_most_128_bytes() {
    let of = |length: usize| format!(r#"{{"error":{{"code":"{}"}}}}"#, "x".repeat(length));
    assert_eq!(code(&of(128)).map(|code| code.len()), Some(128));
    assert_eq!(code(&of(129)), None);
}

#[test]
fn a_problem_type_has_at_most_256_bytes() {
    let start = "https://seller.example/problems/";
    let of = |length: usize| {
        let name = "x".repeat(length - start.len());
        format!(r#"{{"type":"{start}{name}"}}"#)
    };
    assert!(code(&of(256)).is_some());
    assert_eq!(code(&of(257)), None);
}

#[test]
fn the_name_of_a_payment_problem_has_at_most_128_bytes_and_can_be_shown() {
    let of = |name: &str| {
        let body = format!(r#"{{"type":"https://paymentauth.org/problems/{name}"}}"#);
        decide(402, &HeaderMap::new(), &body).provider_code
    };
    assert_eq!(of(&"x".repeat(128)).map(|code| code.len()), Some(128));
    assert_eq!(of(&"x".repeat(129)), None);
    assert_eq!(of(r"\u001b[2Jsold"), None, "it could write to a terminal");
}

#[test]
fn a_body_nests_up_to_127_deep_whether_it_is_whole_or_cut() {
    let whole = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"error":{{"code":"slow_down","x":{open}1{close}}}}}"#)
    };
    let cut = |depth: usize| {
        let open = "[".repeat(depth);
        format!(r#"{{"error":{{"code":"slow_down","x":{open}1,2"#)
    };
    // the two objects count too
    for body in [whole(125), cut(125)] {
        assert_eq!(code(&body).as_deref(), Some("slow_down"));
    }
    for body in [whole(126), cut(127)] {
        assert_eq!(code(&body), None);
    }
}

#[test]
fn a_wait_is_at_most_a_year() {
    let year = 365 * 86_400;
    for name in ["retry-after", "x-retry-after"] {
        assert_eq!(wait(name, &year.to_string()), Some(year));
        assert_eq!(wait(name, &(year + 1).to_string()), Some(year));
        assert_eq!(wait(name, &"9".repeat(400)), Some(year));
    }
    for value in ["31536000001", &"9".repeat(400)] {
        assert_eq!(wait("retry-after-ms", value), Some(year));
    }
    assert_eq!(wait("retry-after", "365d1s"), Some(year));
    let hours = format!("{}:00:00", "9".repeat(60));
    assert_eq!(wait("x-ms-retry-after-ms", &hours), Some(year));
}

#[test]
fn a_date_of_the_last_day_means_now_and_an_older_one_nothing() {
    let of = |ago: u64| {
        let moment = NOW.as_secs() - ago;
        wait("retry-after", &moment.to_string())
    };
    assert_eq!(of(0), Some(0));
    assert_eq!(of(86_400), Some(0));
    // ten digits that are no moment near now are a very long delay
    assert_eq!(of(86_401), Some(365 * 86_400));
    let date = |text: &str| wait("retry-after", text);
    assert_eq!(date("2026-11-29T12:00:00Z"), Some(0));
    assert_eq!(date("2026-11-29T11:59:59Z"), None);
}

#[test]
fn a_structured_field_has_at_most_512_items_over_all_of_its_lines() {
    let of = |lines: &[usize]| {
        let mut count = 0;
        let lines = lines.iter().map(|length| {
            let items = (0..*length).map(|_| {
                count += 1;
                format!("\"w{count}\";r={count}")
            });
            items.collect::<Vec<_>>().join(", ")
        });
        let lines: Vec<String> = lines.collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        windows(&headers("ratelimit", &lines), NOW).len()
    };
    assert_eq!((of(&[512]), of(&[256, 256])), (512, 512));
    assert_eq!((of(&[513]), of(&[257, 256])), (0, 0));
}

#[test]
fn a_structured_field_has_at_most_16_kib() {
    let of = |length: usize| {
        let (start, end) = ("\"d\";r=1;x=\"", "\"");
        let more = "x".repeat(length - start.len() - end.len());
        windows(
            &headers("ratelimit", &[&format!("{start}{more}{end}")]),
            NOW,
        )
        .len()
    };
    assert_eq!((of(16 * 1024), of(16 * 1024 + 1)), (1, 0));
}

#[test]
fn of_violated_policies_sixty_four_are_looked_at() {
    let state = headers("ratelimit", &[r#""a";r=0;t=20, "b";r=0;t=60"#]);
    let of = |before: usize| {
        let mut names = vec!["\"x\""; before];
        names.push("\"a\"");
        let body = format!(r#"{{"violated-policies":[{}]}}"#, names.join(","));
        decide(429, &state, &body).action
    };
    assert_eq!(of(63), Action::Wait(Duration::from_secs(20)));
    // never sooner than told: where no name is known, the latest of all resets counts
    assert_eq!(of(64), Action::Wait(Duration::from_secs(60)));
}

#[test]
fn a_wait_is_kept_up_to_the_ceiling_to_the_millisecond() {
    let of = |millis: &str| decide(429, &headers("retry-after-ms", &[millis]), "").action;
    assert_eq!(of("120000"), Action::Wait(Duration::from_secs(120)));
    assert_eq!(of("120001"), Action::Failover);
}

#[test]
fn time_saturates_at_both_ends() {
    let far = headers("retry-after", &["31536000"]);
    let hint = retry_after(&far, Timestamp::MAX).unwrap();
    assert_eq!(Timestamp::MAX.saturating_add(hint.wait), Timestamp::MAX);
    let reply = Reply::new(StatusCode::TOO_MANY_REQUESTS, &far, &[]);
    let decision = classify(
        reply,
        &Standing::unpaid(),
        &Policy::default(),
        Timestamp::MAX,
    );
    assert_eq!(decision.come_back, Some(Timestamp::MAX));
}

/// 2026-11-30T12:00:00Z.
const NOW: Timestamp = Timestamp::from_secs(1_796_040_000);
