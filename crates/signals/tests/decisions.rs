//! What is decided about one refusal, and which signal said so.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use paywait_signals::{
    Action, Decision, FailureClass, OfferStanding, Policy, Reason, ReceiptStanding, Reply,
    Standing, Timestamp, classify,
};

const NOW: Timestamp = Timestamp::from_secs(1_796_040_000);

/// One refusal: changed from a bare one by what a test cares about.
struct Case {
    status: u16,
    headers: &'static [(&'static str, &'static str)],
    body: &'static str,
    standing: Standing,
    policy: Policy,
}

impl Case {
    fn of(status: u16) -> Self {
        Self {
            status,
            headers: &[],
            body: "",
            standing: Standing::unpaid(),
            policy: Policy::default(),
        }
    }

    fn headers(mut self, headers: &'static [(&'static str, &'static str)]) -> Self {
        self.headers = headers;
        self
    }

    fn body(mut self, body: &'static str) -> Self {
        self.body = body;
        self
    }

    fn standing(mut self, standing: Standing) -> Self {
        self.standing = standing;
        self
    }

    fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    fn decide(self) -> Decision {
        let mut headers = HeaderMap::new();
        for (name, value) in self.headers {
            let value = HeaderValue::from_static(value);
            headers.append(HeaderName::from_static(name), value);
        }
        let status = StatusCode::from_u16(self.status).unwrap();
        let reply = Reply::new(status, &headers, self.body.as_bytes());
        classify(reply, &self.standing, &self.policy, NOW)
    }

    #[track_caller]
    fn gives(self, action: Action, reason: Reason, signal: &str) -> Decision {
        let decision = self.decide();
        let told = decision.signal.to_string();
        assert_eq!(
            (decision.action, decision.reason, told.as_str()),
            (action, reason, signal)
        );
        decision
    }
}

const fn wait(seconds: u64) -> Action {
    Action::Wait(Duration::from_secs(seconds))
}

fn settled(may_show_again: bool) -> Standing {
    Standing::paid(ReceiptStanding::Settled, may_show_again)
}

fn failed(class: FailureClass, reason: &str) -> Standing {
    let reason = reason.to_owned();
    Standing::paid(ReceiptStanding::Failed { class, reason }, false)
}

#[test]
fn an_offer_is_paid_whatever_else_the_reply_says() {
    let case = Case::of(402)
        .headers(&[
            ("retry-after", "60"),
            ("x-should-retry", "false"),
            ("www-authenticate", "Payment id=\"1\""),
        ])
        .body(r#"{"error":{"code":"wallet_empty"}}"#)
        .standing(Standing::offered(OfferStanding::Payable));
    case.gives(Action::Pay, Reason::PaymentOffer, "payment");
}

#[test]
fn an_offer_on_another_status_is_not_paid() {
    for status in [400, 403, 429, 500, 503] {
        let standing = Standing::offered(OfferStanding::Payable);
        let decision = Case::of(status).standing(standing).decide();
        assert_ne!(decision.action, Action::Pay, "{status}");
    }
}

#[test]
fn an_offer_that_cannot_be_read_stops() {
    let case = Case::of(402).standing(Standing::offered(OfferStanding::Unreadable));
    case.gives(Action::Stop, Reason::OfferUnreadable, "payment");
}

#[test]
fn a_price_in_another_scheme_stops_even_where_a_wait_is_named() {
    let case = Case::of(402).headers(&[
        ("www-authenticate", "L402 macaroon=\"x\", invoice=\"y\""),
        ("retry-after", "30"),
    ]);
    let reason = Reason::PaymentSchemeUnsupported;
    let decision = case.gives(Action::Stop, reason, "www-authenticate");
    assert_eq!(decision.provider_code.as_deref(), Some("L402"));
}

#[test]
fn a_402_with_nothing_but_its_status_stops() {
    let decision = Case::of(402).gives(Action::Stop, Reason::Unfunded, "status");
    assert!(decision.needs_person);
}

#[test]
fn a_402_without_an_offer_and_with_a_short_wait_is_money_in_flight() {
    let case = Case::of(402).headers(&[("retry-after", "30")]);
    case.gives(wait(30), Reason::InFlightBudget, "retry-after");
    let case = Case::of(402).headers(&[("retry-after", "300")]);
    let decision = case.gives(Action::Stop, Reason::WaitTooLong, "retry-after");
    assert_eq!(
        decision.come_back,
        Some(Timestamp::from_secs(1_796_040_300))
    );
}

#[test]
fn money_on_hold_waits_as_long_as_told_and_without_a_word_stops() {
    let body = r#"{"error":{"code":402,"metadata":{"reason":"in_flight_budget_exhausted"}}}"#;
    let told = Case::of(402).body(body).headers(&[("retry-after", "15")]);
    told.gives(wait(15), Reason::InFlightBudget, "retry-after");
    let pointer = "/error/metadata/reason";
    Case::of(402)
        .body(body)
        .gives(Action::Stop, Reason::InFlightBudget, pointer);
    let asked = Case::of(402)
        .body(body)
        .headers(&[("x-should-retry", "true")]);
    asked.gives(Action::Backoff, Reason::InFlightBudget, "x-should-retry");
    let long = Case::of(402).body(body).headers(&[("retry-after", "121")]);
    long.gives(Action::Stop, Reason::WaitTooLong, "retry-after");
}

#[test]
fn a_wall_of_money_beats_every_hint_on_every_status() {
    for status in [400, 401, 402, 403, 412, 429, 503] {
        let case = Case::of(status)
            .headers(&[("retry-after", "1"), ("x-should-retry", "true")])
            .body(r#"{"error":{"type":"insufficient_quota","code":"credit_balance_exhausted"}}"#);
        let decision = case.gives(Action::Stop, Reason::OutOfCredit, "/error/code");
        assert!(decision.needs_person);
        assert_eq!(decision.come_back, None);
        assert_eq!(
            decision.provider_code.as_deref(),
            Some("credit_balance_exhausted")
        );
    }
}

#[test]
fn each_billing_code_has_its_reason() {
    let table = [
        ("insufficient_quota", Reason::OutOfCredit),
        ("credit_balance_exhausted", Reason::OutOfCredit),
        ("organization_spend_limit_exceeded", Reason::SpendLimit),
        ("project_spend_limit_exceeded", Reason::SpendLimit),
        ("billing_hard_limit_reached", Reason::SpendLimit),
        ("organization_usage_limit_exceeded", Reason::UsageCap),
        ("billing_not_active", Reason::Billing),
        ("wallet_empty", Reason::OutOfCredit),
        ("insufficient_balance", Reason::OutOfCredit),
    ];
    for (code, reason) in table {
        let body = format!(r#"{{"error":{{"code":"{code}"}}}}"#);
        let case = Case::of(429).body(body.leak());
        case.gives(Action::Stop, reason, "/error/code");
    }
}

#[test]
fn a_monthly_cap_hides_behind_the_type_of_a_rate_limit() {
    let case = Case::of(429).body(
        r#"{"error":{"type":"rate_limit_error",
            "details":{"error_code":"enforced_spend_limit_reached"}}}"#,
    );
    case.gives(Action::Stop, Reason::UsageCap, "/error/details/error_code");
}

#[test]
fn the_wait_that_the_server_names_is_kept_up_to_the_ceiling_and_no_further() {
    let at = Case::of(429).headers(&[("retry-after", "120")]);
    let decision = at.gives(wait(120), Reason::RateLimited, "retry-after");
    assert_eq!(
        decision.come_back,
        Some(Timestamp::from_secs(1_796_040_120))
    );
    let over = Case::of(429).headers(&[("retry-after-ms", "120001"), ("x-should-retry", "true")]);
    let decision = over.gives(Action::Failover, Reason::WaitTooLong, "retry-after-ms");
    assert_eq!(
        decision.come_back,
        Some(Timestamp::from_millis(1_796_040_120_001))
    );
}

#[test]
fn the_ceiling_is_a_setting() {
    let policy = Policy::default().wait_ceiling(Duration::from_secs(5));
    let case = Case::of(429)
        .headers(&[("retry-after", "6")])
        .policy(policy);
    case.gives(Action::Failover, Reason::WaitTooLong, "retry-after");
}

#[test]
fn a_window_that_is_used_up_names_the_wait_where_nothing_else_does() {
    let headers = &[("ratelimit", r#""burst";r=0;t=18, "day";r=5;t=9000"#)];
    Case::of(429)
        .headers(headers)
        .gives(wait(18), Reason::RateLimited, "ratelimit");
    let headers = &[("ratelimit", r#""burst";r=0;t=18"#), ("retry-after", "2")];
    Case::of(429)
        .headers(headers)
        .gives(wait(2), Reason::RateLimited, "retry-after");
}

#[test]
fn a_window_that_the_problem_names_counts_before_the_others() {
    let case = Case::of(429)
        .headers(&[("ratelimit", r#""a";r=0;t=18, "b";r=0;t=60"#)])
        .body(r#"{"type":"https://x/#quota-exceeded","violated-policies":["a"]}"#);
    case.gives(wait(18), Reason::RateLimited, "ratelimit");
}

#[test]
fn a_window_with_something_left_is_no_hint() {
    let case = Case::of(429).headers(&[("ratelimit", r#""burst";r=4;t=18"#)]);
    case.gives(Action::Backoff, Reason::RateLimited, "status");
}

#[test]
fn a_refusal_without_a_hint_is_decided_by_its_status() {
    let table = [
        (400, Action::Stop, Reason::BadRequest),
        (401, Action::Stop, Reason::Auth),
        (403, Action::Stop, Reason::Auth),
        (404, Action::Stop, Reason::NotFound),
        (408, Action::Backoff, Reason::Timeout),
        (409, Action::Backoff, Reason::Conflict),
        (410, Action::Stop, Reason::NotFound),
        (413, Action::Stop, Reason::RequestTooLarge),
        (418, Action::Stop, Reason::Http(418)),
        (422, Action::Stop, Reason::BadRequest),
        (425, Action::Backoff, Reason::TooEarly),
        (429, Action::Backoff, Reason::RateLimited),
        (500, Action::Failover, Reason::ServerError),
        (502, Action::Failover, Reason::ServerError),
        (503, Action::Failover, Reason::Overloaded),
        (504, Action::Failover, Reason::Timeout),
        (529, Action::Failover, Reason::Overloaded),
        (302, Action::Stop, Reason::Http(302)),
    ];
    for (status, action, reason) in table {
        Case::of(status).gives(action, reason, "status");
    }
}

#[test]
fn a_wait_is_kept_on_every_status_that_passes() {
    for status in [403, 408, 409, 424, 425, 429, 498, 500, 502, 503, 504, 529] {
        let decision = Case::of(status).headers(&[("retry-after", "7")]).decide();
        assert_eq!(decision.action, wait(7), "{status}");
    }
}

#[test]
fn a_request_that_is_too_large_does_not_wait() {
    let case = Case::of(413)
        .headers(&[("retry-after", "5")])
        .body(r#"{"error":{"code":"rate_limit_exceeded"}}"#);
    case.gives(Action::Stop, Reason::RequestTooLarge, "status");
}

#[test]
fn a_code_says_why_where_the_status_does_not() {
    let case = Case::of(429).body(r#"{"error":{"type":"rate_limit_error","code":"slow_down"}}"#);
    case.gives(Action::Backoff, Reason::RampTooFast, "/error/code");
    let case = Case::of(400).body(r#"{"error":{"code":"server_is_overloaded"}}"#);
    case.gives(Action::Failover, Reason::Overloaded, "/error/code");
}

#[test]
fn a_veto_stops_what_would_pass_and_does_not_hide_a_better_reason() {
    let veto = &[("x-should-retry", "false"), ("retry-after", "3")];
    Case::of(429)
        .headers(veto)
        .gives(Action::Stop, Reason::VetoedByServer, "x-should-retry");
    Case::of(401)
        .headers(veto)
        .gives(Action::Stop, Reason::Auth, "status");
}

#[test]
fn a_server_that_asks_for_a_retry_gets_one_and_no_sooner_than_told() {
    let asked = &[("x-should-retry", "TRUE")];
    let case = Case::of(400).headers(asked);
    case.gives(Action::Backoff, Reason::ServerAskedRetry, "x-should-retry");
    let case = Case::of(503).headers(asked);
    case.gives(Action::Backoff, Reason::Overloaded, "x-should-retry");
    let told = &[("x-should-retry", "true"), ("retry-after", "9")];
    let case = Case::of(400).headers(told);
    case.gives(wait(9), Reason::ServerAskedRetry, "retry-after");
}

#[test]
fn the_word_of_the_server_on_retries_can_be_ignored() {
    let policy = Policy::default().obey_should_retry(false);
    let case = Case::of(429)
        .headers(&[("x-should-retry", "false")])
        .policy(policy);
    case.gives(Action::Backoff, Reason::RateLimited, "status");
    let case = Case::of(400)
        .headers(&[("x-should-retry", "true")])
        .policy(policy);
    case.gives(Action::Stop, Reason::BadRequest, "status");
}

#[test]
fn abnormal_usage_stops_unless_a_wait_is_named() {
    let body =
        r#"{"type":"https://iana.org/assignments/http-problem-types#abnormal-usage-detected"}"#;
    let decision = Case::of(429)
        .body(body)
        .gives(Action::Stop, Reason::AbnormalUsage, "/type");
    assert!(decision.needs_person);
    let case = Case::of(429).body(body).headers(&[("retry-after", "9")]);
    case.gives(wait(9), Reason::AbnormalUsage, "retry-after");
}

#[test]
fn after_a_settlement_going_on_would_buy_again() {
    for status in [400, 402, 409, 429, 500, 503] {
        let case = Case::of(status)
            .headers(&[("retry-after", "1"), ("x-should-retry", "true")])
            .standing(settled(false));
        let decision = case.gives(Action::Stop, Reason::SettledAlready, "payment");
        assert!(decision.needs_person);
    }
}

#[test]
fn the_same_bytes_may_be_shown_again_as_soon_as_the_server_says() {
    let told = Case::of(429)
        .headers(&[("retry-after", "3")])
        .standing(settled(true));
    let decision = told.gives(wait(3), Reason::SettledAlready, "retry-after");
    assert!(!decision.needs_person);
    let untold = Case::of(500).standing(settled(true));
    untold.gives(Action::Backoff, Reason::SettledAlready, "status");
}

#[test]
fn a_pending_payment_is_shown_again_although_the_reply_is_a_bare_402() {
    let pending = Standing::paid(ReceiptStanding::Pending, true);
    let decision = Case::of(402).standing(pending.clone()).gives(
        Action::Backoff,
        Reason::SettlementPending,
        "status",
    );
    assert_eq!(
        decision.provider_code.as_deref(),
        Some("settlement_pending")
    );
    let told = Case::of(402)
        .headers(&[
            ("retry-after", "15"),
            ("www-authenticate", "Payment id=\"1\""),
        ])
        .standing(pending);
    told.gives(wait(15), Reason::SettlementPending, "retry-after");
}

#[test]
fn the_same_bytes_are_not_shown_again_against_a_wall_a_veto_or_a_long_wait() {
    let wall = Case::of(429)
        .body(r#"{"error":{"code":"insufficient_quota"}}"#)
        .standing(settled(true));
    wall.gives(Action::Stop, Reason::SettledAlready, "/error/code");
    let veto = Case::of(500)
        .headers(&[("x-should-retry", "false")])
        .standing(settled(true));
    veto.gives(Action::Stop, Reason::SettledAlready, "x-should-retry");
    let long = Case::of(503)
        .headers(&[("retry-after", "600")])
        .standing(settled(true));
    let decision = long.gives(Action::Stop, Reason::SettledAlready, "retry-after");
    assert_eq!(
        decision.come_back,
        Some(Timestamp::from_secs(1_796_040_600))
    );
    assert!(decision.needs_person);
}

#[test]
fn the_same_bytes_are_not_shown_again_on_a_final_status() {
    for status in [302, 400, 404, 409] {
        let case = Case::of(status).standing(settled(true));
        case.gives(Action::Stop, Reason::SettledAlready, "payment");
    }
}

#[test]
fn a_statement_of_failure_is_worth_what_its_class_is() {
    let table = [
        (
            FailureClass::BeforeBroadcast,
            "insufficient_funds",
            Reason::PaymentFailed,
            true,
        ),
        (
            FailureClass::BeforeBroadcast,
            "invalid_payload",
            Reason::PaymentFailed,
            false,
        ),
        (
            FailureClass::AlreadyUsed,
            "nonce_already_used",
            Reason::SettledAlready,
            true,
        ),
        (
            FailureClass::Unknown,
            "fetch failed",
            Reason::SettlementUnknown,
            false,
        ),
    ];
    for (class, code, reason, needs_person) in table {
        let case = Case::of(402).standing(failed(class, code));
        let decision = case.gives(Action::Stop, reason, "payment");
        assert_eq!(decision.provider_code.as_deref(), Some(code));
        assert_eq!(decision.needs_person, needs_person, "{code}");
    }
}

#[test]
fn a_paid_request_that_meets_a_server_error_without_a_receipt_may_have_paid() {
    for status in [500, 502, 503, 504, 529] {
        let lost = Standing::paid(ReceiptStanding::None, false);
        let case = Case::of(status)
            .headers(&[("retry-after", "2")])
            .standing(lost);
        case.gives(Action::Stop, Reason::SettlementUnknown, "payment");
        let shown = Standing::paid(ReceiptStanding::None, true);
        let case = Case::of(status)
            .headers(&[("retry-after", "2")])
            .standing(shown);
        case.gives(wait(2), Reason::SettlementUnknown, "retry-after");
    }
}

#[test]
fn a_paid_request_that_is_throttled_without_a_receipt_waits_like_any_other() {
    let free = Standing::paid(ReceiptStanding::None, false);
    let case = Case::of(429)
        .headers(&[("retry-after", "2")])
        .standing(free);
    case.gives(wait(2), Reason::RateLimited, "retry-after");
}

#[test]
fn a_receipt_that_cannot_be_read_leaves_open_what_moved() {
    let unreadable = Standing::paid(ReceiptStanding::Unreadable, false);
    let case = Case::of(429)
        .headers(&[("retry-after", "2")])
        .standing(unreadable.clone());
    case.gives(Action::Stop, Reason::SettlementUnknown, "payment");
    let case = Case::of(402).standing(unreadable);
    case.gives(Action::Stop, Reason::PaymentFailed, "payment");
}

#[test]
fn a_402_after_a_payment_is_no_offer_but_a_failed_payment() {
    let mut standing = Standing::paid(ReceiptStanding::None, false);
    standing.offer = OfferStanding::Payable;
    Case::of(402)
        .standing(standing)
        .gives(Action::Stop, Reason::PaymentFailed, "status");
    let case = Case::of(402)
        .headers(&[("retry-after", "5")])
        .body(r#"{"error":"Settlement failed","details":"insufficient_funds"}"#)
        .standing(Standing::paid(ReceiptStanding::None, false));
    let decision = case.gives(Action::Stop, Reason::PaymentFailed, "/details");
    assert!(decision.needs_person);
}

#[test]
fn a_payment_that_lacks_its_identifier_is_a_bad_request() {
    let case = Case::of(400)
        .body(r#"{"error":"payment_identifier_required"}"#)
        .standing(Standing::paid(ReceiptStanding::None, false));
    case.gives(Action::Stop, Reason::BadRequest, "/error");
    let case = Case::of(409).standing(Standing::paid(ReceiptStanding::None, false));
    case.gives(Action::Stop, Reason::Conflict, "status");
}
