//! Several buyers, sellers of any kind and chains that mine late, under schedules drawn from seeds:
//! one call moves money at most once.
//!
//! Each process is a driver that goes on by half steps, so that two can be interleaved on one key
//! and each can die between any two. A virtual clock jumps; the signer is real and so is the
//! ledger.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a helper of a test fails the test by panicking"
)]

mod alphabet;
mod chain;
mod checks;
mod driver;
mod file;
mod market;
mod process;
mod schedule;
mod script;
mod seller;
mod tally;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use paywait_ledger::MemoryLedger;

use alphabet::Death;
use market::{Books, Market};
use process::{PLAN, Running};
use script::Script;
use seller::{FAIR, Way};
use tally::Tally;

/// Records in memory.
fn in_memory() -> Books {
    let ledger = Arc::new(MemoryLedger::new());
    let used = Arc::clone(&ledger);
    Books {
        ledger,
        used: Arc::new(move |now| used.used_today(now)),
        // what is only in memory is not opened twice: it lives on
        reopens: Arc::new(Books::clone),
    }
}

/// Runs `count` schedules from `first` on, and says which seeds failed.
fn schedules(first: u64, count: u64) -> Tally {
    let mut all = Tally::default();
    let mut failed = Vec::new();
    for seed in first..first.saturating_add(count) {
        match catch_unwind(AssertUnwindSafe(|| schedule::run(seed, in_memory))) {
            Ok(tally) => all.add(tally),
            Err(_) => failed.push(seed),
        }
        if failed.len() >= 50 {
            break;
        }
    }
    assert!(failed.is_empty(), "these seeds failed: {failed:?}");
    all
}

/// How many schedules, and from which seed: `PAYWAIT_SCHEDULES` and `PAYWAIT_SEED`.
#[test]
fn one_call_moves_money_at_most_once() {
    let count = set("PAYWAIT_SCHEDULES").unwrap_or(1_500);
    let first = set("PAYWAIT_SEED").unwrap_or(0);
    let began = Instant::now();
    let met = schedules(first, count);
    println!(
        "{count} schedules from seed {first} in {:?}",
        began.elapsed()
    );
    for (what, times) in &met.0 {
        println!("{times:>9} {what}");
    }
    if count >= 1_500 {
        for what in MET {
            assert!(met.of(what) > 0, "never met: {what}");
        }
    }
}

/// How often money moves for one name if its records are lost, and the answer to the first payment
/// with them, and the seller then offers another chain or not.
fn moves_after_a_loss(other_chain: bool) -> u64 {
    let mut lost = FAIR;
    lost.way = Way::AnswerLost;
    let mut anew = FAIR;
    if other_chain {
        (anew.asks.other, anew.asks.other_only) = (Some(10_000), true);
    }
    let script = Script::of(&[FAIR, lost, anew, anew]);
    let mut market = Market::new(script, 7, in_memory);
    market.apart = true;
    let mut first = Running::start(PLAN, &mut market, 0);
    // an offer, an intent, a signature, a record, and a payment that is not answered
    assert!(!alphabet::drive(&mut first, &mut market, 13));
    market.lose_records();
    let mut second = Running::start(PLAN, &mut market, 1);
    alphabet::drive(&mut second, &mut market, u32::MAX);
    market.pass_all();
    market.tally.of("settlements")
}

#[test]
fn lost_records_cost_nothing_unless_the_seller_moves_to_another_chain_meanwhile() {
    assert_eq!(moves_after_a_loss(false), 1);
    // a nonce settles once on each chain: who does not know where it signed cannot do better
    assert_eq!(moves_after_a_loss(true), 2);
}

fn set(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Schedules that have failed once, and why.
#[test]
fn what_failed_once_does_not_fail_again() {
    for (seed, why) in REGRESSIONS {
        println!("{seed}: {why}");
        schedule::run(*seed, in_memory);
    }
}

/// How deep: `PAYWAIT_DEPTH`.
#[test]
fn whatever_a_seller_answers_in_a_row_and_wherever_the_buyer_dies_money_moves_at_most_once() {
    let depth = set("PAYWAIT_DEPTH").unwrap_or(1);
    let depth = u32::try_from(depth).unwrap();
    let mut met = Tally::default();
    alphabet::each_sequence(depth + 1, |turns| {
        alphabet::run(turns, None, in_memory, &mut met);
    });
    alphabet::each_sequence(depth, |turns| {
        for death in [Death::Dropped, Death::Killed] {
            let mut half_steps = 0;
            while alphabet::run(turns, Some((death, half_steps)), in_memory, &mut met) {
                half_steps += 1;
            }
        }
    });
    println!("{met:?}");
    let least = 12_u64.pow(depth + 1);
    assert!(met.of("sequences") > least && met.of("second signature") > least / 12);
}

/// Each action of each of these sequences is the last of its process; what it wrote is opened by the
/// next from the file.
#[test]
fn wherever_a_process_dies_the_next_goes_on_from_its_file() {
    let mut met = Tally::default();
    alphabet::each_sequence(1, |turns| {
        let mut half_steps = 0;
        let dies = |half_steps| Some((Death::Killed, half_steps));
        while alphabet::run(turns, dies(half_steps), file::in_a_file, &mut met) {
            half_steps += 1;
        }
    });
    println!("{met:?}");
    assert!(met.of("sequences") > 200 && met.of("second signature") > 0);
}

/// Schedules of all kinds, with the records in a file: `PAYWAIT_FILE_SCHEDULES`.
#[test]
fn a_ledger_in_a_file_keeps_every_promise_that_one_in_memory_does() {
    let count = set("PAYWAIT_FILE_SCHEDULES").unwrap_or(40);
    for seed in 0..count {
        schedule::run(seed, file::in_a_file);
    }
}

/// Seeds of schedules that failed, with what was found by them.
const REGRESSIONS: &[(u64, &str)] = &[
    (149, "a takeover ended with the hold of a dead payment"),
    (213, "signed again for what another had delivered"),
    (
        574,
        "a second signature was taken for refused, as the first",
    ),
    (758, "a refusal of the first signature outlived the second"),
    (
        1323,
        "what a dead owner had refused was handed out as refused",
    ),
    (8974, "signed for what had been ended by hand meanwhile"),
    (
        182_687,
        "signed again for what was ended by hand and forgotten",
    ),
    (84_294, "a send was put off by a pacer without end"),
    (17_691, "a clock that went back and forth ended a hold"),
];

/// What a run that is worth something has met.
const MET: &[&str] = &[
    "signatures",
    "settlements",
    "second signature",
    "taken over",
    "lease expired",
    "lost its lease",
    "dead resume",
    "lost records",
    "resolved",
    "jumped",
    "killed",
    "dropped",
    "money unspent",
    "money signed",
    "money sent",
    "money refused",
    "money pending",
    "money unknown",
    "money settled",
    "end served",
    "end stopped",
    "end exhausted",
    "end deferred",
    "end unanswered",
    "end paid, not delivered",
    "end outcome unknown",
    "end in flight",
    "end key spent",
    "end not paid: policy",
    "end not paid: limit",
    "end not paid: expired",
    "end not paid: signer",
    "end not paid: redirected",
    "end not paid: other request",
];
