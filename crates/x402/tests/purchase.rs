//! The machine of one purchase: what it may do in which order, and what it keeps whatever it is
//! told.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a helper of a test fails the test by panicking"
)]

use std::future::Future;
use std::pin::pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use alloy_primitives::{B256, b256};
use alloy_signer_local::PrivateKeySigner;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue, StatusCode};
use paywait_signals::{FailureClass, ReceiptStanding, Reply, Timestamp};
use paywait_x402::{
    Money, Offer, PaymentId, Purchase, PurchaseError, PurchaseKey, Sealed, Showing, SignedPayment,
    Terms, Wallet, headers,
};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// Terms, and what was signed for them. Signed once: signing is the slow part.
struct Signed {
    terms: Terms,
    payment: SignedPayment,
}

/// What is bought.
static OWN: LazyLock<Signed> = LazyLock::new(|| sign("10000", "", NONCE, BEFORE));

/// What another caller of the same purchase signed, who was first.
static WINNER: LazyLock<Signed> = LazyLock::new(|| sign("10000", "", NONCE, BEFORE + 60));

/// Payments that nobody asked for: each is right in all but one field.
static OTHERS: LazyLock<[Signed; 4]> = LazyLock::new(|| {
    [
        sign("10001", "", NONCE, BEFORE),
        sign("10000", "", B256::repeat_byte(9), BEFORE),
        sign("10000", "", NONCE, BEFORE + 1),
        sign("10000", "f", NONCE, BEFORE),
    ]
});

/// What is signed in place of the first: another price, a later end, the same nonce.
static AGAIN: LazyLock<Signed> = LazyLock::new(|| sign("12000", "", NONCE, BEFORE + 300));

static ID: LazyLock<PaymentId> = LazyLock::new(PaymentId::random);

fn sign(amount: &str, payee: &str, nonce: B256, valid_before: u64) -> Signed {
    let field = encoded(&offer(amount, payee, ""));
    let offer = Offer::decode(field.as_bytes()).unwrap();
    let signer: PrivateKeySigner = KEY.parse().unwrap();
    let payer = signer.address();
    let terms = Terms::new(&offer, 0, payer, nonce, ID.clone(), valid_before).unwrap();
    let payment = ready(Wallet::evm(signer).sign(&terms)).unwrap();
    Signed { terms, payment }
}

fn offer(amount: &str, payee: &str, error: &str) -> Value {
    let tail = "C5328bA36FaF03C514EF312287C";
    let payee = match payee {
        "" => format!("0x209693Bc6afc0{tail}").to_lowercase(),
        other => format!("0x{other}09693Bc6afc0{tail}").to_lowercase(),
    };
    json!({"x402Version": 2, "error": error, "accepts": [{
        "scheme": "exact", "network": "eip155:84532", "amount": amount, "payTo": payee,
        "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "maxTimeoutSeconds": 120,
        "extra": {"name": "USDC", "version": "2"},
    }]})
}

fn encoded(value: &Value) -> HeaderValue {
    STANDARD.encode(value.to_string()).parse().unwrap()
}

/// A signer in this process is ready at once.
fn ready<F: Future>(future: F) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

fn unpaid() -> Purchase {
    Purchase::new(PurchaseKey::named("order-17"), ID.clone())
}

fn signed() -> Purchase {
    let mut purchase = unpaid();
    purchase.accept(OWN.terms.clone(), at(START)).unwrap();
    purchase.handle_signed(OWN.payment.clone()).unwrap();
    purchase
}

fn persisted() -> Purchase {
    let mut purchase = signed();
    purchase.handle_persisted(OWN.payment.clone()).unwrap();
    purchase
}

fn resume(purchase: &mut Purchase, payment: &SignedPayment, money: Money) {
    purchase.resume(purchase.key(), vec![payment.clone()], money, 0);
}

fn at(secs: u64) -> Timestamp {
    Timestamp::from_secs(secs)
}

fn bytes(showing: Showing) -> HeaderValue {
    let mut fields = HeaderMap::new();
    showing.write(&mut fields);
    fields.remove(headers::PAYMENT_SIGNATURE).unwrap()
}

fn reply(purchase: &mut Purchase, status: u16, fields: &HeaderMap) -> paywait_signals::Standing {
    let status = StatusCode::from_u16(status).unwrap();
    purchase.handle_reply(Reply::new(status, fields, &[]), at(START))
}

fn receipt(value: &Value) -> HeaderMap {
    HeaderMap::from_iter([(headers::PAYMENT_RESPONSE, encoded(value))])
}

fn success() -> HeaderMap {
    receipt(&json!({"success": true, "transaction": "0x12"}))
}

fn failure(reason: &str, transaction: &str) -> HeaderMap {
    receipt(&json!({"success": false, "errorReason": reason, "transaction": transaction}))
}

fn offers_anew(error: &str) -> HeaderMap {
    HeaderMap::from_iter([(
        headers::PAYMENT_REQUIRED,
        encoded(&offer("10000", "", error)),
    )])
}

#[test]
fn an_offer_is_accepted_once() {
    let mut purchase = unpaid();
    assert_eq!(purchase.accept(OWN.terms.clone(), at(START)), Ok(()));
    let again = purchase.accept(OWN.terms.clone(), at(START));
    assert_eq!(again, Err(PurchaseError::AlreadyAccepted));
    assert_eq!(
        signed().accept(WINNER.terms.clone(), at(START)),
        Err(PurchaseError::AlreadyAccepted)
    );
}

#[test]
fn a_payment_for_other_terms_is_refused_and_not_kept() {
    for other in OTHERS.iter() {
        let mut purchase = unpaid();
        purchase.accept(OWN.terms.clone(), at(START)).unwrap();
        let taken = purchase.handle_signed(other.payment.clone());
        assert_eq!(taken, Err(PurchaseError::OtherTerms));
        assert!(!purchase.is_signed());
        assert_eq!(purchase.money(), Money::Unspent);
        // what was asked for is still taken
        assert_eq!(purchase.handle_signed(OWN.payment.clone()), Ok(()));
    }
}

#[test]
fn a_payment_that_nobody_asked_for_is_refused() {
    let taken = unpaid().handle_signed(OWN.payment.clone());
    assert_eq!(taken, Err(PurchaseError::NotAccepted));
    let taken = signed().handle_signed(OWN.payment.clone());
    assert_eq!(taken, Err(PurchaseError::NotAccepted));
}

#[test]
fn nothing_is_shown_before_it_stands_in_a_ledger() {
    let now = at(START);
    let mut accepted = unpaid();
    accepted.accept(OWN.terms.clone(), at(START)).unwrap();
    for mut purchase in [unpaid(), accepted, signed()] {
        assert!(!purchase.may_show(now));
        assert!(purchase.show(now).is_none());
        assert_eq!(purchase.shown(), 0);
    }
    assert!(persisted().show(now).is_some());
}

#[test]
fn what_was_not_signed_is_not_persisted() {
    let mut accepted = unpaid();
    accepted.accept(OWN.terms.clone(), at(START)).unwrap();
    for mut purchase in [unpaid(), accepted, persisted()] {
        let stands = purchase.handle_persisted(WINNER.payment.clone());
        assert_eq!(stands, Err(PurchaseError::NotSigned));
    }
}

#[test]
fn bytes_are_shown_until_ten_seconds_before_they_expire() {
    let last = at(BEFORE - 10).saturating_sub(Duration::from_millis(1));
    assert!(persisted().show(last).is_some());
    assert!(persisted().show(at(BEFORE - 10)).is_none());
    assert_eq!(persisted().show_until(), Some(at(BEFORE - 10)));
}

#[test]
fn bytes_are_shown_four_times_and_are_the_same_each_time() {
    let mut purchase = persisted();
    let shows: Vec<_> = std::iter::from_fn(|| purchase.show(at(START)).map(bytes)).collect();
    assert_eq!(shows.len(), 4);
    assert!(shows.iter().all(|show| *show == shows[0]));
}

#[test]
fn a_send_that_did_not_leave_is_no_show() {
    let mut purchase = persisted();
    for _ in 0..20 {
        assert!(purchase.show(at(START)).is_some());
        purchase.handle_unsent();
        assert_eq!((purchase.shown(), purchase.money()), (0, Money::Signed));
    }
}

#[test]
fn a_send_that_was_answered_or_lost_has_left() {
    let mut answered = persisted();
    assert!(answered.show(at(START)).is_some());
    reply(&mut answered, 200, &success());
    answered.handle_unsent();
    assert_eq!((answered.shown(), answered.money()), (1, Money::Settled));

    let mut lost = persisted();
    assert!(lost.show(at(START)).is_some());
    lost.handle_lost();
    lost.handle_unsent();
    assert_eq!((lost.shown(), lost.money()), (1, Money::Unknown));
}

#[test]
fn the_bytes_that_stand_are_shown_and_not_those_that_came_second() {
    let mut purchase = signed();
    purchase.handle_persisted(WINNER.payment.clone()).unwrap();
    let mut winner = unpaid();
    resume(&mut winner, &WINNER.payment, Money::Signed);
    let shown = purchase.show(at(START)).map(bytes);
    assert_eq!(shown, winner.show(at(START)).map(bytes));
    assert_ne!(shown, persisted().show(at(START)).map(bytes));
}

#[test]
fn what_a_record_says_is_taken_up_and_never_as_less_than_unknown() {
    for (record, taken) in [
        (Money::Unspent, Money::Unknown),
        (Money::Signed, Money::Unknown),
        (Money::Sent, Money::Unknown),
        (Money::Refused, Money::Refused),
        (Money::Pending, Money::Pending),
        (Money::Unknown, Money::Unknown),
        (Money::Settled, Money::Settled),
    ] {
        let mut purchase = unpaid();
        resume(&mut purchase, &OWN.payment, record);
        assert_eq!(purchase.money(), taken);
        assert!(purchase.may_show(at(START)));
        assert_eq!(purchase.may_accept(at(START)), record == Money::Refused);
    }
}

#[test]
fn bytes_that_stand_are_not_taken_up_a_second_time() {
    let mut purchase = persisted();
    let before = purchase.show(at(START)).map(bytes);
    reply(&mut purchase, 500, &success());
    resume(&mut purchase, &WINNER.payment, Money::Refused);
    assert_eq!(purchase.money(), Money::Settled);
    assert_eq!(purchase.show(at(START)).map(bytes), before);
}

#[test]
fn each_answer_to_a_first_send_says_what_it_says_of_the_money() {
    let empty = HeaderMap::new();
    let garbage =
        HeaderMap::from_iter([(headers::PAYMENT_RESPONSE, HeaderValue::from_static("!!"))]);
    let used = "invalid_exact_evm_nonce_already_used";
    for (status, fields, money) in [
        (200, &success(), Money::Settled),
        (200, &empty, Money::Settled),
        (200, &garbage, Money::Settled),
        (500, &success(), Money::Settled),
        (429, &success(), Money::Settled),
        (402, &failure(used, ""), Money::Settled),
        (402, &offers_anew(used), Money::Settled),
        (402, &failure("settlement_pending", "0x12"), Money::Pending),
        (402, &failure("settlement_pending", ""), Money::Unknown),
        (402, &failure("insufficient_funds", ""), Money::Refused),
        (402, &offers_anew("insufficient_funds"), Money::Refused),
        (402, &failure("insufficient_funds", "0x12"), Money::Unknown),
        (402, &failure("fetch failed", ""), Money::Unknown),
        (402, &offers_anew("fetch failed"), Money::Unknown),
        (402, &offers_anew(""), Money::Unknown),
        (402, &garbage, Money::Unknown),
        (502, &empty, Money::Unknown),
        (429, &empty, Money::Sent),
        (402, &empty, Money::Sent),
    ] {
        let mut purchase = persisted();
        assert!(purchase.show(at(START)).is_some());
        reply(&mut purchase, status, fields);
        assert_eq!(purchase.money(), money, "{status} {fields:?}");
    }
}

#[test]
fn a_refusal_speaks_of_its_own_send_only() {
    for (earlier, fields, money) in [
        (429, HeaderMap::new(), Money::Sent),
        (502, HeaderMap::new(), Money::Unknown),
        (402, failure("settlement_pending", "0x12"), Money::Pending),
        (500, success(), Money::Settled),
    ] {
        let mut purchase = persisted();
        assert!(purchase.show(at(START)).is_some());
        reply(&mut purchase, earlier, &fields);
        assert!(purchase.show(at(START)).is_some());
        let standing = reply(&mut purchase, 402, &failure("insufficient_funds", ""));
        assert_eq!(purchase.money(), money, "after {earlier}");
        let refused = matches!(
            standing.receipt,
            ReceiptStanding::Failed {
                class: FailureClass::BeforeBroadcast,
                ..
            }
        );
        assert!(!refused || money == Money::Sent, "after {earlier}");
    }
}

#[test]
fn a_refused_payment_that_is_shown_again_may_move_money_again() {
    let mut purchase = unpaid();
    resume(&mut purchase, &OWN.payment, Money::Refused);
    assert!(purchase.show(at(START)).is_some());
    assert_eq!(purchase.money(), Money::Sent);
    reply(&mut purchase, 429, &HeaderMap::new());
    assert_eq!(purchase.money(), Money::Sent);

    let mut refused_twice = unpaid();
    resume(&mut refused_twice, &OWN.payment, Money::Refused);
    assert!(refused_twice.show(at(START)).is_some());
    reply(&mut refused_twice, 402, &failure("insufficient_funds", ""));
    assert_eq!(refused_twice.money(), Money::Refused);

    let mut turned_back = unpaid();
    resume(&mut turned_back, &OWN.payment, Money::Refused);
    assert!(turned_back.show(at(START)).is_some());
    turned_back.handle_unsent();
    assert_eq!(turned_back.money(), Money::Refused);
}

#[test]
fn the_receipt_that_settled_is_kept() {
    let mut purchase = persisted();
    reply(&mut purchase, 402, &failure("fetch failed", ""));
    reply(&mut purchase, 500, &success());
    reply(&mut purchase, 402, &failure("nonce_already_used", ""));
    let transaction = purchase.receipt().map(|receipt| receipt.transaction());
    assert_eq!(transaction, Some("0x12"));
}

/// A purchase whose first show was answered so.
fn answered(status: u16, fields: &HeaderMap) -> Purchase {
    let mut purchase = persisted();
    assert!(purchase.show(at(START)).is_some());
    reply(&mut purchase, status, fields);
    purchase
}

#[test]
fn what_was_refused_is_signed_once_more_with_the_same_nonce() {
    let mut purchase = answered(402, &offers_anew("insufficient_funds"));
    let first = purchase.show(at(START)).map(bytes);
    purchase.handle_unsent();
    purchase.accept(AGAIN.terms.clone(), at(START)).unwrap();
    assert!(
        !purchase.may_show(at(START)),
        "nothing is shown while it waits"
    );
    purchase.handle_signed(AGAIN.payment.clone()).unwrap();
    purchase.handle_persisted(AGAIN.payment.clone()).unwrap();
    assert_eq!((purchase.payments().len(), purchase.shown()), (2, 0));
    assert_eq!(purchase.at_stake(), Some(AGAIN.payment.amount()));
    assert_eq!(purchase.expires(), Some(at(BEFORE + 300)));
    assert_ne!(purchase.show(at(START)).map(bytes), first);

    reply(&mut purchase, 402, &offers_anew("insufficient_funds"));
    let third = purchase.accept(OWN.terms.clone(), at(START));
    assert_eq!(third, Err(PurchaseError::AlreadyAccepted));
}

#[test]
fn what_may_have_moved_money_is_not_signed_again_while_it_lives() {
    for (status, fields, after) in [
        (429, HeaderMap::new(), Ok(())),
        (502, HeaderMap::new(), Ok(())),
        (402, failure("settlement_pending", "0x12"), Ok(())),
        (402, failure("fetch failed", ""), Ok(())),
        (500, success(), Err(PurchaseError::AlreadyAccepted)),
        (200, HeaderMap::new(), Err(PurchaseError::AlreadyAccepted)),
    ] {
        let mut purchase = answered(status, &fields);
        let last = at(BEFORE).saturating_sub(Duration::from_millis(1));
        let alive = purchase.accept(AGAIN.terms.clone(), last);
        assert_eq!(alive, Err(PurchaseError::AlreadyAccepted), "{status}");
        assert_eq!(
            purchase.accept(AGAIN.terms.clone(), at(BEFORE)),
            after,
            "{status}"
        );
    }
}

#[test]
fn a_second_signature_stays_in_the_space_of_the_first() {
    let other_nonce = sign("10000", "", B256::repeat_byte(9), BEFORE + 300);
    let other_payee = sign("10000", "f", NONCE, BEFORE + 300);
    for other in [other_nonce, other_payee] {
        let mut purchase = answered(402, &offers_anew("insufficient_funds"));
        let taken = purchase.accept(other.terms.clone(), at(START));
        assert_eq!(taken, Err(PurchaseError::OtherSpace));
        assert!(purchase.may_show(at(START)), "the first stands");
    }
}

#[test]
fn a_second_signature_that_failed_leaves_the_first() {
    let mut purchase = answered(402, &offers_anew("insufficient_funds"));
    purchase.accept(AGAIN.terms.clone(), at(START)).unwrap();
    purchase.handle_unsigned();
    assert_eq!(purchase.money(), Money::Refused);
    assert!(purchase.may_show(at(START)));
    assert_eq!(purchase.payments().len(), 1);
}

#[test]
fn all_calls_together_show_a_payment_twelve_times() {
    let mut purchase = unpaid();
    purchase.resume(
        purchase.key(),
        vec![OWN.payment.clone()],
        Money::Unknown,
        10,
    );
    let shows = std::iter::from_fn(|| purchase.show(at(START))).count();
    assert_eq!((shows, purchase.shown()), (2, 12));
}

#[test]
fn a_nonce_that_was_used_before_the_first_show_was_used_by_another_payment() {
    let used = failure("nonce_already_used", "");
    assert!(answered(402, &used).is_spent_elsewhere());
    let mut shown_before = answered(502, &HeaderMap::new());
    assert!(shown_before.show(at(START)).is_some());
    reply(&mut shown_before, 402, &used);
    assert!(!shown_before.is_spent_elsewhere());
    let mut resumed = unpaid();
    resume(&mut resumed, &OWN.payment, Money::Signed);
    assert!(resumed.show(at(START)).is_some());
    reply(&mut resumed, 402, &used);
    assert!(!resumed.is_spent_elsewhere());
    assert_eq!(resumed.money(), Money::Settled);
}

#[test]
fn a_sealed_payment_is_the_same_payment_and_a_damaged_one_is_none() {
    let sealed = OWN.payment.seal();
    let back = SignedPayment::unseal(&sealed).unwrap();
    let mut purchase = unpaid();
    resume(&mut purchase, &back, Money::Signed);
    let mut own = persisted();
    assert_eq!(
        purchase.show(at(START)).map(bytes),
        own.show(at(START)).map(bytes)
    );
    for place in 0..sealed.as_bytes().len() {
        let mut bytes = sealed.as_bytes().to_vec();
        bytes[place] ^= 1;
        assert!(
            SignedPayment::unseal(&Sealed::from_bytes(bytes)).is_err(),
            "{place}"
        );
    }
    assert!(SignedPayment::unseal(&Sealed::from_bytes(Vec::new())).is_err());
    assert!(!format!("{sealed:?}").contains("eyJ"));
}

#[test]
fn no_debug_of_a_purchase_has_the_bytes() {
    let mut purchase = persisted();
    let told = format!("{purchase:?} {:?}", purchase.payment());
    let showing = purchase.show(at(START)).unwrap();
    let told = format!("{told} {showing:?}");
    let header = bytes(showing);
    let payload: Value = {
        let json = STANDARD.decode(header.as_bytes()).unwrap();
        serde_json::from_slice(&json).unwrap()
    };
    let signature = payload.pointer("/payload/signature").unwrap();
    assert!(!told.contains(header.to_str().unwrap()));
    assert!(!told.contains(signature.as_str().unwrap()));
}

/// One thing that a purchase is told or asked.
#[derive(Clone, Debug)]
enum Operation {
    Accept { own: bool },
    Sign { which: usize },
    Persist { own: bool },
    Show,
    Unsent,
    Lost,
    Reply { status: u16, fields: HeaderMap },
    Later(u64),
    Earlier(u64),
    Resume { own: bool, money: Money },
}

/// What a bystander wrote down, to hold the purchase to.
#[derive(Default)]
struct Bystander {
    accepted: u32,
    persisted: bool,
    /// The terms that are accepted and not persisted yet are a second signature's.
    again: bool,
    signatures: usize,
    /// What the money was before the send that is under way.
    before: Option<Money>,
    /// Sends that left, or may have.
    shows: u32,
    header: Option<HeaderValue>,
}

impl Bystander {
    /// Does one operation, and checks what it may have changed.
    fn watch(&mut self, purchase: &mut Purchase, operation: &Operation, now: &mut u64) {
        let known = purchase.money();
        let which = |own: &bool| if *own { &OWN } else { &WINNER };
        let mut restored = None;
        match operation {
            Operation::Accept { own } => {
                let terms = which(own).terms.clone();
                let moment = Timestamp::from_millis(*now);
                let dead = purchase.expires().is_some_and(|expires| expires <= moment);
                let free = known == Money::Refused || (dead && known != Money::Settled);
                let accepted = purchase.accept(terms, moment).is_ok();
                let first = self.accepted == 0 && !self.persisted;
                let second = self.signatures == 1 && free;
                assert!(!accepted || first || second);
                self.accepted += u32::from(accepted);
                self.again |= accepted && self.persisted;
            }
            Operation::Sign { which } => offer_signature(purchase, *which),
            Operation::Persist { own } => {
                let before = purchase.payments().len();
                let stands = purchase.handle_persisted(which(own).payment.clone());
                assert_eq!(
                    purchase.payments().len(),
                    before + usize::from(stands.is_ok())
                );
                if stands.is_ok() {
                    self.persisted = true;
                    self.signatures = before + 1;
                    assert!(self.signatures <= 2, "signed too often");
                    self.again = false;
                    // from here on other bytes are shown
                    (self.shows, self.before, self.header) = (0, None, None);
                }
            }
            Operation::Show => self.show(purchase, *now),
            Operation::Unsent => {
                restored = self.before.take();
                self.shows -= u32::from(restored.is_some());
                purchase.handle_unsent();
            }
            Operation::Lost => {
                self.before = None;
                purchase.handle_lost();
            }
            Operation::Reply { status, fields } => {
                let before = self.before.take().unwrap_or(known);
                let status = StatusCode::from_u16(*status).unwrap();
                let reply = Reply::new(status, fields, &[]);
                purchase.handle_reply(reply, Timestamp::from_millis(*now));
                let refused = purchase.money() == Money::Refused;
                assert!(!refused || !is_open(before), "{before} became refused");
            }
            Operation::Later(millis) => *now = now.saturating_add(*millis),
            Operation::Earlier(millis) => *now = now.saturating_sub(*millis),
            Operation::Resume { own, money } => {
                let had = self.persisted;
                resume(purchase, &which(own).payment, *money);
                if !had {
                    self.signatures = 1;
                }
                assert!(
                    is_open(purchase.money())
                        || purchase.money() == Money::Refused
                        || self.persisted
                );
                self.persisted = true;
                if !may_follow(known, purchase.money()) {
                    // a record says what became of the bytes of somebody else
                    assert_eq!(self.shows, 0);
                }
            }
        }
        self.compare(purchase, operation, (known, restored));
    }

    fn show(&mut self, purchase: &mut Purchase, now: u64) {
        let before = purchase.money();
        let Some(showing) = purchase.show(Timestamp::from_millis(now)) else {
            return;
        };
        assert!(self.persisted, "shown before it stood in a ledger");
        let expires = purchase.payment().unwrap().valid_before() * 1_000;
        assert!(now < expires - 10_000, "shown too late");
        self.shows += 1;
        assert!(self.shows <= 4, "shown too often");
        self.before = Some(before);
        let header = bytes(showing);
        let first = self.header.get_or_insert_with(|| header.clone());
        assert_eq!(*first, header, "other bytes were shown");
    }

    fn compare(
        &self,
        purchase: &Purchase,
        operation: &Operation,
        (known, restored): (Money, Option<Money>),
    ) {
        let money = purchase.money();
        assert_eq!(purchase.shown(), self.shows);
        match (operation, restored) {
            (Operation::Unsent, Some(before)) => assert_eq!(money, before),
            (Operation::Unsent, None) => assert_eq!(money, known),
            (Operation::Resume { .. }, _) if self.shows == 0 => {}
            _ => assert!(may_follow(known, money), "{known} became {money}"),
        }
    }
}

/// A signature is taken only where it is of the terms that wait for one.
fn offer_signature(purchase: &mut Purchase, which: usize) {
    let asked = purchase.terms();
    let payment = match which {
        0 => &OWN.payment,
        1 => &WINNER.payment,
        other => &OTHERS[other - 2].payment,
    };
    let taken = purchase.handle_signed(payment.clone());
    let right = asked.is_some_and(|terms| {
        (
            terms.nonce(),
            terms.amount(),
            terms.pay_to(),
            terms.valid_before(),
        ) == (
            payment.nonce(),
            payment.amount(),
            payment.pay_to(),
            payment.valid_before(),
        )
    });
    assert_eq!(taken.is_ok(), right);
}

/// Whether money moved, or may have.
fn is_open(money: Money) -> bool {
    matches!(
        money,
        Money::Sent | Money::Pending | Money::Unknown | Money::Settled
    )
}

/// Whether news may turn one state of the money into the other.
fn may_follow(known: Money, then: Money) -> bool {
    match known {
        Money::Settled => then == Money::Settled,
        Money::Pending => matches!(then, Money::Pending | Money::Settled),
        Money::Unknown => matches!(then, Money::Unknown | Money::Pending | Money::Settled),
        Money::Sent | Money::Refused => !matches!(then, Money::Unspent | Money::Signed),
        Money::Signed => then != Money::Unspent,
        _ => true,
    }
}

fn operation() -> impl Strategy<Value = Operation> {
    let status = select(vec![
        200_u16, 204, 302, 400, 402, 404, 409, 412, 429, 500, 502, 503,
    ]);
    let reason = select(vec![
        "insufficient_funds",
        "invalid_exact_evm_signature",
        "settlement_pending",
        "nonce_already_used",
        "fetch failed",
        "",
    ]);
    let hash = select(vec!["", "0x12"]);
    let garbage = "[ -~]{0,40}".prop_map(|text| {
        let text = HeaderValue::try_from(text).unwrap();
        HeaderMap::from_iter([
            (headers::PAYMENT_RESPONSE, text.clone()),
            (headers::PAYMENT_REQUIRED, text),
        ])
    });
    let fields = prop_oneof![
        2 => Just(HeaderMap::new()),
        1 => Just(success()),
        3 => (reason.clone(), hash).prop_map(|(reason, hash)| failure(reason, hash)),
        2 => reason.prop_map(offers_anew),
        1 => garbage,
    ];
    let money = select(vec![
        Money::Unspent,
        Money::Signed,
        Money::Sent,
        Money::Refused,
        Money::Pending,
        Money::Unknown,
        Money::Settled,
    ]);
    prop_oneof![
        3 => prop::bool::weighted(0.8).prop_map(|own| Operation::Accept { own }),
        4 => prop_oneof![3 => Just(0_usize), 1 => 1_usize..6].prop_map(|which| Operation::Sign { which }),
        3 => any::<bool>().prop_map(|own| Operation::Persist { own }),
        6 => Just(Operation::Show),
        2 => Just(Operation::Unsent),
        1 => Just(Operation::Lost),
        4 => (status, fields).prop_map(|(status, fields)| Operation::Reply { status, fields }),
        1 => (0_u64..60_000).prop_map(Operation::Later),
        1 => (0_u64..60_000).prop_map(Operation::Earlier),
        1 => (any::<bool>(), money).prop_map(|(own, money)| Operation::Resume { own, money }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn its_promises_are_kept_whatever_it_is_told_in_whatever_order(
        operations in prop::collection::vec(operation(), 0..40),
    ) {
        let mut purchase = unpaid();
        let mut bystander = Bystander::default();
        let mut now = START * 1_000;
        for operation in &operations {
            bystander.watch(&mut purchase, operation, &mut now);
        }
    }

    #[test]
    fn what_is_bought_in_order_keeps_its_promises_too(
        operations in prop::collection::vec(operation(), 0..40),
    ) {
        let mut purchase = unpaid();
        let mut bystander = Bystander::default();
        let mut now = START * 1_000;
        let start = [
            Operation::Accept { own: true },
            Operation::Sign { which: 0 },
            Operation::Persist { own: true },
        ];
        for operation in start.iter().chain(&operations) {
            bystander.watch(&mut purchase, operation, &mut now);
        }
    }
}

/// When the tests begin, in seconds.
const START: u64 = 1_800_000_000;

const BEFORE: u64 = START + 120;

const NONCE: B256 = b256!("00000000000000000000000000000000000000000000000000000000000000a7");

/// The first account of the usual test mnemonic: known to everybody.
const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
