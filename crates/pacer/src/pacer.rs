//! The rule of pacing over all origins.

use std::collections::BTreeMap;

use paywait_signals::Timestamp;

use crate::origin::Origin;
use crate::{PaceKey, Seen};

/// Books slots and grants permits, by what each origin says of its quota.
///
/// First come, first served: a send that comes later never gets an earlier slot. Memory is
/// bounded: beyond ten thousand origins the longest idle ones are forgotten.
///
/// ```
/// use std::time::Duration;
/// use paywait_pacer::{Cost, PaceKey, Pacer, Seen};
/// use paywait_signals::Timestamp;
///
/// let mut pacer = Pacer::default();
/// let key = PaceKey::origin("https", "seller.example", 443);
/// let now = Timestamp::from_secs(100);
///
/// let mut seen = Seen::default();
/// (seen.remaining, seen.reset) = (Some(1), Some(Duration::from_secs(30)));
/// pacer.observe(&key, None, &seen, now);
///
/// assert_eq!(pacer.admit(&key, Cost::default(), now).at(), now);
/// assert_eq!(pacer.admit(&key, Cost::default(), now).at(), Timestamp::from_secs(130));
/// ```
#[derive(Debug, Default)]
pub struct Pacer {
    origins: BTreeMap<PaceKey, Origin>,
    admissions: u64,
}

/// What one send costs, in each unit that a window may count.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Cost {
    /// In requests.
    pub requests: u64,
}

impl Default for Cost {
    fn default() -> Self {
        Self { requests: 1 }
    }
}

/// A place in the queue of an origin. Give it back with [`Pacer::cancel`] if it is not wanted.
#[derive(Debug)]
#[must_use = "a slot that is dropped keeps its place in the queue"]
pub struct Slot {
    key: PaceKey,
    cost: Cost,
    at: Timestamp,
    /// Its cost is off what is left already.
    taken: bool,
}

impl Slot {
    /// Returns when the send may go.
    pub const fn at(&self) -> Timestamp {
        self.at
    }
}

/// The right to one send. Hand it to [`Pacer::observe`] with the reply, or to
/// [`Pacer::release`] if nothing was sent.
#[derive(Debug)]
#[must_use = "a permit that is dropped counts as in flight for ever"]
pub struct Permit {
    key: PaceKey,
    cost: Cost,
    at: Timestamp,
}

impl Pacer {
    /// Books a slot for one send.
    pub fn admit(&mut self, key: &PaceKey, cost: Cost, now: Timestamp) -> Slot {
        let (at, taken) = self.origin(key, now).book(cost.requests, now);
        Slot {
            key: key.clone(),
            cost,
            at,
            taken,
        }
    }

    /// Turns a slot whose time has come into a permit.
    ///
    /// # Errors
    ///
    /// The slot, moved to a later time, where what became known since asks for it.
    pub fn confirm(&mut self, mut slot: Slot, now: Timestamp) -> Result<Permit, Slot> {
        if now < slot.at {
            return Err(slot);
        }
        let origin = self.origin(&slot.key, now);
        if !slot.taken
            && let Err(at) = origin.take(slot.cost.requests, now)
        {
            slot.at = at;
            return Err(slot);
        }
        origin.depart(slot.cost.requests);
        self.admissions = self.admissions.saturating_add(1);
        Ok(Permit {
            key: slot.key,
            cost: slot.cost,
            at: now,
        })
    }

    /// Gives back a slot that is not wanted.
    pub fn cancel(&mut self, slot: Slot) {
        let Slot {
            key,
            cost,
            at,
            taken,
        } = slot;
        let Some(origin) = self.origins.get_mut(&key) else {
            return;
        };
        if taken {
            origin.put_back(cost.requests, at);
        } else {
            origin.unbook(cost.requests);
        }
    }

    /// Gives back a permit with which nothing was sent.
    pub fn release(&mut self, permit: Permit) {
        let Permit { key, cost, at } = permit;
        self.admissions = self.admissions.saturating_sub(1);
        if let Some(origin) = self.origins.get_mut(&key) {
            origin.arrive(cost.requests);
            origin.put_back(cost.requests, at);
        }
    }

    /// Counts a send that went without a permit.
    pub fn book(&mut self, key: &PaceKey, cost: Cost, now: Timestamp) {
        self.admissions = self.admissions.saturating_add(1);
        self.origin(key, now).spend(cost.requests, now);
    }

    /// Takes what a reply says; `permit` is the one that its request was sent with. A send without
    /// a reply says nothing, and its permit is spent.
    pub fn observe(&mut self, key: &PaceKey, permit: Option<Permit>, seen: &Seen, now: Timestamp) {
        let origin = self.origin(key, now);
        if let Some(permit) = permit {
            origin.arrive(permit.cost.requests);
        }
        origin.observe(seen, now);
    }

    /// Returns how many sends were let go, less those that did not take place.
    pub const fn admissions(&self) -> u64 {
        self.admissions
    }

    fn origin(&mut self, key: &PaceKey, now: Timestamp) -> &mut Origin {
        if self.origins.len() >= MOST_ORIGINS && !self.origins.contains_key(key) {
            self.forget();
        }
        let origin = self.origins.entry(key.clone()).or_default();
        origin.touched = origin.touched.max(now);
        origin
    }

    /// Forgets the older half of the idle origins: a scan that many newcomers share.
    fn forget(&mut self) {
        let idle = self.origins.values().filter(|origin| origin.is_idle());
        let mut touched: Vec<Timestamp> = idle.map(|origin| origin.touched).collect();
        touched.sort_unstable();
        let Some(median) = touched.get(touched.len() / 2).copied() else {
            return;
        };
        self.origins
            .retain(|_, origin| !origin.is_idle() || origin.touched > median);
    }
}

const MOST_ORIGINS: usize = 10_000;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn key() -> PaceKey {
        PaceKey::origin("https", "seller.example", 443)
    }

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_secs(seconds)
    }

    fn seen(remaining: u64, reset: u64) -> Seen {
        Seen {
            remaining: Some(remaining),
            reset: Some(Duration::from_secs(reset)),
            ..Seen::default()
        }
    }

    fn go(pacer: &mut Pacer, now: Timestamp) -> Permit {
        let slot = pacer.admit(&key(), Cost::default(), now);
        pacer.confirm(slot, now).unwrap()
    }

    #[test]
    fn an_origin_that_tells_nothing_is_not_slowed_down() {
        let mut pacer = Pacer::default();
        for _ in 0..100 {
            assert_eq!(pacer.admit(&key(), Cost::default(), at(1)).at(), at(1));
        }
    }

    #[test]
    fn what_is_in_flight_is_not_counted_by_the_server_yet() {
        let mut pacer = Pacer::default();
        let permits: Vec<_> = (0..3).map(|_| go(&mut pacer, at(0))).collect();
        let mut permits = permits.into_iter();
        pacer.observe(&key(), permits.next(), &seen(2, 10), at(1));
        // two are in flight, so nothing is left
        assert_eq!(pacer.admit(&key(), Cost::default(), at(1)).at(), at(11));
    }

    #[test]
    fn old_news_of_a_window_does_not_refill_it() {
        let mut pacer = Pacer::default();
        pacer.observe(&key(), None, &seen(0, 10), at(0));
        pacer.observe(&key(), None, &seen(5, 10), at(0));
        assert_eq!(pacer.admit(&key(), Cost::default(), at(0)).at(), at(10));
    }

    #[test]
    fn a_later_reset_is_a_new_window() {
        let mut pacer = Pacer::default();
        pacer.observe(&key(), None, &seen(0, 10), at(0));
        pacer.observe(&key(), None, &seen(5, 60), at(11));
        assert_eq!(pacer.admit(&key(), Cost::default(), at(11)).at(), at(11));
    }

    #[test]
    fn a_slot_moves_when_the_next_window_is_empty_too() {
        let mut pacer = Pacer::default();
        pacer.observe(&key(), None, &seen(0, 10), at(0));
        let slot = pacer.admit(&key(), Cost::default(), at(0));
        pacer.observe(&key(), None, &seen(0, 30), at(9));
        let moved = pacer.confirm(slot, at(10)).unwrap_err();
        assert_eq!(moved.at(), at(39));
    }

    #[test]
    fn a_permit_that_was_not_used_lets_another_send_go() {
        let mut pacer = Pacer::default();
        pacer.observe(&key(), None, &seen(1, 10), at(0));
        let permit = go(&mut pacer, at(0));
        pacer.release(permit);
        assert_eq!(pacer.admissions(), 0);
        assert_eq!(pacer.admit(&key(), Cost::default(), at(1)).at(), at(1));
    }

    #[test]
    fn slots_beyond_one_window_are_spread_over_the_next_ones() {
        let mut pacer = Pacer::default();
        let seen = Seen {
            limit: Some(2),
            length: Some(Duration::from_secs(60)),
            ..seen(0, 10)
        };
        pacer.observe(&key(), None, &seen, at(0));
        let times: Vec<_> = (0..5)
            .map(|_| pacer.admit(&key(), Cost::default(), at(0)).at().as_secs())
            .collect();
        assert_eq!(times, [10, 10, 70, 70, 130]);
    }

    #[test]
    fn memory_is_bounded() {
        let mut pacer = Pacer::default();
        for port in 0..30_000_u64 {
            let key = PaceKey::origin("https", &port.to_string(), 443);
            pacer.observe(&key, None, &seen(1, 10), at(port));
        }
        assert!(pacer.origins.len() <= MOST_ORIGINS);
    }

    proptest! {
        #[test]
        fn no_more_go_before_the_reset_than_are_left(
            left in 0_u64..5,
            turns in proptest::collection::vec(0_u8..4, 0..60),
        ) {
            let mut pacer = Pacer::default();
            pacer.observe(&key(), None, &seen(left, 100), at(0));
            let mut out = Vec::new();
            let mut sent = 0_u64;
            for (second, turn) in turns.into_iter().enumerate() {
                let now = at(u64::try_from(second).unwrap());
                match turn {
                    0 | 1 => {
                        let slot = pacer.admit(&key(), Cost::default(), now);
                        prop_assert!(slot.at() == now || slot.at() >= at(100));
                        match pacer.confirm(slot, now) {
                            Ok(permit) => out.push(permit),
                            Err(slot) => pacer.cancel(slot),
                        }
                    }
                    2 => if let Some(permit) = out.pop() { pacer.release(permit) },
                    _ => if let Some(permit) = out.pop() {
                        sent = sent.saturating_add(1);
                        let remaining = left.saturating_sub(sent);
                        let reset = 100_u64.saturating_sub(now.as_secs());
                        pacer.observe(&key(), Some(permit), &seen(remaining, reset), now);
                    },
                }
                let flying = u64::try_from(out.len()).unwrap();
                prop_assert!(sent.saturating_add(flying) <= left);
            }
        }
    }
}
