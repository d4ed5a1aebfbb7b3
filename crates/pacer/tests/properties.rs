//! What holds whatever the order of sends, replies, losses and time.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a simulated server that overflows or panics is a failed test"
)]

use std::num::NonZeroUsize;
use std::time::Duration;

use paywait_pacer::{Cost, PaceKey, Pacer, Permit, Seen, Slot};
use paywait_signals::Timestamp;
use proptest::prelude::*;

/// What happens next. A number picks one of those that there are.
#[derive(Clone, Copy, Debug)]
enum Step {
    Admit,
    Confirm(usize),
    Cancel(usize),
    Release(usize),
    /// A send arrives at the server, which counts it.
    Arrive(usize),
    /// Its reply arrives, with numbers or without.
    Reply(usize, bool),
    /// Its reply never arrives.
    Lose(usize),
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let pick = 0_usize..64;
    prop_oneof![
        6 => Just(Step::Admit),
        6 => pick.clone().prop_map(Step::Confirm),
        1 => pick.clone().prop_map(Step::Cancel),
        1 => pick.clone().prop_map(Step::Release),
        5 => pick.clone().prop_map(Step::Arrive),
        4 => (pick.clone(), prop::bool::weighted(0.8)).prop_map(|(send, told)| Step::Reply(send, told)),
        1 => pick.prop_map(Step::Lose),
        2 => (1_u64..4_000).prop_map(Step::Pass),
    ]
}

/// A send under way: the permit, and what the server said when it counted it.
#[derive(Debug)]
struct Send {
    permit: Permit,
    since: u64,
    counted: Option<Told>,
}

#[derive(Clone, Copy, Debug)]
struct Told {
    left: u64,
    reset_in_ms: u64,
}

/// A server with windows of a fixed length, and a client that sends when the pacer lets it.
#[derive(Debug)]
struct World {
    pacer: Pacer,
    key: PaceKey,
    now: u64,
    slots: Vec<Slot>,
    sends: Vec<Send>,
    limit: u64,
    length: u64,
    whole_seconds: bool,
    says_quota: bool,
    window: u64,
    used: u64,
}

impl World {
    fn new(limit: u64, whole_seconds: bool, says_quota: bool) -> Self {
        let mut world = Self {
            pacer: Pacer::default(),
            key: PaceKey::origin("https", "api.example", 443),
            now: 60_000_000,
            slots: Vec::new(),
            sends: Vec::new(),
            limit,
            length: 60_000,
            whole_seconds,
            says_quota,
            window: 0,
            used: 0,
        };
        // the first send tells what the quota is
        for step in [
            Step::Admit,
            Step::Confirm(0),
            Step::Arrive(0),
            Step::Reply(0, true),
        ] {
            world.take(step);
        }
        world
    }

    fn take(&mut self, step: Step) {
        let now = Timestamp::from_millis(self.now);
        match step {
            Step::Admit => self
                .slots
                .push(self.pacer.admit(&self.key, Cost::default(), now)),
            Step::Confirm(pick) => {
                let Some(slot) = remove(&mut self.slots, pick) else {
                    return;
                };
                let booked = slot.at();
                match self.pacer.confirm(slot, now) {
                    Ok(permit) => {
                        assert!(booked <= now, "a permit before the time of its slot");
                        self.sends.push(Send {
                            permit,
                            since: self.now,
                            counted: None,
                        });
                    }
                    Err(slot) => {
                        assert!(slot.at() > now, "a slot that moved to a time that has come");
                        self.slots.push(slot);
                    }
                }
            }
            Step::Cancel(pick) => {
                if let Some(slot) = remove(&mut self.slots, pick) {
                    self.pacer.cancel(slot);
                }
            }
            Step::Release(pick) => {
                let unsent = |send: &Send| send.counted.is_none();
                if let Some(send) = remove_where(&mut self.sends, pick, unsent) {
                    self.pacer.release(send.permit);
                }
            }
            Step::Arrive(pick) => self.arrive(pick),
            Step::Reply(pick, told) => {
                let counted = |send: &Send| send.counted.is_some();
                if let Some(send) = remove_where(&mut self.sends, pick, counted) {
                    let seen = send.counted.filter(|_| told).map(|told| self.seen(told));
                    let seen = seen.unwrap_or_default();
                    self.pacer.observe(&self.key, Some(send.permit), &seen, now);
                }
            }
            Step::Lose(pick) => {
                let counted = |send: &Send| send.counted.is_some();
                if let Some(send) = remove_where(&mut self.sends, pick, counted) {
                    self.pacer.spend(send.permit);
                }
            }
            Step::Pass(millis) => self.pass(millis),
        }
    }

    /// Time passes, but no send is under way for longer than a quarter of a window.
    fn pass(&mut self, millis: u64) {
        self.now += millis;
        let overdue = self.now.saturating_sub(self.length / 4);
        while let Some(place) = self.sends.iter().position(|send| send.since < overdue) {
            if self.sends[place].counted.is_none() {
                self.count(place);
            }
            let send = self.sends.remove(place);
            let seen = self.seen(send.counted.unwrap());
            let now = Timestamp::from_millis(self.now);
            self.pacer.observe(&self.key, Some(send.permit), &seen, now);
        }
    }

    fn arrive(&mut self, pick: usize) {
        let open = self
            .sends
            .iter()
            .filter(|send| send.counted.is_none())
            .count();
        let Some(nth) = pick.checked_rem(open) else {
            return;
        };
        let mut places = (0..self.sends.len()).filter(|place| self.sends[*place].counted.is_none());
        let place = places.nth(nth).unwrap();
        self.count(place);
    }

    fn count(&mut self, place: usize) {
        let window = self.now / self.length;
        if window != self.window {
            self.window = window;
            self.used = 0;
        }
        self.used += 1;
        assert!(
            self.used <= self.limit,
            "the server saw {} of {}",
            self.used,
            self.limit
        );
        let reset_in_ms = (window + 1) * self.length - self.now;
        self.sends[place].counted = Some(Told {
            left: self.limit - self.used,
            reset_in_ms,
        });
    }

    fn seen(&self, told: Told) -> Seen {
        let mut seen = Seen::default();
        seen.remaining = Some(told.left);
        seen.reset_in = Some(match self.whole_seconds {
            true => Duration::from_secs(told.reset_in_ms.div_ceil(1_000)),
            false => Duration::from_millis(told.reset_in_ms),
        });
        if self.says_quota {
            seen.limit = Some(self.limit);
            seen.length = Some(Duration::from_millis(self.length));
        }
        seen
    }
}

fn remove<T>(from: &mut Vec<T>, pick: usize) -> Option<T> {
    let place = pick.checked_rem(from.len())?;
    Some(from.remove(place))
}

fn remove_where<T>(from: &mut Vec<T>, pick: usize, wanted: impl Fn(&T) -> bool) -> Option<T> {
    let places: Vec<_> = (0..from.len())
        .filter(|place| wanted(&from[*place]))
        .collect();
    let place = *places.get(pick.checked_rem(places.len())?)?;
    Some(from.remove(place))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_server_that_names_its_quota_never_sees_more_than_that(
        limit in 1_u64..8,
        whole_seconds: bool,
        steps in prop::collection::vec(step(), 1..250),
    ) {
        let mut world = World::new(limit, whole_seconds, true);
        for step in steps {
            world.take(step);
        }
    }

    #[test]
    fn before_its_reset_a_server_never_sees_more_than_was_left(
        limit in 1_u64..8,
        whole_seconds: bool,
        steps in prop::collection::vec(step(), 1..250),
    ) {
        let mut world = World::new(limit, whole_seconds, false);
        let window = world.window;
        for step in steps {
            // nothing is known of the window after this one
            if matches!(step, Step::Pass(millis) if (world.now + millis) / world.length != window) {
                continue;
            }
            world.take(step);
        }
    }

    #[test]
    fn a_slot_is_never_booked_before_one_that_waits(
        limit in 1_u64..8,
        says_quota: bool,
        steps in prop::collection::vec(step(), 1..250),
    ) {
        let mut world = World::new(limit, true, true);
        world.says_quota = says_quota;
        world.limit = u64::MAX; // the server does not judge here
        for step in steps {
            world.take(step);
            if matches!(step, Step::Admit) {
                let newest = world.slots.last().unwrap().at();
                let now = Timestamp::from_millis(world.now);
                let tail = world.slots.iter().map(Slot::at).filter(|at| *at > now).max();
                prop_assert!(tail.is_none_or(|tail| tail <= newest));
            }
        }
    }

    #[test]
    fn no_slot_is_earlier_than_told(
        now in 0_u64..1 << 50,
        later in 0_u64..100_000,
        reset_in: Duration,
        closed in any::<Option<u64>>(),
        quota in any::<Option<(u64, Duration)>>(),
        callers in 1_usize..20,
    ) {
        let mut pacer = Pacer::default();
        let key = PaceKey::origin("https", "api.example", 443);
        let told_at = Timestamp::from_millis(now);
        let mut seen = Seen::default().refused_until(closed.map(Timestamp::from_millis));
        seen.remaining = Some(0);
        seen.reset_in = Some(reset_in);
        seen.limit = quota.map(|(limit, _)| limit);
        seen.length = quota.map(|(_, length)| length);
        pacer.observe(&key, None, &seen, told_at);
        let now = Timestamp::from_millis(now.saturating_add(later));
        let floor = now.max(told_at.saturating_add(reset_in)).max(seen.refused_until.unwrap_or_default());
        for _ in 0..callers {
            let slot = pacer.admit(&key, Cost::default(), now);
            prop_assert!(slot.at() >= floor || now >= told_at.saturating_add(reset_in));
            prop_assert!(slot.at() >= seen.refused_until.unwrap_or_default());
        }
    }

    #[test]
    fn the_number_of_origins_is_bounded(
        most in 1_usize..10,
        ports in prop::collection::vec(0_u16..40, 1..200),
    ) {
        let mut pacer = Pacer::with_most_keys(NonZeroUsize::new(most).unwrap());
        for port in ports {
            let key = PaceKey::origin("https", "api.example", port);
            let slot = pacer.admit(&key, Cost::default(), Timestamp::from_secs(1));
            if port % 2 == 0 {
                pacer.cancel(slot);
            }
            prop_assert!(pacer.keys() <= most);
        }
    }

    #[test]
    fn any_numbers_at_any_time_are_taken(
        reports in prop::collection::vec(
            (any::<Option<u64>>(), any::<Option<u64>>(), any::<Option<Duration>>(),
             any::<Option<Duration>>(), any::<u64>(), any::<u64>()),
            1..40,
        ),
    ) {
        let mut pacer = Pacer::default();
        let key = PaceKey::origin("https", "api.example", 443);
        for (remaining, limit, reset_in, length, now, cost) in reports {
            let now = Timestamp::from_millis(now);
            let mut seen = Seen::default();
            seen.remaining = remaining;
            seen.limit = limit;
            seen.reset_in = reset_in;
            seen.length = length;
            let slot = pacer.admit(&key, Cost::requests(cost), now);
            let at = slot.at();
            prop_assert!(at >= now);
            let permit = pacer.confirm(slot, at).ok();
            pacer.observe(&key, permit, &seen, now);
        }
    }
}
