//! A purchase that is told anything in any order, beside a bystander that holds it to its promises.

use std::sync::LazyLock;

use alloy_primitives::{Address, B256};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue, StatusCode};
use paywait_signals::{Reply, Timestamp};
use paywait_x402::{
    Asset, Derivation, MOST_SIGNATURES, Money, Offer, PaymentId, Purchase, PurchaseKey, Showing,
    SignedPayment, Terms, headers,
};

use crate::signer::{PAYER, sign};

/// Reads a list of operations, and does them in turn.
pub(crate) fn check(data: &[u8]) {
    let key = PurchaseKey::named("order-17");
    let mut world = World {
        purchase: Purchase::new(key, PAYMENTS.id.clone()),
        bystander: Bystander::default(),
        now: START * 1_000,
    };
    let mut input = Input(data);
    for _ in 0..64 {
        let Some(operation) = input.byte() else {
            return;
        };
        world.act(operation, &mut input);
    }
}

/// What is signed: once, before anything is done with it, since signing is slow.
struct Payments {
    id: PaymentId,
    all: Vec<Signed>,
}

struct Signed {
    terms: Terms,
    payment: SignedPayment,
    /// The bytes that go over the wire.
    header: HeaderValue,
}

static PAYMENTS: LazyLock<Payments> = LazyLock::new(|| {
    let key = PurchaseKey::named("order-17");
    let id = Derivation::default().payment_id(PAYER, key);
    let other = Derivation::default().payment_id(PAYER, PurchaseKey::named("order-18"));
    let one = |amount, payee, nonce, until, id: &PaymentId| {
        signed(
            &offer(amount, payee, ""),
            B256::repeat_byte(nonce),
            until,
            id,
        )
    };
    let all = vec![
        one("10000", '2', 7, START + 120, &id),
        one("10000", '2', 7, START + 180, &id),
        one("12000", '2', 7, START + 420, &id),
        one("10000", '2', 9, START + 120, &id),
        one("10000", 'f', 7, START + 420, &id),
        one("10000", '2', 7, START + 420, &other),
    ];
    Payments { id, all }
});

fn offer(amount: &str, payee: char, error: &str) -> String {
    format!(
        r#"{{"x402Version":2,"error":"{error}","accepts":[{{"scheme":"exact",
        "network":"eip155:84532","amount":"{amount}",
        "asset":"0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "payTo":"0x{payee}09693bc6afc0c5328ba36faf03c514ef312287c","maxTimeoutSeconds":120,
        "extra":{{"name":"USDC","version":"2"}}}}]}}"#
    )
}

fn signed(offer: &str, nonce: B256, until: u64, id: &PaymentId) -> Signed {
    let terms = Offer::decode(STANDARD.encode(offer).as_bytes())
        .ok()
        .and_then(|offer| Terms::new(&offer, 0, PAYER, nonce, id.clone(), until).ok());
    let Some((terms, Ok(payment))) = terms.map(|terms| (terms.clone(), sign(&terms))) else {
        panic!("a sound offer is signed");
    };
    let key = PurchaseKey::named("order-17");
    let mut purchase = Purchase::new(key, id.clone());
    purchase.resume(key, vec![payment.clone()], Money::Signed, 0);
    let Some(header) = purchase.show(Timestamp::from_secs(START)).and_then(bytes) else {
        panic!("a fresh payment is shown");
    };
    Signed {
        terms,
        payment,
        header,
    }
}

fn bytes(showing: Showing) -> Option<HeaderValue> {
    let mut fields = HeaderMap::new();
    showing.write(&mut fields);
    fields.remove(headers::PAYMENT_SIGNATURE)
}

struct World {
    purchase: Purchase,
    bystander: Bystander,
    now: u64,
}

/// What a bystander wrote down, to hold the purchase to.
#[derive(Default)]
struct Bystander {
    /// The bytes that stand in the ledger, the last of them.
    stands: Option<HeaderValue>,
    signatures: usize,
    /// What the money was before the send that is under way, of which nothing was heard.
    before: Option<Money>,
    shows: u32,
    shown_before: u32,
    space: Option<(Address, Address, Asset, B256, PaymentId)>,
}

impl World {
    fn act(&mut self, operation: u8, input: &mut Input<'_>) {
        let known = self.purchase.money();
        let mut may_be = None;
        match operation % 11 {
            0 => self.accept(input),
            1 => drop(self.purchase.handle_signed(input.payment().payment.clone())),
            2 => self.persist(input.payment()),
            3 => self.show(),
            4 => {
                may_be = self.bystander.before.take();
                let took_back = u32::from(may_be.is_some());
                self.bystander.shows = self.bystander.shows.saturating_sub(took_back);
                self.purchase.handle_unsent();
            }
            5 => {
                self.bystander.before = None;
                self.purchase.handle_lost();
            }
            6 => self.reply(input),
            7 => self.now = self.now.saturating_add(input.time()),
            8 => self.now = self.now.saturating_sub(input.time()),
            9 => may_be = self.resume(input),
            _ => self.purchase.handle_unsigned(),
        }
        let money = self.purchase.money();
        let restored = may_be == Some(money);
        assert!(
            restored || may_follow(known, money),
            "{known} became {money}"
        );
        self.compare();
    }

    fn accept(&mut self, input: &mut Input<'_>) {
        let now = Timestamp::from_millis(self.now);
        let money = self.purchase.money();
        let expired = |expires| expires <= now;
        let dead = self.purchase.expires().is_some_and(expired) && money != Money::Settled;
        if self
            .purchase
            .accept(input.payment().terms.clone(), now)
            .is_ok()
        {
            let first = self.bystander.signatures == 0;
            let second = self.bystander.signatures == 1 && (money == Money::Refused || dead);
            assert!(first || second, "{money}: may not be signed again");
        }
    }

    fn persist(&mut self, stands: &Signed) {
        if self
            .purchase
            .handle_persisted(stands.payment.clone())
            .is_ok()
        {
            self.bystander = Bystander {
                stands: Some(stands.header.clone()),
                signatures: self.bystander.signatures.saturating_add(1),
                space: self.bystander.space.take(),
                ..Bystander::default()
            };
        }
    }

    fn show(&mut self) {
        let before = self.purchase.money();
        let now = Timestamp::from_millis(self.now);
        let Some(showing) = self.purchase.show(now) else {
            return;
        };
        assert!(
            self.bystander.stands.is_some(),
            "shown before it stood in a ledger"
        );
        assert_eq!(
            bytes(showing),
            self.bystander.stands,
            "other bytes were shown"
        );
        let expires = self.purchase.payment().map(SignedPayment::valid_before);
        let last = expires.unwrap_or_default().saturating_sub(10);
        assert!(now < Timestamp::from_secs(last), "shown too late");
        self.bystander.shows = self.bystander.shows.saturating_add(1);
        self.bystander.before = Some(before);
        assert!(self.bystander.shows <= 4, "shown too often");
    }

    fn reply(&mut self, input: &mut Input<'_>) {
        let before = self
            .bystander
            .before
            .take()
            .unwrap_or_else(|| self.purchase.money());
        let status = STATUSES.get(input.below(STATUSES.len()));
        let status = status.copied().unwrap_or(StatusCode::OK);
        let mut fields = HeaderMap::new();
        let reason = REASONS.get(input.below(REASONS.len()));
        let reason = reason.copied().unwrap_or_default();
        let mut body = Vec::new();
        match input.below(8) {
            0 => {}
            1 => put(&mut fields, r#"{"success":true,"transaction":"0x12"}"#),
            2 => put(&mut fields, &receipt(reason, "")),
            3 => put(&mut fields, &receipt(reason, "0x12")),
            4 => {
                let offered = STANDARD.encode(offer("10000", '2', reason)).parse();
                fields.extend(offered.map(|field| (headers::PAYMENT_REQUIRED, field)));
            }
            5 => body = offer("12000", '2', reason).into_bytes(),
            6 => put(&mut fields, &String::from_utf8_lossy(input.rest())),
            _ => body = input.rest().to_vec(),
        }
        let now = Timestamp::from_millis(self.now);
        let reply = Reply::new(status, &fields, &body);
        let standing = self.purchase.handle_reply(reply, now);
        assert!(standing.paid);
        assert!(!standing.may_show_again || self.purchase.may_show(now));
        let refused = self.purchase.money() == Money::Refused;
        assert!(!refused || !is_open(before), "{before} became refused");
    }

    /// A record says what became of the bytes of somebody else: its word on the money is taken.
    fn resume(&mut self, input: &mut Input<'_>) -> Option<Money> {
        let (first, again) = (PAYMENTS.at(input.below(2)), PAYMENTS.at(2));
        let count = input.below(3);
        let payments = [first, again].into_iter().take(count);
        let payments: Vec<_> = payments.map(|one| one.payment.clone()).collect();
        let record = RECORDS.get(input.below(RECORDS.len()));
        let record = record.copied().unwrap_or(Money::Unspent);
        let shown = u32::from(input.byte().unwrap_or_default());
        let held = self.purchase.payments().len();
        self.purchase
            .resume(self.purchase.key(), payments, record, shown);
        if count <= held {
            return None;
        }
        let money = self.purchase.money();
        assert!(
            is_open(money) || money == record || held > 0,
            "{record} was taken as {money}"
        );
        let last = if count > 1 { again } else { first };
        self.bystander = Bystander {
            stands: Some(last.header.clone()),
            signatures: count,
            shown_before: shown,
            ..Bystander::default()
        };
        Some(money)
    }

    /// What holds at every moment.
    fn compare(&mut self) {
        let purchase = &self.purchase;
        assert_eq!(purchase.payments().len(), self.bystander.signatures);
        assert!(
            self.bystander.signatures <= MOST_SIGNATURES,
            "signed too often"
        );
        let shown = self
            .bystander
            .shows
            .saturating_add(self.bystander.shown_before);
        assert_eq!(purchase.shown(), shown);
        for payment in purchase.payments() {
            let space = (
                payment.payer(),
                payment.pay_to(),
                payment.asset(),
                payment.nonce(),
                payment.payment_id().clone(),
            );
            let first = self.bystander.space.get_or_insert_with(|| space.clone());
            assert_eq!(
                *first, space,
                "two payments that can settle beside each other"
            );
        }
        let largest = purchase.payments().iter().map(SignedPayment::amount).max();
        assert!(purchase.at_stake() >= largest);
    }
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
    let never_back = !matches!(then, Money::Unspent | Money::Signed);
    match known {
        Money::Settled => then == Money::Settled,
        Money::Pending => matches!(then, Money::Pending | Money::Settled),
        Money::Unknown => matches!(then, Money::Unknown | Money::Pending | Money::Settled),
        Money::Sent | Money::Refused => never_back,
        Money::Signed => then != Money::Unspent,
        Money::Unspent | _ => true,
    }
}

fn receipt(reason: &str, transaction: &str) -> String {
    format!(r#"{{"success":false,"errorReason":"{reason}","transaction":"{transaction}"}}"#)
}

fn put(fields: &mut HeaderMap, receipt: &str) {
    let field = STANDARD.encode(receipt).parse();
    fields.extend(field.map(|field| (headers::PAYMENT_RESPONSE, field)));
}

impl Payments {
    fn at(&self, place: usize) -> &Signed {
        let Some(one) = self.all.get(place) else {
            panic!("there is no payment {place}");
        };
        one
    }
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn below(&mut self, end: usize) -> usize {
        let byte = usize::from(self.byte().unwrap_or_default());
        byte.checked_rem(end).unwrap_or_default()
    }

    fn payment(&mut self) -> &'static Signed {
        PAYMENTS.at(self.below(PAYMENTS.all.len()))
    }

    /// Up to a minute and five seconds, in milliseconds.
    fn time(&mut self) -> u64 {
        let two = [self.byte(), self.byte()].map(Option::unwrap_or_default);
        u64::from(u16::from_be_bytes(two))
    }

    fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}

const STATUSES: [StatusCode; 10] = [
    StatusCode::OK,
    StatusCode::NO_CONTENT,
    StatusCode::FOUND,
    StatusCode::BAD_REQUEST,
    StatusCode::PAYMENT_REQUIRED,
    StatusCode::CONFLICT,
    StatusCode::PRECONDITION_FAILED,
    StatusCode::TOO_MANY_REQUESTS,
    StatusCode::INTERNAL_SERVER_ERROR,
    StatusCode::BAD_GATEWAY,
];

const REASONS: [&str; 7] = [
    "",
    "insufficient_funds",
    "invalid_exact_evm_signature",
    "invalid_exact_evm_payload_authorization_valid_before",
    "settlement_pending",
    "nonce_already_used",
    "fetch failed",
];

const RECORDS: [Money; 7] = [
    Money::Unspent,
    Money::Signed,
    Money::Sent,
    Money::Refused,
    Money::Pending,
    Money::Unknown,
    Money::Settled,
];

/// When it begins, in seconds.
const START: u64 = 1_800_000_000;
