//! One call against a seller of any kind, under random schedules: no sockets, no clock.
//!
//! The world plays the driver: it does what the call asks, with a real signer and a real ledger,
//! and lets a model seller answer as a script says. What is asserted is the seller's own count.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a helper of a test fails the test by panicking"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Waker};

use alloy_signer_local::PrivateKeySigner;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use paywait_call::{
    Action, Answered, Call, End, Facts, Failure, FailureKind, Intended, Means, NotPaid, Patience,
    Report,
};
use paywait_ledger::{Epoch, Fingerprint, Intent, Ledger, Limits, MemoryLedger, Taken};
use paywait_signals::{Reply, Timestamp};
use paywait_x402::{Derivation, KnownAsset, Money, Policy, PurchaseKey, Terms, Wallet, usd};
use proptest::prelude::*;
use serde_json::json;

/// How the seller answers one send.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Says {
    /// As it should: an offer, or what was paid for.
    Fair,
    /// A status, with a wait in seconds, after the money moved or not.
    Refuses {
        status: u16,
        wait: Option<u64>,
        moves: bool,
        receipt: bool,
    },
    /// 402 and a receipt that says no.
    Fails {
        reason: &'static str,
        hash: bool,
        moves: bool,
    },
    /// 402 and an offer that gives a reason.
    OffersAnew { reason: &'static str, moves: bool },
    /// No answer.
    Lost {
        kind: FailureKind,
        left: bool,
        moves: bool,
    },
    /// A layer turns the send back.
    TurnedBack,
    /// 200 with a receipt that cannot be read.
    Garbled,
}

/// One step of a schedule: what the seller says, and what time does meanwhile.
#[derive(Clone, Copy, Debug)]
struct Turn {
    says: Says,
    /// How long the send takes, in milliseconds.
    takes: u64,
    /// When the pacer lets the send go, in milliseconds from when it is asked.
    slot: u64,
    /// A jump of the wall clock, in milliseconds; backward where negative.
    jump: i64,
}

static SIGNER: LazyLock<PrivateKeySigner> = LazyLock::new(PrivateKeySigner::random);

/// The seller, the ledger and the time, and all that is counted.
struct World {
    now: u64,
    ledger: Arc<MemoryLedger>,
    wallet: Wallet,
    /// How often each payment settled, by the bytes shown. A nonce settles once.
    settled: BTreeSet<Vec<u8>>,
    shown: BTreeSet<Vec<u8>>,
    signatures: u32,
    served: bool,
    told_not_before: u64,
    persisted: bool,
    epoch: Option<Epoch>,
    signer_asked: bool,
    settlements: u32,
}

const KEY: &str = "order-17";

impl World {
    fn new() -> Self {
        let ledger = Arc::new(MemoryLedger::new());
        ledger.register(Limits::per_call(usd("0.05").unwrap()).per_day(usd("5").unwrap()));
        Self {
            now: 1_800_000_000_000,
            ledger,
            wallet: Wallet::evm(SIGNER.clone()),
            settled: BTreeSet::new(),
            shown: BTreeSet::new(),
            signatures: 0,
            served: false,
            told_not_before: 0,
            persisted: false,
            epoch: None,
            signer_asked: false,
            settlements: 0,
        }
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.now)
    }

    /// Starts a call for the same named purchase, and takes up what stands in the ledger.
    fn call(&mut self, seed: u64, paced: bool) -> Call {
        let mut call = Call::new(Facts::of(&Method::POST, true), seed, self.now());
        call.lend_patience(&Patience::default());
        if paced {
            call.lend_pacer();
        }
        let policy = Arc::new(Policy::new(usd("0.05").unwrap()));
        let key = PurchaseKey::named(KEY);
        let payer = self.wallet.payer();
        call.lend_means(Means::new(policy, payer, Derivation::default(), key, true));
        self.signer_asked = false;
        self.persisted = false;
        // what one call was told is not what the next one knows
        self.told_not_before = 0;
        match at_once(self.ledger.take(key, fingerprint(), self.now())).unwrap() {
            Taken::Standing {
                epoch,
                payment,
                money,
            } => {
                self.epoch = Some(epoch);
                self.signer_asked = true;
                self.persisted = true;
                call.resume(*payment, money);
            }
            Taken::InFlight => call.give_up(End::InFlight),
            _ => {}
        }
        call
    }

    /// Does up to `most` actions of a call; then it is as if the process had died.
    fn drive(&mut self, call: &mut Call, turns: &[Turn], most: usize) -> bool {
        let mut turns = turns.iter().copied().chain(std::iter::repeat(FAIR));
        for _ in 0..most {
            match call.next(self.now()) {
                Action::Finish(_) => return true,
                Action::Admit => {
                    let slot = turns.clone().next().unwrap().slot;
                    let at = Timestamp::from_millis(self.now + slot);
                    call.handle_admitted(at, self.now());
                    if slot > 0 {
                        // the slot's own time has come: the next question is answered at once
                        turns.next();
                    }
                }
                Action::Intend(terms) => self.intend(call, &terms),
                Action::Sign(terms) => {
                    self.signer_asked = true;
                    self.signatures += 1;
                    let signed = ready(self.wallet.sign(&terms));
                    call.handle_signed(signed.map_err(|error| error.to_string()));
                }
                Action::Persist(payment) => {
                    let key = PurchaseKey::named(KEY);
                    let epoch = self.epoch.unwrap();
                    let stands = at_once(self.ledger.persist(key, epoch, payment, self.now()));
                    self.persisted = true;
                    call.handle_persisted(stands.map_err(|error| error.to_string()));
                }
                Action::Sleep(until) => self.now = self.now.max(until.as_millis()),
                Action::Send(outgoing) => {
                    let mut fields = HeaderMap::new();
                    outgoing.write(&mut fields);
                    let payment = fields.get("payment-signature").cloned();
                    self.send(call, payment, turns.next().unwrap());
                }
                other => panic!("{other:?}"),
            }
        }
        false
    }

    fn intend(&mut self, call: &mut Call, terms: &Terms) {
        let price = KnownAsset::find(terms.asset())
            .unwrap()
            .usd(terms.amount())
            .unwrap();
        let intent = Intent::new(PurchaseKey::named(KEY), fingerprint(), terms, price).named(true);
        let taken = at_once(self.ledger.intend(intent, self.now())).unwrap();
        call.handle_intended(match taken {
            Taken::Intended(epoch) => {
                self.epoch = Some(epoch);
                Intended::New
            }
            Taken::Standing {
                epoch,
                payment,
                money,
            } => {
                self.epoch = Some(epoch);
                Intended::Standing(*payment, money)
            }
            _ => Intended::InFlight,
        });
    }

    /// One send over the wire.
    fn send(&mut self, call: &mut Call, payment: Option<HeaderValue>, turn: Turn) {
        assert!(self.now >= self.told_not_before, "sooner than told");
        let bytes = payment.map(|payment| payment.as_bytes().to_vec());
        if let Some(bytes) = &bytes {
            assert!(self.persisted, "sent before it was persisted");
            self.shown.insert(bytes.clone());
        }
        self.now = (self.now + turn.takes).saturating_add_signed(turn.jump);
        self.told_not_before = 0;
        match turn.says {
            Says::TurnedBack => return call.handle_turned_back(),
            Says::Lost { kind, left, moves } => {
                if left && moves {
                    self.settle(bytes.as_ref());
                }
                let failure = if left {
                    Failure::lost(kind)
                } else {
                    Failure::unsent(kind)
                };
                call.handle_failure(failure, self.now());
            }
            says => {
                let (status, fields) = self.answer(says, bytes.as_ref());
                let status = StatusCode::from_u16(status).unwrap();
                self.served |= status.is_success();
                call.handle_reply(&Answered::new(Reply::new(status, &fields, &[])), self.now());
            }
        }
        self.note(call);
    }

    fn note(&mut self, call: &Call) {
        let purchase = call.purchase().unwrap();
        if let (true, Some(epoch)) = (purchase.is_signed(), self.epoch) {
            let key = PurchaseKey::named(KEY);
            at_once(self.ledger.note(key, epoch, purchase.money(), self.now())).unwrap();
        }
    }

    /// EIP-3009: a nonce settles once.
    fn settle(&mut self, bytes: Option<&Vec<u8>>) -> bool {
        let Some(bytes) = bytes else {
            return false;
        };
        let first = self.settled.insert(bytes.clone());
        self.settlements += u32::from(first);
        first
    }

    fn answer(&mut self, says: Says, bytes: Option<&Vec<u8>>) -> (u16, HeaderMap) {
        let mut fields = HeaderMap::new();
        let unpaid = bytes.is_none();
        match says {
            Says::Refuses {
                status,
                wait,
                moves,
                receipt,
            } => {
                if moves {
                    self.settle(bytes);
                }
                if receipt && moves && !unpaid {
                    put(
                        &mut fields,
                        "payment-response",
                        &json!({"success": true, "transaction": "0x1"}),
                    );
                }
                if let Some(wait) = wait {
                    fields.insert("retry-after", wait.into());
                    self.told_not_before = self.now + wait * 1_000;
                }
                (status, fields)
            }
            _ if unpaid => {
                put(&mut fields, "payment-required", &offer(""));
                (402, fields)
            }
            Says::Fails {
                reason,
                hash,
                moves,
            } => {
                if moves {
                    self.settle(bytes);
                }
                let transaction = if hash { "0x1" } else { "" };
                let receipt =
                    json!({"success": false, "errorReason": reason, "transaction": transaction});
                put(&mut fields, "payment-response", &receipt);
                (402, fields)
            }
            Says::OffersAnew { reason, moves } => {
                if moves {
                    self.settle(bytes);
                }
                put(&mut fields, "payment-required", &offer(reason));
                (402, fields)
            }
            Says::Garbled => {
                self.settle(bytes);
                fields.insert("payment-response", HeaderValue::from_static("!!"));
                (200, fields)
            }
            _ => {
                self.settle(bytes);
                put(
                    &mut fields,
                    "payment-response",
                    &json!({"success": true, "transaction": "0x1"}),
                );
                (200, fields)
            }
        }
    }

    /// What a driver's guard does when it is dropped.
    fn drop_driver(&mut self) {
        if let Some(epoch) = self.epoch.take() {
            self.ledger
                .release(PurchaseKey::named(KEY), epoch, self.signer_asked);
        }
    }

    /// What must hold whatever has happened.
    fn check(&self) {
        assert!(self.settlements <= 1, "paid {} times", self.settlements);
        assert!(
            self.shown.len() <= 1,
            "{} payments for one purchase",
            self.shown.len()
        );
        if self.settlements == 1 {
            assert_eq!(self.ledger.used_today(self.now()), usd("0.01").unwrap());
        }
    }
}

/// What must hold of how a call ended.
fn check_end(report: &Report, world: &World) {
    let money = report
        .paid
        .as_ref()
        .map_or(Money::Unspent, |paid| paid.money);
    let served = report.end == End::Served;
    match &report.end {
        End::PaidNotDelivered => assert_eq!(money, Money::Settled),
        End::OutcomeUnknown => {
            assert!(
                matches!(money, Money::Sent | Money::Pending | Money::Unknown),
                "{money}"
            );
        }
        End::Served => assert!(!money.may_be_spent() || money == Money::Settled, "{money}"),
        _ => assert!(
            matches!(money, Money::Unspent | Money::Signed | Money::Refused),
            "{} with {money}",
            report.end
        ),
    }
    if world.settlements == 1 && !served && money == Money::Refused {
        // a seller that lies with a code of its facilitator: the price stays held
        assert_eq!(world.ledger.used_today(world.now()), usd("0.01").unwrap());
    }
}

fn fingerprint() -> Fingerprint {
    Fingerprint::of("POST", "https://seller.example/", b"")
}

fn offer(reason: &str) -> serde_json::Value {
    json!({"x402Version": 2, "error": reason, "accepts": [{
        "scheme": "exact", "network": "eip155:84532", "amount": "10000",
        "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C", "maxTimeoutSeconds": 120,
        "extra": {"name": "USDC", "version": "2"},
    }]})
}

fn put(fields: &mut HeaderMap, name: &'static str, value: &serde_json::Value) {
    fields.insert(name, STANDARD.encode(value.to_string()).parse().unwrap());
}

/// A ledger in memory is ready at once, and so is a signer in this process.
fn at_once<T>(mut future: paywait_ledger::Durable<T>) -> T {
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

fn ready<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

const FAIR: Turn = Turn {
    says: Says::Fair,
    takes: 20,
    slot: 0,
    jump: 0,
};

/// More actions than any call takes.
const BOUND: usize = 400;

fn says() -> impl Strategy<Value = Says> {
    let status = prop::sample::select(vec![429_u16, 503, 500, 502, 404, 409, 412, 307, 402, 403]);
    let wait = prop::option::of(0_u64..150);
    let reason = prop::sample::select(vec![
        "insufficient_funds",
        "settlement_pending",
        "fetch failed",
        "invalid_exact_evm_nonce_already_used",
        "invalid_exact_evm_payload_authorization_valid_before",
        "",
    ]);
    let kind = prop::sample::select(vec![
        FailureKind::Connect,
        FailureKind::Timeout,
        FailureKind::Broken,
        FailureKind::Final,
    ]);
    prop_oneof![
        3 => Just(Says::Fair),
        4 => (status, wait, any::<bool>(), any::<bool>())
            .prop_map(|(status, wait, moves, receipt)| Says::Refuses { status, wait, moves, receipt }),
        2 => (reason.clone(), any::<bool>(), any::<bool>())
            .prop_map(|(reason, hash, moves)| Says::Fails { reason, hash, moves }),
        2 => (reason, any::<bool>()).prop_map(|(reason, moves)| Says::OffersAnew { reason, moves }),
        3 => (kind, any::<bool>(), any::<bool>())
            .prop_map(|(kind, left, moves)| Says::Lost { kind, left, moves }),
        1 => Just(Says::TurnedBack),
        1 => Just(Says::Garbled),
    ]
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let slot = prop_oneof![4 => Just(0_u64), 1 => 1_u64..200_000];
    let jump = prop_oneof![6 => Just(0_i64), 1 => -7_200_000_i64..7_200_000];
    let turn = (says(), 0_u64..3_000, slot, jump).prop_map(|(says, takes, slot, jump)| Turn {
        says,
        takes,
        slot,
        jump,
    });
    prop::collection::vec(turn, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn one_call_pays_at_most_once_and_always_ends(
        turns in turns(), seed in any::<u64>(), paced in any::<bool>(),
    ) {
        let mut world = World::new();
        let mut call = world.call(seed, paced);
        prop_assert!(world.drive(&mut call, &turns, BOUND), "it does not end");
        world.drop_driver();
        prop_assert!(world.signatures <= 1);
        world.check();
        check_end(&call.into_report(), &world);
    }

    #[test]
    fn a_call_that_dies_anywhere_is_taken_up_and_pays_at_most_once(
        turns in turns(), later in turns(), dies_after in 0_usize..30, seed in any::<u64>(),
        again in 1_usize..4,
    ) {
        let mut world = World::new();
        let mut call = world.call(seed, false);
        world.drive(&mut call, &turns, dies_after);
        drop(call);
        world.drop_driver();
        for turn in 0..again {
            let mut next = world.call(seed ^ 1, turn % 2 == 0);
            prop_assert!(world.drive(&mut next, &later, BOUND));
            world.drop_driver();
            world.check();
        }
    }
}

#[test]
fn at_each_single_step_a_death_is_survived() {
    let scripts: [&[Says]; 4] = [
        &[Says::Fair, Says::Fair],
        &[
            Says::Fair,
            Says::Lost {
                kind: FailureKind::Broken,
                left: true,
                moves: true,
            },
        ],
        &[
            Says::Fair,
            Says::Refuses {
                status: 429,
                wait: Some(2),
                moves: true,
                receipt: true,
            },
            Says::Fair,
        ],
        &[
            Says::Fair,
            Says::Fails {
                reason: "fetch failed",
                hash: false,
                moves: true,
            },
        ],
    ];
    let mut ends: BTreeMap<String, u32> = BTreeMap::new();
    for script in scripts {
        let turns: Vec<Turn> = script
            .iter()
            .map(|says| Turn {
                says: *says,
                ..FAIR
            })
            .collect();
        for dies_after in 0..20 {
            let mut world = World::new();
            let mut call = world.call(7, false);
            let ended = world.drive(&mut call, &turns, dies_after);
            drop(call);
            world.drop_driver();
            if ended {
                continue;
            }
            let mut next = world.call(8, false);
            assert!(world.drive(&mut next, &[], BOUND));
            world.drop_driver();
            world.check();
            let end = next.into_report().end.to_string();
            *ends.entry(end).or_default() += 1;
        }
    }
    // each death is followed by the goods: the seller of this test serves the same bytes again
    assert_eq!(
        ends.keys().map(String::as_str).collect::<Vec<_>>(),
        ["served"]
    );
}

#[test]
fn a_death_in_the_signer_s_hands_signs_the_same_nonce_again() {
    let mut world = World::new();
    let mut call = world.call(7, false);
    // Send, Intend, Sign: the bytes were signed and not written
    world.drive(&mut call, &[], 3);
    assert_eq!(world.signatures, 1);
    drop(call);
    world.drop_driver();
    let mut next = world.call(8, false);
    assert!(world.drive(&mut next, &[], BOUND));
    world.check();
    assert_eq!((world.signatures, world.settlements), (2, 1));
}

#[test]
fn a_call_whose_purchase_another_caller_holds_is_in_flight() {
    let mut world = World::new();
    let mut call = world.call(7, false);
    world.drive(&mut call, &[], 4);
    let other = world.call(8, false);
    assert_eq!(other.end(), Some(&End::InFlight));
}

#[test]
fn an_offer_to_a_body_that_can_be_sent_once_is_not_paid() {
    let mut world = World::new();
    let mut call = Call::new(Facts::of(&Method::POST, false).once(), 7, world.now());
    let means = Means::new(
        Arc::new(Policy::new(usd("1").unwrap())),
        world.wallet.payer(),
        Derivation::default(),
        PurchaseKey::random(),
        false,
    );
    call.lend_means(means);
    assert!(world.drive(&mut call, &[], BOUND));
    assert_eq!(call.end(), Some(&End::NotPaid(NotPaid::Once)));
    assert_eq!(world.signatures, 0);
}

#[test]
fn asked_twice_while_a_send_is_out_it_hands_nothing_out_twice() {
    let mut world = World::new();
    let mut call = world.call(7, false);
    world.drive(&mut call, &[], 4);
    assert!(matches!(call.next(world.now()), Action::Send(_)));
    assert!(matches!(
        call.next(world.now()),
        Action::Finish(End::OutcomeUnknown)
    ));
}

#[test]
fn a_paid_answer_from_another_origin_is_no_delivery() {
    let mut world = World::new();
    let mut call = world.call(7, false);
    world.drive(&mut call, &[], 4);
    assert!(matches!(call.next(world.now()), Action::Send(_)));
    let fields = HeaderMap::new();
    let answer = Answered::new(Reply::new(StatusCode::OK, &fields, &[])).same_origin(false);
    call.handle_reply(&answer, world.now());
    assert_eq!(call.end(), Some(&End::PaidNotDelivered));
}
