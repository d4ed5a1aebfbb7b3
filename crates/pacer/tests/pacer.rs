//! What the pacer does in single, named situations.
#![expect(clippy::unwrap_used, reason = "a helper that panics is a failed test")]

use std::num::NonZeroUsize;
use std::time::Duration;

use paywait_pacer::{Cost, PaceKey, Pacer, Permit, Seen};
use paywait_signals::Timestamp;

fn key() -> PaceKey {
    PaceKey::origin("https", "api.example", 443)
}

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_secs(seconds)
}

fn left(remaining: u64, reset_in: u64) -> Seen {
    let mut seen = Seen::default();
    seen.remaining = Some(remaining);
    seen.reset_in = Some(Duration::from_secs(reset_in));
    seen
}

fn with_quota(mut seen: Seen, limit: u64, length: u64) -> Seen {
    seen.limit = Some(limit);
    seen.length = Some(Duration::from_secs(length));
    seen
}

/// Returns the permit for a send that may go now.
fn go(pacer: &mut Pacer, now: Timestamp) -> Permit {
    let slot = pacer.admit(&key(), Cost::default(), now);
    pacer.confirm(slot, now).unwrap()
}

/// Returns when the next send may go, and gives the place back.
fn next_at(pacer: &mut Pacer, now: Timestamp) -> Timestamp {
    let slot = pacer.admit(&key(), Cost::default(), now);
    let at = slot.at();
    pacer.cancel(slot);
    at
}

#[test]
fn an_unknown_window_holds_nothing_back() {
    let mut pacer = Pacer::default();
    for _ in 0..100 {
        let _permit = go(&mut pacer, at(0));
    }
    assert_eq!(pacer.admissions(), 100);
}

#[test]
fn an_exhausted_window_moves_the_slot_to_its_reset() {
    let mut pacer = Pacer::default();
    pacer.observe(&key(), None, &left(0, 60), at(10));
    assert_eq!(next_at(&mut pacer, at(20)), at(70));
}

#[test]
fn parallel_calls_beyond_what_is_left_go_at_the_reset() {
    let mut pacer = Pacer::default();
    pacer.observe(&key(), None, &left(3, 60), at(0));
    let slots: Vec<_> = (0..5)
        .map(|_| pacer.admit(&key(), Cost::default(), at(0)))
        .collect();
    let times: Vec<_> = slots.iter().map(|slot| slot.at().as_secs()).collect();
    assert_eq!(times, [0, 0, 0, 60, 60]);
}

#[test]
fn those_behind_a_full_window_are_spread_over_the_next_ones() {
    let mut pacer = Pacer::default();
    pacer.observe(&key(), None, &with_quota(left(0, 5), 2, 60), at(0));
    let slots: Vec<_> = (0..5)
        .map(|_| pacer.admit(&key(), Cost::default(), at(0)))
        .collect();
    let times: Vec<_> = slots.iter().map(|slot| slot.at().as_secs()).collect();
    assert_eq!(times, [5, 5, 65, 65, 125]);
}

#[test]
fn an_ended_window_with_a_quota_begins_anew() {
    let mut pacer = Pacer::default();
    pacer.observe(&key(), None, &with_quota(left(0, 5), 2, 60), at(0));
    let _both = [go(&mut pacer, at(6)), go(&mut pacer, at(6))];
    assert_eq!(next_at(&mut pacer, at(6)), at(65));
}

#[test]
fn an_ended_window_without_a_quota_is_unknown() {
    let mut pacer = Pacer::default();
    pacer.observe(&key(), None, &left(0, 5), at(0));
    let _permits: Vec<_> = (0..10).map(|_| go(&mut pacer, at(5))).collect();
    assert_eq!(next_at(&mut pacer, at(5)), at(5));
}

#[test]
fn a_length_stands_in_for_a_reset_that_was_not_named() {
    let mut pacer = Pacer::default();
    let mut seen = Seen::default();
    seen.remaining = Some(0);
    seen.length = Some(Duration::from_secs(60));
    pacer.observe(&key(), None, &seen, at(0));
    assert_eq!(next_at(&mut pacer, at(1)), at(60));
}

#[test]
fn a_number_without_an_end_says_nothing() {
    let mut pacer = Pacer::default();
    let mut seen = Seen::default();
    seen.remaining = Some(0);
    pacer.observe(&key(), None, &seen, at(0));
    assert_eq!(next_at(&mut pacer, at(1)), at(1));
}

#[test]
fn a_refusal_closes_until_the_moment_it_names() {
    let mut pacer = Pacer::default();
    pacer.observe(&key(), None, &left(5, 60), at(0));
    pacer.observe(
        &key(),
        None,
        &Seen::default().refused_until(Some(at(30))),
        at(0),
    );
    assert_eq!(next_at(&mut pacer, at(1)), at(30));
    // an earlier moment does not open what a later one closed
    pacer.observe(
        &key(),
        None,
        &Seen::default().refused_until(Some(at(10))),
        at(0),
    );
    assert_eq!(next_at(&mut pacer, at(1)), at(30));
}

#[test]
fn a_slot_moves_when_a_refusal_comes_after_it_was_booked() {
    let mut pacer = Pacer::default();
    let slot = pacer.admit(&key(), Cost::default(), at(0));
    pacer.observe(
        &key(),
        None,
        &Seen::default().refused_until(Some(at(30))),
        at(0),
    );
    let moved = pacer.confirm(slot, at(1)).unwrap_err();
    assert_eq!(moved.at(), at(30));
    assert!(pacer.confirm(moved, at(30)).is_ok());
}

#[test]
fn a_slot_moves_when_less_is_left_than_was_known() {
    let mut pacer = Pacer::default();
    let slot = pacer.admit(&key(), Cost::default(), at(0));
    pacer.observe(&key(), None, &left(0, 60), at(0));
    assert_eq!(pacer.confirm(slot, at(0)).unwrap_err().at(), at(60));
}

#[test]
fn a_slot_is_no_permit_before_its_time() {
    let mut pacer = Pacer::default();
    pacer.observe(&key(), None, &left(0, 60), at(0));
    let slot = pacer.admit(&key(), Cost::default(), at(0));
    let slot = pacer.confirm(slot, at(59)).unwrap_err();
    assert_eq!(slot.at(), at(60));
    assert!(pacer.confirm(slot, at(60)).is_ok());
}

#[test]
fn what_was_not_used_is_there_for_the_next() {
    let mut pacer = Pacer::default();
    pacer.observe(&key(), None, &left(1, 60), at(0));
    let slot = pacer.admit(&key(), Cost::default(), at(0));
    pacer.cancel(slot);
    let permit = go(&mut pacer, at(0));
    pacer.release(permit);
    assert_eq!(pacer.admissions(), 0);
    assert_eq!(next_at(&mut pacer, at(0)), at(0));
}

#[test]
fn what_was_sent_without_an_answer_stays_subtracted() {
    let mut pacer = Pacer::default();
    pacer.observe(&key(), None, &left(1, 60), at(0));
    let permit = go(&mut pacer, at(0));
    pacer.spend(permit);
    assert_eq!(next_at(&mut pacer, at(0)), at(60));
}

#[test]
fn a_send_that_nobody_asked_for_is_counted() {
    let mut pacer = Pacer::default();
    pacer.observe(&key(), None, &left(2, 60), at(0));
    pacer.book(&key(), Cost::requests(2), at(0));
    assert_eq!(next_at(&mut pacer, at(0)), at(60));
}

#[test]
fn what_is_in_flight_is_subtracted_from_a_report() {
    let mut pacer = Pacer::default();
    let first = go(&mut pacer, at(0));
    let _second = go(&mut pacer, at(0));
    pacer.observe(&key(), Some(first), &left(1, 60), at(1));
    assert_eq!(next_at(&mut pacer, at(1)), at(61));
}

#[test]
fn of_two_replies_that_crossed_the_smaller_number_counts() {
    for numbers in [[8, 9], [9, 8]] {
        let mut pacer = Pacer::default();
        let permits = [go(&mut pacer, at(0)), go(&mut pacer, at(0))];
        for (permit, number) in permits.into_iter().zip(numbers) {
            pacer.observe(&key(), Some(permit), &left(number, 60), at(1));
        }
        let now_at = (0..9).map(|_| pacer.admit(&key(), Cost::default(), at(1)).at());
        assert_eq!(
            now_at.filter(|slot_at| *slot_at == at(1)).count(),
            8,
            "{numbers:?}"
        );
    }
}

#[test]
fn a_reply_to_a_later_send_is_believed_also_when_more_is_left() {
    let mut pacer = Pacer::default();
    let permit = go(&mut pacer, at(0));
    pacer.observe(&key(), Some(permit), &left(1, 60), at(0));
    // the last one that was left; the server did not count it, or gave one back
    let permit = go(&mut pacer, at(1));
    pacer.observe(&key(), Some(permit), &left(1, 59), at(1));
    assert_eq!(next_at(&mut pacer, at(1)), at(1));
}

#[test]
fn a_later_reset_is_a_new_window() {
    let mut pacer = Pacer::default();
    pacer.observe(&key(), None, &left(0, 10), at(0));
    pacer.observe(&key(), None, &left(7, 60), at(5));
    assert_eq!(next_at(&mut pacer, at(5)), at(5));
}

#[test]
fn a_late_reply_of_a_window_that_has_passed_says_nothing() {
    let mut pacer = Pacer::default();
    let late = go(&mut pacer, at(0));
    pacer.observe(&key(), None, &left(7, 60), at(10));
    pacer.observe(&key(), Some(late), &left(0, 1), at(12));
    assert_eq!(next_at(&mut pacer, at(12)), at(12));
}

#[test]
fn a_reset_in_whole_seconds_is_not_taken_for_a_new_window() {
    let mut pacer = Pacer::default();
    // one window that ends at 60.0 s, seen through rounding up
    pacer.observe(&key(), None, &left(0, 50), Timestamp::from_millis(10_100));
    pacer.observe(&key(), None, &left(3, 50), Timestamp::from_millis(10_900));
    assert_eq!(next_at(&mut pacer, at(11)), Timestamp::from_millis(60_900));
}

#[test]
fn a_call_that_takes_many_windows_does_not_hold_them_back() {
    let mut pacer = Pacer::default();
    pacer.observe(&key(), None, &with_quota(left(2, 1), 2, 1), at(0));
    let _long = [go(&mut pacer, at(0)), go(&mut pacer, at(0))];
    assert!(
        next_at(&mut pacer, at(1)) > at(1),
        "they may arrive in this window"
    );
    assert_eq!(next_at(&mut pacer, at(2)), at(2));
}

/// Returns how many sends may go at once.
fn free(pacer: &mut Pacer, now: Timestamp) -> usize {
    let slots = std::iter::repeat_with(|| pacer.admit(&key(), Cost::default(), now));
    let free: Vec<_> = slots.take_while(|slot| slot.at() == now).collect();
    free.len()
}

#[test]
fn numbers_that_a_slow_answer_brings_late_do_not_refill_the_window() {
    let mut pacer = Pacer::default();
    pacer.observe(&key(), None, &left(9, 60), at(0));
    let permits: Vec<_> = (0..9).map(|_| go(&mut pacer, at(0))).collect();
    // the server wrote its numbers when each request came, and answers last first
    for (number, permit) in (0..9).zip(permits.into_iter().rev()) {
        pacer.observe(&key(), Some(permit), &left(number, 60), at(10 + 2 * number));
    }
    assert_eq!(free(&mut pacer, at(30)), 0);
}

#[test]
fn calls_that_are_longer_than_a_window_go_at_the_rate_of_the_quota() {
    let mut pacer = Pacer::default();
    pacer.observe(&key(), None, &with_quota(left(10, 1), 10, 1), at(0));
    let mut out = Vec::new();
    for second in 0..30 {
        while next_at(&mut pacer, at(second)) == at(second) {
            out.push(go(&mut pacer, at(second)));
        }
    }
    assert!(out.len() >= 150, "{} of 300", out.len());
}

#[test]
fn replies_that_crossed_do_not_use_up_what_is_left() {
    let mut pacer = Pacer::default();
    pacer.observe(&key(), None, &left(10, 60), at(0));
    let permits: Vec<_> = (0..5).map(|_| go(&mut pacer, at(0))).collect();
    for (permit, number) in permits.into_iter().zip([5, 9, 8, 7, 6]) {
        pacer.observe(&key(), Some(permit), &left(number, 60), at(0));
    }
    assert_eq!(free(&mut pacer, at(0)), 5);
}

#[test]
fn nobody_overtakes_a_call_that_waits() {
    let mut pacer = Pacer::default();
    pacer.observe(&key(), None, &left(1, 60), at(0));
    let permit = go(&mut pacer, at(0));
    let waiting = pacer.admit(&key(), Cost::default(), at(0));
    pacer.release(permit);
    let newcomer = pacer.admit(&key(), Cost::default(), at(0));
    assert!(newcomer.at() >= waiting.at());
}

#[test]
fn a_reset_in_the_far_future_is_a_slot_in_the_far_future() {
    let mut pacer = Pacer::default();
    let mut seen = with_quota(left(0, 0), 1, u64::MAX);
    seen.reset_in = Some(Duration::MAX);
    pacer.observe(&key(), None, &seen, at(0));
    let _first = pacer.admit(&key(), Cost::default(), at(0));
    assert_eq!(next_at(&mut pacer, at(1)), Timestamp::MAX);
    let last = pacer.admit(&key(), Cost::default(), Timestamp::MAX);
    assert_eq!(last.at(), Timestamp::MAX);
}

#[test]
fn origins_do_not_share_a_window() {
    let mut pacer = Pacer::default();
    pacer.observe(&key(), None, &left(0, 60), at(0));
    let other = PaceKey::origin("https", "api.example", 8443);
    assert_eq!(pacer.admit(&other, Cost::default(), at(0)).at(), at(0));
}

#[test]
fn the_origin_that_was_idle_longest_is_forgotten() {
    let mut pacer = Pacer::with_most_keys(NonZeroUsize::new(2).unwrap());
    let origin = |port| PaceKey::origin("https", "api.example", port);
    let busy = pacer.admit(&origin(1), Cost::default(), at(0));
    pacer.observe(&origin(1), None, &left(0, 60), at(0));
    pacer.observe(&origin(2), None, &left(0, 60), at(0));
    pacer.observe(&origin(3), None, &left(0, 60), at(0));
    assert_eq!(pacer.keys(), 2);
    assert_eq!(pacer.confirm(busy, at(0)).unwrap_err().at(), at(60));
    assert_eq!(pacer.admit(&origin(3), Cost::default(), at(0)).at(), at(60));
}

#[test]
fn a_handle_of_a_forgotten_origin_takes_nothing_off_the_new_one() {
    let mut pacer = Pacer::with_most_keys(NonZeroUsize::new(1).unwrap());
    let other = PaceKey::origin("https", "other.example", 443);
    let slot = pacer.admit(&key(), Cost::default(), at(0));
    let permit = go(&mut pacer, at(0));
    let _other = pacer.admit(&other, Cost::default(), at(0));
    pacer.observe(&key(), None, &left(1, 60), at(0));
    let _in_flight = go(&mut pacer, at(0));
    pacer.release(permit);
    pacer.cancel(slot);
    assert_eq!(next_at(&mut pacer, at(0)), at(60));
}
