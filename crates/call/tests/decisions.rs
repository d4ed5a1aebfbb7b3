//! Plain facts of one call: how often it tries, how long it waits, what it does not pay, and how
//! it tells of it.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a helper of a test fails the test by panicking"
)]

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use alloy_signer_local::PrivateKeySigner;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use paywait_call::{
    Action, Answered, Call, End, Facts, Failure, FailureKind, Intended, Means, NotPaid, Outgoing,
    Patience, Recalled, Report,
};
use paywait_signals::{Reason, Reply, Timestamp};
use paywait_x402::{
    Derivation, Domain, EntryError, KnownAsset, Money, Network, Policy, PurchaseKey, Refusal,
    TermsError, Token, Wallet, usd,
};
use serde_json::{Value, json};

/// A call in the hands of a test, and the time.
struct Driven {
    call: Call,
    wallet: Wallet,
    now: u64,
    slept: u64,
    last: Option<Outgoing>,
}

fn get() -> Facts {
    Facts::of(&Method::GET, false)
}

fn post() -> Facts {
    Facts::of(&Method::POST, false)
}

fn patience(attempts: u32) -> Patience {
    let mut patience = Patience::default();
    patience.attempts = attempts.try_into().unwrap();
    patience
}

impl Driven {
    /// A layer alone: it neither loops nor pays.
    fn alone(facts: Facts) -> Self {
        let now = START;
        Self {
            call: Call::new(facts, 7, Timestamp::from_millis(now)),
            wallet: Wallet::evm(KEY.parse::<PrivateKeySigner>().unwrap()),
            now,
            slept: 0,
            last: None,
        }
    }

    /// A call that loops.
    fn patient(facts: Facts, attempts: u32) -> Self {
        let mut this = Self::alone(facts);
        this.call.lend_patience(&patience(attempts));
        this
    }

    /// A call that loops and pays.
    fn buying(facts: Facts) -> Self {
        let mut this = Self::patient(facts, 5);
        let policy = Arc::new(Policy::new(usd("0.05").unwrap()));
        let key = PurchaseKey::named("order-17");
        let payer = this.wallet.payer();
        let means = Means::new(policy, payer, Derivation::default(), key, true);
        this.call.lend_means(means);
        this
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.now)
    }

    /// Goes on until a send is due; returns whether one is. What is bought is written and signed.
    fn sends(&mut self) -> bool {
        loop {
            match self.call.next(self.now()) {
                Action::Send(outgoing) => {
                    self.last = Some(outgoing);
                    return true;
                }
                Action::Finish(_) => return false,
                Action::Sleep(until) => {
                    self.slept += until.as_millis() - self.now;
                    self.now = until.as_millis();
                }
                Action::Intend(_) => {
                    let now = self.now();
                    self.call.handle_intended(Intended::New, now);
                }
                Action::Sign(terms) => {
                    let signed = ready(self.wallet.sign(&terms)).map_err(|error| error.to_string());
                    self.call.handle_signed(signed);
                }
                Action::Persist(payment) => self.call.handle_persisted(Ok(payment)),
                // another caller has it, and keeps it
                Action::Recall => {
                    let now = self.now();
                    self.call.handle_recalled(Recalled::InFlight, now);
                }
                other => panic!("{other:?}"),
            }
        }
    }

    fn payment(&mut self) -> Option<HeaderValue> {
        let mut fields = HeaderMap::new();
        self.last.take().unwrap().write(&mut fields);
        fields.remove("payment-signature")
    }

    fn hears(&mut self, status: u16, fields: &HeaderMap) {
        let reply = Reply::new(StatusCode::from_u16(status).unwrap(), fields, &[]);
        self.call.handle_reply(&Answered::new(reply), self.now());
    }

    fn loses(&mut self, failure: Failure) {
        self.call.handle_failure(failure, self.now());
    }

    /// Answers each send in the same way until the call ends; returns how many there were.
    fn always(&mut self, status: u16, fields: &HeaderMap) -> usize {
        let mut sends = 0;
        while self.sends() {
            sends += 1;
            assert!(sends < 100, "it does not end");
            self.hears(status, fields);
        }
        sends
    }

    /// Meets one offer, and then what comes of it.
    fn meets(mut self, offer: &Value) -> End {
        assert!(self.sends());
        self.hears(402, &field("payment-required", offer));
        assert!(!self.sends());
        self.end()
    }

    fn end(&self) -> End {
        self.call.end().unwrap().clone()
    }

    fn report(self) -> Report {
        self.call.into_report()
    }
}

fn ready<F: Future>(future: F) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

fn field(name: &'static str, value: &Value) -> HeaderMap {
    let text = STANDARD.encode(value.to_string());
    let mut fields = HeaderMap::new();
    fields.insert(name, text.parse().unwrap());
    fields
}

fn retry_after(secs: u64) -> HeaderMap {
    let mut fields = HeaderMap::new();
    fields.insert("retry-after", secs.into());
    fields
}

fn offer() -> Value {
    json!({"x402Version": 2, "accepts": [{
        "scheme": "exact", "network": "eip155:84532", "amount": "10000",
        "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C", "maxTimeoutSeconds": 120,
        "extra": {"name": "USDC", "version": "2"},
    }]})
}

fn offer_with(pointer: &str, value: Value) -> Value {
    let mut offer = offer();
    *offer.pointer_mut(pointer).unwrap() = value;
    offer
}

fn offered() -> HeaderMap {
    field("payment-required", &offer())
}

fn settled() -> HeaderMap {
    field(
        "payment-response",
        &json!({"success": true, "transaction": "0x1234567890abcdef"}),
    )
}

fn secs(secs: u64) -> Timestamp {
    Timestamp::from_millis(START + secs * 1_000)
}

#[test]
fn a_call_has_as_many_attempts_as_it_was_given() {
    for attempts in 1..=5 {
        let mut call = Driven::patient(get(), attempts);
        let sends = call.always(429, &HeaderMap::new());
        assert_eq!(u32::try_from(sends).unwrap(), attempts);
        assert_eq!(call.end(), End::Exhausted(Reason::RateLimited));
        assert_eq!(call.report().attempts, attempts);
    }
}

#[test]
fn a_price_check_and_the_first_paid_send_are_one_attempt() {
    let mut call = Driven::buying(post());
    assert!(call.sends());
    call.hears(402, &offered());
    assert!(call.sends() && call.payment().is_some());
    call.hears(200, &settled());
    assert!(!call.sends());
    let report = call.report();
    assert_eq!((report.attempts, report.sends.len()), (1, 2));
}

#[test]
fn a_wait_is_as_long_as_told_and_up_to_a_quarter_second_more() {
    for told in [0, 1, 7, 120] {
        let mut call = Driven::patient(get(), 2);
        assert!(call.sends());
        call.hears(429, &retry_after(told));
        assert!(call.sends());
        assert!(
            (told * 1_000..=told * 1_000 + 250).contains(&call.slept),
            "{told}"
        );
    }
}

#[test]
fn a_wait_beyond_the_ceiling_ends_the_call_at_once_with_the_time_to_come_back() {
    let mut call = Driven::patient(get(), 5);
    assert_eq!(call.always(429, &retry_after(121)), 1);
    assert_eq!((call.end(), call.slept), (End::Deferred(secs(121)), 0));
    assert_eq!(call.report().come_back(), Some(secs(121)));
}

#[test]
fn a_wait_that_passes_the_deadline_ends_the_call_at_once_with_the_time_to_come_back() {
    let mut call = Driven::patient(get(), 5);
    call.call.set_deadline(secs(10));
    assert_eq!(call.always(429, &retry_after(20)), 1);
    assert_eq!((call.end(), call.slept), (End::Deferred(secs(20)), 0));
}

#[test]
fn waits_that_add_up_to_more_than_the_whole_time_end_the_call() {
    let mut call = Driven::patient(get(), 5);
    // 100 s, and another 100 s would be more than the 180 s that a call may take
    assert_eq!(call.always(429, &retry_after(100)), 2);
    assert!(matches!(call.end(), End::Deferred(at) if at >= secs(200)));
    assert!(call.slept < 101_000);
}

#[test]
fn the_earliest_of_several_deadlines_holds_and_cuts_the_sends() {
    let mut call = Driven::patient(get(), 5);
    for deadline in [30, 10, 20] {
        call.call.set_deadline(secs(deadline));
    }
    assert_eq!(call.call.not_after(), secs(10));
    assert!(call.sends());
    assert_eq!(call.last.as_ref().unwrap().cut_at, Some(secs(10)));
}

#[test]
fn the_whole_time_cuts_no_send() {
    let mut call = Driven::patient(get(), 5);
    assert_eq!(call.call.not_after(), secs(180));
    assert!(call.sends());
    assert_eq!(call.last.as_ref().unwrap().cut_at, None);
}

#[test]
fn nothing_new_is_sent_after_the_deadline() {
    let mut call = Driven::buying(post());
    call.call.set_deadline(secs(10));
    assert!(call.sends());
    // the offer comes so late that nothing more may go
    call.now += 11_000;
    call.hears(402, &offered());
    assert!(!call.sends());
    assert_eq!(call.end(), End::Deferred(secs(11)));
    assert_eq!(call.report().paid, None);
}

#[test]
fn a_slot_is_waited_for_or_ends_the_call_with_its_time() {
    let admitted = |slot: u64| {
        let mut call = Driven::patient(get(), 5);
        call.call.lend_pacer();
        assert!(matches!(call.call.next(call.now()), Action::Admit));
        let now = call.now();
        call.call.handle_admitted(secs(slot), now);
        call.call.next(now)
    };
    assert!(matches!(admitted(0), Action::Send(_)));
    assert!(matches!(admitted(90), Action::Sleep(until) if until == secs(90)));
    assert!(matches!(admitted(121), Action::Finish(End::Deferred(at)) if at == secs(121)));
}

#[test]
fn after_a_slot_s_time_it_asks_again_and_does_not_just_send() {
    let mut call = Driven::patient(get(), 5);
    call.call.lend_pacer();
    assert!(matches!(call.call.next(secs(0)), Action::Admit));
    call.call.handle_admitted(secs(5), secs(0));
    assert!(matches!(call.call.next(secs(4)), Action::Sleep(_)));
    assert!(matches!(call.call.next(secs(5)), Action::Admit));
}

#[test]
fn an_unpaid_request_without_an_answer_is_sent_again_only_if_that_is_harmless() {
    let keyed = Facts::of(&Method::POST, true);
    let mut willing = patience(2);
    willing.resend_unanswered = true;
    let cautious = patience(2);
    let lost = Failure::lost;
    for (facts, patience, failure, again) in [
        (post(), &cautious, lost(FailureKind::Timeout), false),
        (post(), &cautious, lost(FailureKind::Broken), false),
        (
            post(),
            &cautious,
            Failure::unsent(FailureKind::Connect),
            true,
        ),
        (post(), &willing, lost(FailureKind::Timeout), true),
        (keyed, &cautious, lost(FailureKind::Timeout), true),
        (get(), &cautious, lost(FailureKind::Broken), true),
        (get(), &cautious, lost(FailureKind::Final), false),
        (get(), &cautious, Failure::unsent(FailureKind::Final), false),
        (get().once(), &cautious, lost(FailureKind::Broken), false),
    ] {
        let mut call = Driven::alone(facts);
        call.call.lend_patience(patience);
        assert!(call.sends());
        call.loses(failure);
        assert_eq!(call.sends(), again, "{facts:?} {failure:?}");
        if !again {
            assert_eq!(call.end(), End::Unanswered);
        }
    }
}

#[test]
fn a_paid_request_without_an_answer_is_shown_again_with_the_same_bytes() {
    let mut call = Driven::buying(post());
    assert!(call.sends());
    call.hears(402, &offered());
    assert!(call.sends());
    let first = call.payment();
    assert!(first.is_some());
    call.loses(Failure::lost(FailureKind::Broken));
    assert!(call.sends());
    assert_eq!(call.payment(), first);
    call.loses(Failure::lost(FailureKind::Final));
    assert!(!call.sends());
    assert_eq!(call.end(), End::OutcomeUnknown);
}

#[test]
fn what_may_not_be_paid_is_not_and_the_report_says_why() {
    let entry = |name: &str| format!("/accepts/0/{name}");
    let per_call = Refusal::PerCall {
        asked: usd("0.050001").unwrap(),
        allowed: usd("0.05").unwrap(),
    };
    let network = Refusal::Network {
        asked: "eip155:8453".parse().unwrap(),
        allowed: Network::testnets().collect(),
    };
    let mut known = KnownAsset::all().iter();
    let usdc = known.find(|known| known.asset.network == Network::evm(84_532));
    let domain = Refusal::OtherDomain {
        token: Box::new(Token::from(usdc.unwrap())),
        asked: Domain::new("USD Coin", "2"),
    };
    for (offer, refusal) in [
        (offer_with(&entry("amount"), json!("50001")), per_call),
        (offer_with(&entry("network"), json!("eip155:8453")), network),
        (offer_with(&entry("extra/name"), json!("USD Coin")), domain),
        (
            offer_with(&entry("maxTimeoutSeconds"), json!(14)),
            Refusal::Window {
                asked: 14,
                least: 15,
            },
        ),
        (
            offer_with(&entry("scheme"), json!("upto")),
            Refusal::Unreadable(EntryError::Scheme),
        ),
        (
            offer_with(&entry("extra"), json!({"assetTransferMethod": "permit2"})),
            Refusal::Unreadable(EntryError::TransferMethod),
        ),
    ] {
        let end = Driven::buying(post()).meets(&offer);
        let End::NotPaid(NotPaid::Policy(Refusal::NoMatch(none))) = &end else {
            panic!("{end:?}");
        };
        assert_eq!(none.offered.len(), 1);
        assert_eq!(none.offered[0].why, refusal);
    }
    assert_eq!(
        Driven::buying(post().once()).meets(&offer()),
        End::NotPaid(NotPaid::Once)
    );
    assert_eq!(
        Driven::buying(post().not_payable()).meets(&offer()),
        End::NotPaid(NotPaid::Insecure)
    );
    assert_eq!(
        Driven::patient(post(), 5).meets(&offer()),
        End::NotPaid(NotPaid::NoWallet)
    );
    let mut odd = offer();
    let declared = json!({"payment-identifier": {"info": {"required": "yes"}}});
    odd.as_object_mut()
        .unwrap()
        .insert("extensions".to_owned(), declared);
    assert_eq!(
        Driven::buying(post()).meets(&odd),
        End::NotPaid(NotPaid::Terms(TermsError::Identifier))
    );
}

#[test]
fn an_offer_that_cannot_be_read_or_comes_from_elsewhere_is_not_paid() {
    let mut call = Driven::buying(post());
    assert!(call.sends());
    let mut garbage = HeaderMap::new();
    garbage.insert("payment-required", HeaderValue::from_static("!!"));
    call.hears(402, &garbage);
    assert!(!call.sends());
    assert_eq!(call.end(), End::Stopped(Reason::OfferUnreadable));

    let mut call = Driven::buying(post());
    assert!(call.sends());
    let fields = offered();
    let reply = Reply::new(StatusCode::PAYMENT_REQUIRED, &fields, &[]);
    let now = call.now();
    call.call
        .handle_reply(&Answered::new(reply).same_origin(false), now);
    assert!(!call.sends());
    assert_eq!(call.end(), End::Stopped(Reason::Unfunded));
    assert_eq!(call.report().paid, None);
}

#[test]
fn a_paid_answer_from_another_origin_is_no_delivery_and_no_refusal() {
    let no = json!({"success": false, "errorReason": "insufficient_funds", "transaction": ""});
    let no = field("payment-response", &no);
    for (status, fields, end) in [
        (200, &HeaderMap::new(), End::PaidNotDelivered),
        (404, &no, End::OutcomeUnknown),
    ] {
        let mut call = Driven::buying(post());
        assert!(call.sends());
        call.hears(402, &offered());
        assert!(call.sends());
        let reply = Reply::new(StatusCode::from_u16(status).unwrap(), fields, &[]);
        let now = call.now();
        call.call
            .handle_reply(&Answered::new(reply).same_origin(false), now);
        assert!(!call.sends());
        assert_eq!(call.end(), end);
    }
}

#[test]
fn what_the_ledger_or_the_signer_refuses_is_not_paid() {
    let limit = NotPaid::Limit {
        what: "too much".to_owned(),
        come_back: Some(secs(60)),
        held_until: None,
    };
    let at_intent = || {
        let mut call = Driven::buying(post());
        assert!(call.sends());
        call.hears(402, &offered());
        assert!(matches!(call.call.next(secs(0)), Action::Intend(_)));
        call
    };
    let mut call = at_intent();
    call.call
        .handle_intended(Intended::Refused(limit.clone()), secs(0));
    assert!(!call.sends());
    assert_eq!(call.end(), End::NotPaid(limit));
    assert_eq!(call.report().come_back(), Some(secs(60)));

    let mut call = at_intent();
    let in_flight = Intended::Stands(Recalled::InFlight);
    call.call.handle_intended(in_flight, secs(0));
    assert!(!call.sends());
    assert_eq!(call.end(), End::InFlight);
    // it was waited for as long as the call may take
    assert!((170_000..=180_000).contains(&call.slept));

    let mut call = at_intent();
    call.call.handle_intended(Intended::New, secs(0));
    call.call.handle_signed(Err("no".to_owned()));
    assert!(!call.sends());
    assert_eq!(call.end(), End::NotPaid(NotPaid::Signer("no".to_owned())));

    let mut call = at_intent();
    call.call.handle_intended(Intended::New, secs(0));
    let Action::Sign(terms) = call.call.next(secs(0)) else {
        panic!("it is to be signed");
    };
    call.call
        .handle_signed(Ok(ready(call.wallet.sign(&terms)).unwrap()));
    call.call.handle_persisted(Err("disk full".to_owned()));
    assert!(!call.sends());
    let why = NotPaid::Ledger("disk full".to_owned());
    assert_eq!(call.end(), End::NotPaid(why));
    assert_eq!(call.report().paid.unwrap().money, Money::Signed);
}

#[test]
fn what_grew_too_old_before_it_was_sent_is_not_paid() {
    let mut call = Driven::buying(post());
    call.call.lend_pacer();
    let admit = |call: &mut Driven| {
        assert!(matches!(call.call.next(call.now()), Action::Admit));
        let now = call.now();
        call.call.handle_admitted(now, now);
    };
    admit(&mut call);
    assert!(call.sends());
    call.hears(402, &offered());
    admit(&mut call);
    assert!(call.sends());
    // a layer turns it back, and the next slot comes when the bytes are too old
    call.call.handle_turned_back();
    assert!(matches!(call.call.next(call.now()), Action::Admit));
    let now = call.now();
    call.call.handle_admitted(secs(115), now);
    assert!(matches!(call.call.next(now), Action::Sleep(_)));
    call.now = START + 115_000;
    admit(&mut call);
    assert!(!call.sends());
    assert_eq!(call.end(), End::NotPaid(NotPaid::Expired));
}

#[test]
fn a_layer_alone_hands_back_what_it_met() {
    let wait = retry_after(1);
    let empty = HeaderMap::new();
    for (status, fields, end) in [
        (429, &wait, End::Stopped(Reason::RateLimited)),
        (503, &empty, End::Stopped(Reason::Overloaded)),
        (404, &empty, End::Stopped(Reason::NotFound)),
        (302, &empty, End::Stopped(Reason::Http(302))),
        (200, &empty, End::Served),
        (304, &empty, End::Served),
    ] {
        let mut call = Driven::alone(get());
        assert_eq!(call.always(status, fields), 1);
        assert_eq!((call.end(), call.slept), (end, 0));
    }
    let mut call = Driven::alone(get());
    assert!(call.sends());
    call.loses(Failure::unsent(FailureKind::Connect));
    assert!(!call.sends());
    assert_eq!(call.end(), End::Unanswered);
}

#[test]
fn a_send_that_is_turned_back_is_no_send_and_no_attempt() {
    let mut call = Driven::patient(post(), 1);
    for _ in 0..3 {
        assert!(call.sends());
        call.call.handle_turned_back();
    }
    assert!(call.sends());
    call.hears(200, &HeaderMap::new());
    assert!(!call.sends());
    let report = call.report();
    assert_eq!((report.attempts, report.sends.len()), (1, 1));
}

#[test]
fn bytes_are_not_handed_out_twice_for_one_send() {
    let mut call = Driven::buying(post());
    assert!(call.sends());
    call.hears(402, &offered());
    assert!(call.sends());
    let now = call.now();
    for _ in 0..3 {
        assert!(matches!(
            call.call.next(now),
            Action::Finish(End::OutcomeUnknown)
        ));
    }
    assert_eq!(call.call.purchase().unwrap().shown(), 1);
    assert_eq!(call.report().end, End::OutcomeUnknown);
}

#[test]
fn an_event_that_belongs_to_no_action_is_not_acted_on() {
    let stray = |call: &mut Driven| {
        let now = call.now();
        let fields = settled();
        let reply = Reply::new(StatusCode::OK, &fields, &[]);
        call.call.handle_head(&Answered::new(reply), now);
        call.call.handle_reply(&Answered::new(reply), now);
        call.call
            .handle_failure(Failure::lost(FailureKind::Broken), now);
        call.call.handle_turned_back();
        call.call.handle_signed(Err("no".to_owned()));
        call.call.handle_persisted(Err("no".to_owned()));
        call.call
            .handle_intended(Intended::Stands(Recalled::InFlight), now);
    };
    let mut call = Driven::buying(post());
    // before the first send
    stray(&mut call);
    assert!(call.sends());
    // the answer came, and its wait goes on
    call.hears(429, &retry_after(5));
    stray(&mut call);
    let now = call.now();
    call.call.handle_admitted(now, now);
    assert!(matches!(call.call.next(now), Action::Sleep(_)));
    assert!(call.sends());
    assert!(call.slept >= 5_000);
    // the end stays the end
    call.hears(404, &HeaderMap::new());
    stray(&mut call);
    call.call.handle_admitted(now, now);
    assert!(!call.sends());
    assert_eq!(call.end(), End::Stopped(Reason::NotFound));
    let report = call.report();
    assert_eq!((report.sends.len(), report.paid), (2, None));
}

#[test]
fn what_a_head_said_belongs_to_its_own_answer() {
    let mut call = Driven::buying(get());
    assert!(call.sends());
    let fields = offered();
    let reply = Reply::new(StatusCode::PAYMENT_REQUIRED, &fields, &[]);
    let now = call.now();
    call.call.handle_head(&Answered::new(reply), now);
    // its body never came; the next answer offers nothing
    call.loses(Failure::lost(FailureKind::Broken));
    assert!(call.sends());
    call.hears(402, &HeaderMap::new());
    assert!(!call.sends());
    assert_eq!(call.end(), End::Stopped(Reason::Unfunded));
}

#[test]
fn a_report_is_one_line_for_a_person() {
    let mut served = Driven::buying(post());
    assert!(served.sends());
    served.hears(429, &retry_after(1));
    assert!(served.sends());
    served.hears(402, &offered());
    assert!(served.sends());
    served.hears(200, &settled());
    assert!(!served.sends());
    let report = served.report();
    let waited = format!(
        "{}.{} s",
        report.waited.as_secs(),
        report.waited.subsec_millis() / 100
    );
    assert_eq!(
        report.to_string(),
        format!("200 after 2 attempts, 3 sends, waited {waited}, paid 0.01 USDC (0x12…ef)")
    );
    let sends: Vec<_> = report.sends.iter().map(ToString::to_string).collect();
    assert_eq!(
        sends,
        [
            "send: 429, wait: rate_limited (retry-after)",
            "send: 402, pay: payment_offer (payment)",
            "paid send: 200",
        ]
    );
    assert!(report.waited >= Duration::from_secs(1));
    assert_eq!(report.sends[1].waited, report.waited);

    let mut undelivered = Driven::buying(post());
    assert!(undelivered.sends());
    undelivered.hears(402, &offered());
    assert!(undelivered.sends());
    undelivered.hears(404, &settled());
    assert!(!undelivered.sends());
    assert_eq!(
        undelivered.report().to_string(),
        "404 after 1 attempt, 2 sends, paid 0.01 USDC (0x12…ef) (paid, not delivered)"
    );

    let mut unknown = Driven::buying(post());
    assert!(unknown.sends());
    unknown.hears(402, &offered());
    assert!(unknown.sends());
    unknown.loses(Failure::lost(FailureKind::Final));
    assert!(!unknown.sends());
    assert_eq!(
        unknown.report().to_string(),
        "402 after 1 attempt, 2 sends, perhaps paid 0.01 USDC (outcome unknown)"
    );

    let mut refused = Driven::buying(post());
    assert!(refused.sends());
    refused.hears(402, &offered());
    assert!(refused.sends());
    let no = json!({"success": false, "errorReason": "insufficient_funds", "transaction": ""});
    refused.hears(402, &field("payment-response", &no));
    assert!(!refused.sends());
    assert_eq!(
        refused.report().to_string(),
        "402 after 1 attempt, 2 sends, offered and refused 0.01 USDC (stopped: payment_failed)"
    );

    let mut dear = Driven::buying(post());
    assert!(dear.sends());
    let offer = offer_with("/accepts/0/amount", json!("1000000"));
    dear.hears(402, &field("payment-required", &offer));
    assert_eq!(
        dear.report().to_string(),
        "402 after 1 attempt, 1 send (not paid: price: asked 1 USD, allowed up to 0.05 USD a call (setting: per_call))"
    );

    let mut silent = Driven::alone(get());
    assert!(silent.sends());
    silent.loses(Failure::lost(FailureKind::Timeout));
    let report = silent.report();
    assert_eq!(
        report.to_string(),
        "no answer after 1 attempt, 1 send (no answer)"
    );
    assert_eq!(
        report.sends[0].to_string(),
        "send: timeout, back off: timeout (transport)"
    );

    let mut late = Driven::patient(get(), 5);
    late.always(429, &retry_after(3_600));
    assert_eq!(
        late.report().to_string(),
        "429 after 1 attempt, 1 send (come back at 2027-01-15T09:00:00Z)"
    );
}

#[test]
fn no_debug_of_a_call_has_the_bytes() {
    let mut call = Driven::buying(post());
    assert!(call.sends());
    call.hears(402, &offered());
    assert!(call.sends());
    let mut told = format!("{:?} {:?}", call.call, call.last);
    let payment = call.payment().unwrap();
    told.push_str(&format!("{:?}", call.report()));
    let payload: Value = serde_json::from_slice(&STANDARD.decode(&payment).unwrap()).unwrap();
    let signature = payload
        .pointer("/payload/signature")
        .unwrap()
        .as_str()
        .unwrap();
    assert!(!told.contains(payment.to_str().unwrap()));
    assert!(!told.contains(signature));
}

/// When the tests begin, in milliseconds.
const START: u64 = 1_800_000_000_000;

/// The first account of the usual test mnemonic: known to everybody.
const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
