//! One call against a seller of any kind, under random scripts: no sockets, no clock.
//!
//! The world plays the driver: it does what the call asks, with a real signer and a real ledger,
//! and lets a model seller answer as a script says. What is asserted is what the seller, the signer
//! and the ledger count.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a helper of a test fails the test by panicking"
)]

mod script;
mod seller;
mod world;

use std::collections::BTreeMap;

use paywait_call::{End, FailureKind, NotPaid, Report};
use paywait_x402::{Money, usd};
use proptest::prelude::*;

use script::{FAIR, Says, Script, Turn, VOCABULARY, lost, turns};
use world::{PLAN, Plan, World};

/// What must hold whatever has happened.
fn check(world: &World) {
    assert!(world.seller.settlements() <= 1, "money moved twice");
    assert!(
        world.seller.shown.len() <= 2,
        "three payments of one nonce were shown"
    );
    assert!(world.nonces.len() <= 1, "two nonces were signed");
    assert!(world.seen.signatures <= 2, "a call signed three times");
    if !world.nonces.is_empty() {
        // scripts are short beside the day for which it is held
        let held = world.ledger.used_today(world.now());
        let may_lapse = world.seller.shown.is_empty();
        assert!(
            (world.asked_for..=world.intended).contains(&held) || may_lapse,
            "{held} held of {}",
            world.asked_for
        );
    }
}

/// What must hold of how a call ended that was not cut short.
fn check_end(world: &World, report: &Report) {
    let (end, seen) = (&report.end, &world.seen);
    let spent = matches!(end, End::PaidNotDelivered | End::KeySpent);
    let in_doubt = spent || *end == End::OutcomeUnknown;
    assert_eq!(*end == End::Served, seen.served, "{end}");
    assert_eq!(report.sends.len(), usize::try_from(seen.sends).unwrap());
    if *end == End::InFlight {
        assert!(!seen.open, "bytes are out, and they are another's");
    }
    if seen.served || *end == End::InFlight {
        return;
    }
    // what was refused and cannot be shown any more is in doubt too: the refusal was of its own send
    let refused = report
        .paid
        .as_ref()
        .is_some_and(|paid| paid.money == Money::Refused);
    let unasked = report.sends.is_empty() && refused;
    assert!(
        in_doubt == seen.open || (in_doubt && unasked),
        "{end}, {report:?}"
    );
    let moved = world.seller.settlements() > 0;
    assert!(
        in_doubt || !moved || world.seller.lied,
        "money moved: {end}"
    );
    let settled = world.booked() == Some(Money::Settled);
    assert_eq!(spent, settled, "{end}");
    let money = report.paid.as_ref().map(|paid| paid.money);
    assert_eq!(spent, money == Some(Money::Settled));
}

/// Drives one call to its end, and checks all of it.
fn finish(world: &mut World, plan: Plan, script: &mut Script) -> Report {
    let mut call = world.call(plan);
    world.drive_bounded(&mut call, script);
    world.drop_driver();
    let report = call.into_report();
    check(world);
    check_end(world, &report);
    // a price check, a second one, and what a second signature mends count as no attempts
    let sends = plan.attempts.unwrap_or(1) + 3;
    assert!(world.seen.sends <= sends, "{} sends", world.seen.sends);
    report
}

fn plan() -> impl Strategy<Value = Plan> {
    let attempts = prop_oneof![1 => Just(None), 2 => Just(Some(5)), 1 => (1_u32..6).prop_map(Some)];
    let deadline = prop_oneof![3 => Just(None), 1 => (0_u64..200_000).prop_map(Some)];
    (
        any::<u64>(),
        attempts,
        any::<bool>(),
        prop::bool::weighted(0.8),
        deadline,
    )
        .prop_map(|(seed, attempts, paced, idempotent, deadline)| Plan {
            seed,
            attempts,
            paced,
            idempotent,
            deadline,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_call_pays_at_most_once_and_always_ends(
        turns in turns(), plan in plan(), named in any::<bool>(), signer_fails in prop::bool::weighted(0.05),
    ) {
        let mut world = if named { World::new() } else { World::nameless() };
        world.signer_fails = signer_fails;
        finish(&mut world, plan, &mut Script::new(&turns));
    }

    #[test]
    fn calls_of_one_key_one_after_the_other_pay_at_most_once(
        turns in turns(), later in turns(), plan in plan(), other in plan(), calls in 1_usize..4,
    ) {
        let mut world = World::new();
        finish(&mut world, plan, &mut Script::new(&turns));
        let mut script = Script::new(&later);
        for _ in 0..calls {
            finish(&mut world, other, &mut script);
        }
        prop_assert!(world.signatures <= 2);
    }

    #[test]
    fn a_call_that_dies_anywhere_is_taken_up_and_pays_at_most_once(
        turns in turns(), later in turns(), dies_in in 0_u32..40, plan in plan(), other in plan(),
        releases in prop::bool::weighted(0.8), calls in 1_usize..4,
    ) {
        let mut world = World::new();
        let mut call = world.call(plan);
        world.dies_in(dies_in);
        let died = world.drive(&mut call, &mut Script::new(&turns)).is_err();
        drop(call);
        if releases || !died {
            world.drop_driver();
        }
        check(&world);
        let mut script = Script::new(&later);
        for _ in 0..calls {
            finish(&mut world, other, &mut script);
        }
    }
}

/// Walks through all scripts of an offer and `depth` more turns.
fn each_script(depth: u32, mut visit: impl FnMut(&[Says])) {
    let words = u32::try_from(VOCABULARY.len()).unwrap();
    for number in 0..words.pow(depth) {
        let word = |place: u32| {
            let word = number / words.pow(place) % words;
            VOCABULARY[usize::try_from(word).unwrap()]
        };
        let said: Vec<Says> = std::iter::once(Says::Fair)
            .chain((0..depth).map(word))
            .collect();
        visit(&said);
    }
}

#[test]
fn whatever_a_seller_says_three_times_in_a_row_one_call_pays_at_most_once() {
    each_script(3, |said| {
        finish(&mut World::new(), PLAN, &mut Script::of(said));
    });
}

/// Lets a call die at each half step of it: with an action in its hands, and with the action done
/// and not told. Then another call of the same key goes on. Returns how many deaths there were.
fn each_death(said: &[Says], releases: bool) -> u32 {
    for dies_in in 0.. {
        let mut world = World::new();
        let mut call = world.call(PLAN);
        world.dies_in(dies_in);
        if world.drive(&mut call, &mut Script::of(said)).is_ok() {
            return dies_in;
        }
        drop(call);
        let held = world.seen.has_lease();
        if releases {
            world.drop_driver();
        }
        check(&world);
        let died = world.wall;
        finish(&mut world, PLAN, &mut Script::of(&[]));
        let waited = world.wall - died >= 20_000;
        assert!(waited || !held || releases, "{said:?} {dies_in}");
    }
    0
}

#[test]
fn a_death_before_and_after_each_action_is_survived_whatever_the_seller_said() {
    let mut deaths = 0;
    each_script(2, |said| deaths += each_death(said, true));
    assert!(deaths > 2_000, "{deaths}");
}

#[test]
fn a_death_that_gives_nothing_back_is_waited_for_as_long_as_its_lease() {
    let mut deaths = 0;
    each_script(1, |said| deaths += each_death(said, false));
    assert!(deaths > 100, "{deaths}");
}

#[test]
fn after_each_death_the_goods_still_come_where_the_seller_is_fair() {
    let mut ends: BTreeMap<String, u32> = BTreeMap::new();
    for dies_in in 0.. {
        let mut world = World::new();
        let mut call = world.call(PLAN);
        world.dies_in(dies_in);
        if world.drive(&mut call, &mut Script::of(&[])).is_ok() {
            break;
        }
        drop(call);
        world.drop_driver();
        let report = finish(&mut world, PLAN, &mut Script::of(&[]));
        *ends.entry(report.end.to_string()).or_default() += 1;
        assert_eq!(world.seller.settlements(), 1);
    }
    assert_eq!(
        ends.keys().map(String::as_str).collect::<Vec<_>>(),
        ["served"]
    );
}

#[test]
fn a_death_in_the_signer_s_hands_signs_the_same_nonce_again() {
    let mut world = World::new();
    let mut call = world.call(PLAN);
    // the offer came, the intent stands, the signer has signed and nobody was told
    world.dies_in(8);
    assert!(world.drive(&mut call, &mut Script::of(&[])).is_err());
    assert_eq!((world.signatures, world.seen.persisted), (1, false));
    drop(call);
    world.drop_driver();
    finish(&mut world, PLAN, &mut Script::of(&[]));
    assert_eq!((world.signatures, world.nonces.len()), (2, 1));
    assert_eq!(world.seller.settlements(), 1);
}

#[test]
fn what_was_lost_after_it_settled_is_shown_again_and_not_bought_again() {
    let mut world = World::new();
    let said = [Says::Fair, lost(FailureKind::Broken, true)];
    let report = finish(&mut world, PLAN, &mut Script::of(&said));
    assert_eq!(report.end, End::Served);
    assert_eq!((world.seller.settlements(), world.seller.runs), (1, 2));
    assert_eq!((world.signatures, world.seller.shown.len()), (1, 1));
}

#[test]
fn a_price_that_rises_on_the_way_is_not_paid_and_the_bytes_stay() {
    let mut world = World::new();
    let dear = |says| Turn {
        says,
        price: 40_000,
        ..FAIR
    };
    let anew = Says::OffersAnew {
        reason: "fetch failed",
        moves: false,
    };
    let turns = [FAIR, dear(anew), dear(anew), FAIR];
    let report = finish(&mut world, PLAN, &mut Script::new(&turns));
    assert_eq!(report.end, End::Served);
    assert_eq!(world.ledger.used_today(world.now()), usd("0.01").unwrap());
}

#[test]
fn a_call_that_cannot_wait_for_another_caller_of_its_key_is_in_flight_and_sends_nothing() {
    let hurried = Plan {
        deadline: Some(10_000),
        ..PLAN
    };
    // behind the intent, behind the signature, behind the record: and nobody gives it back
    for dies_in in [6, 8, 10] {
        let mut world = World::new();
        let mut call = world.call(PLAN);
        world.dies_in(dies_in);
        assert!(world.drive(&mut call, &mut Script::of(&[])).is_err());
        let report = finish(&mut world, hurried, &mut Script::of(&[]));
        assert_eq!((report.end, report.sends.len()), (End::InFlight, 0));
    }
}

#[test]
fn a_signer_that_fails_pays_nothing_and_its_hold_stays() {
    let mut world = World::new();
    world.signer_fails = true;
    let report = finish(&mut world, PLAN, &mut Script::of(&[]));
    assert_eq!(report.end, End::NotPaid(NotPaid::Signer("no".to_owned())));
    assert_eq!(world.ledger.used_today(world.now()), usd("0.01").unwrap());
    // asked again by the same key, it signs the same nonce
    world.signer_fails = false;
    let report = finish(&mut world, PLAN, &mut Script::of(&[]));
    assert_eq!((report.end, world.nonces.len()), (End::Served, 1));
}
