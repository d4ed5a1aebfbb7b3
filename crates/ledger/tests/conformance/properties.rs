//! What holds for any list of operations, and that both stores answer alike.

use futures_executor::block_on;
use paywait_ledger::{LedgerError, Note, Owner, Quantity, Resolution, Taken};
use paywait_signals::Timestamp;
use paywait_x402::{Money, usd};
use proptest::prelude::*;
use proptest::sample::select;

use crate::desk::{OTHER, PAYMENT, START, Store, at, before, intent, key, request, stores};

/// Whether `price` fits at `then`. What is asked for is given back at once.
fn has_room(store: &Store, price: &str, then: Timestamp, now: Timestamp) -> bool {
    let name = "somebody else";
    let intended = store.intend(intent(name, price, now.as_secs()), then);
    if let Ok(owner) = intended {
        store.release(name, owner, false);
    }
    intended.is_ok()
}

/// One thing that a ledger is asked, by one of three callers for one of three purchases.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Take,
    Intend {
        cents: u32,
        known: usize,
        named: bool,
    },
    Persist {
        other: bool,
    },
    Note {
        money: Money,
        delivered: bool,
    },
    Renew,
    Release {
        asked: bool,
    },
    Resolve(Resolution),
    Pass(u64),
}

fn operation() -> impl Strategy<Value = Operation> {
    let money = select(vec![
        Money::Sent,
        Money::Refused,
        Money::Pending,
        Money::Unknown,
        Money::Settled,
    ]);
    let resolution = select(vec![
        Resolution::Finished,
        Resolution::Presumed,
        Resolution::GivenUp,
        Resolution::Settled,
        Resolution::Unused,
    ]);
    prop_oneof![
        3 => Just(Operation::Take),
        4 => (1_u32..40, 0_usize..3, prop::bool::weighted(0.7))
            .prop_map(|(cents, known, named)| Operation::Intend { cents, known, named }),
        4 => any::<bool>().prop_map(|other| Operation::Persist { other }),
        3 => (money, any::<bool>())
            .prop_map(|(money, delivered)| Operation::Note { money, delivered }),
        1 => Just(Operation::Renew),
        3 => any::<bool>().prop_map(|asked| Operation::Release { asked }),
        1 => resolution.prop_map(Operation::Resolve),
        2 => select(vec![1, 20, 31, 130, 300, 4_000, 90_000]).prop_map(Operation::Pass),
    ]
}

/// Does one operation, and returns all that can be seen of what came of it.
fn act(store: &Store, name: &str, owner: Owner, operation: Operation, now: u64) -> String {
    let (ledger, key, moment) = (store.ledger(), key(name), at(now));
    match operation {
        Operation::Take => told(block_on(ledger.take(key, request(name), owner, moment))),
        Operation::Intend {
            cents,
            known,
            named,
        } => {
            let price = format!("0.{cents:02}");
            let intent = intent(name, &price, now).known(known).named(named);
            let intent = intent.takes_over(true);
            told(block_on(ledger.intend(intent, owner, moment)))
        }
        Operation::Persist { other } => {
            let payment = if other { &OTHER } else { &PAYMENT };
            let stands = block_on(ledger.persist(key, owner, (*payment).clone(), moment));
            format!(
                "{:?}",
                stands.map(|payment| payment.seal().as_bytes().to_vec())
            )
        }
        Operation::Note { money, delivered } => {
            let note = Note::new(money, 1).delivered(delivered);
            format!("{:?}", block_on(ledger.note(key, owner, note, moment)))
        }
        Operation::Renew => format!("{:?}", block_on(ledger.renew(key, owner, moment))),
        Operation::Release { asked } => {
            ledger.release(key, owner, asked);
            String::new()
        }
        Operation::Resolve(resolution) => {
            format!("{:?}", block_on(ledger.resolve(key, resolution, moment)))
        }
        Operation::Pass(_) => String::new(),
    }
}

fn told(taken: Result<Taken, LedgerError>) -> String {
    match taken {
        Ok(Taken::Standing(standing)) => {
            let payments = standing.payments.iter();
            let sealed: Vec<_> = payments.map(|one| one.seal().as_bytes().len()).collect();
            format!(
                "{} {:?} {} {sealed:?}",
                standing.key, standing.money, standing.shown
            )
        }
        other => format!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_stores_answer_alike_and_nothing_is_granted_that_passes_the_limit(
        operations in prop::collection::vec((0_usize..3, 0_usize..3, operation()), 1..60),
    ) {
        let names = ["one", "two", "three"];
        let owners = [1_u8, 2, 3].map(|number| Owner::from_bytes([number; 16]));
        let [memory, file] = stores("1");
        let limit = usd("1").unwrap();
        let mut now = START;
        for (name, owner, operation) in operations {
            if let Operation::Pass(seconds) = operation {
                now += seconds;
            }
            let act = |store: &Store| act(store, names[name], owners[owner], operation, now);
            let told = act(&memory);
            prop_assert_eq!(&told, &act(&file), "{:?}", operation);
            prop_assert_eq!(memory.used_then(at(now)), file.used_then(at(now)));
            prop_assert_eq!(memory.open(), file.open());
            // a receipt that comes late is booked, whether it fits or not; nothing is granted then
            let granted = told.starts_with("Ok(Intended");
            prop_assert!(!granted || memory.used_then(at(now)) <= limit);
        }
    }

    /// What was granted never passes the limit, and the time to come back is the first at which
    /// there is room.
    #[test]
    fn nothing_passes_the_limit_and_there_is_room_when_it_was_said(
        asked in prop::collection::vec((1_u32..60, 0_u64..40_000, any::<bool>()), 1..16),
    ) {
        for store in stores("1") {
            let limit = usd("1").unwrap();
            let mut now = START;
            for (place, (cents, later, settles)) in asked.clone().into_iter().enumerate() {
                now += later;
                let name = format!("order-{place}");
                let price = format!("0.{cents:02}");
                match store.intend(intent(&name, &price, now), at(now)) {
                    Ok(owner) => {
                        let ledger = store.ledger();
                        let written = ledger.persist(key(&name), owner, PAYMENT.clone(), at(now));
                        block_on(written).unwrap();
                        if settles {
                            let note = Note::new(Money::Settled, 1);
                            block_on(ledger.note(key(&name), owner, note, at(now))).unwrap();
                        }
                        store.release(&name, owner, true);
                    }
                    Err(LedgerError::OverLimit(over)) => {
                        prop_assert_eq!(over.used, Quantity::Usd(store.used_then(at(now))));
                        let room = over.come_back.unwrap();
                        prop_assert!(room > at(now));
                        prop_assert!(!has_room(&store, &price, before(room), at(now)));
                        prop_assert!(has_room(&store, &price, room, at(now)));
                        // the ledger has seen that moment; it goes on from there
                        now = room.as_secs();
                    }
                    Err(other) => prop_assert!(false, "{other:?}"),
                }
                prop_assert!(store.used_then(at(now)) <= limit);
            }
        }
    }
}
