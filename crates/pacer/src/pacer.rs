//! When the next send to each origin may go.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use paywait_signals::Timestamp;

use crate::lane::Lane;
use crate::{Cost, PaceKey, Permit, Seen, Slot};

/// When the next send to each origin may go.
///
/// Time never runs by itself: each method is told `now`. It keeps a bounded number of origins and
/// forgets the one that was idle longest when another comes.
///
/// # What it promises
///
/// * While a window is known, no more permits are out and unreported than it has left.
/// * No slot lies before the end of a window that has nothing left, or before the moment that a
///   refusal named.
/// * No slot is booked before one of the same origin that waits.
///
/// Where a server names its quota and the length of its window, an ended window is taken to begin
/// anew with the full quota, until a reply says what is true. Where it does not, an ended window
/// is unknown, and an unknown window holds nothing back.
#[derive(Debug)]
pub struct Pacer {
    lanes: BTreeMap<PaceKey, Lane>,
    most_keys: NonZeroUsize,
    /// Counts events: what was known when something was sent.
    stamp: u64,
    admissions: u64,
}

impl Default for Pacer {
    /// Returns a pacer for 10,000 origins.
    fn default() -> Self {
        Self::with_most_keys(MOST_KEYS)
    }
}

impl Pacer {
    /// Returns a pacer that keeps at most `most_keys` origins.
    pub const fn with_most_keys(most_keys: NonZeroUsize) -> Self {
        Self {
            lanes: BTreeMap::new(),
            most_keys,
            stamp: 0,
            admissions: 0,
        }
    }

    /// Books a slot for a send of `cost`.
    pub fn admit(&mut self, key: &PaceKey, cost: Cost, now: Timestamp) -> Slot {
        let (lane, stamp) = self.lane(key, now);
        let (at, waits) = lane.book(cost, now);
        Slot {
            key: key.clone(),
            cost,
            at,
            stamp,
            waits,
        }
    }

    /// Turns a slot into the permit for one send, at its time.
    ///
    /// # Errors
    ///
    /// The slot, with the time it moved to: it was too early, or less is left than was known when
    /// it was booked.
    pub fn confirm(&mut self, slot: Slot, now: Timestamp) -> Result<Permit, Slot> {
        let Slot {
            key,
            cost,
            at,
            stamp: booked,
            waits,
        } = slot;
        let (lane, stamp) = self.lane(&key, now);
        if lane.knows(booked) {
            lane.unhold(cost, waits);
        }
        match lane.confirm(cost, (at, waits), now) {
            // a new stamp: a forgotten lane's slot is this one's from now on
            Err((at, waits)) => Err(Slot {
                key,
                cost,
                at,
                stamp,
                waits,
            }),
            Ok(()) => {
                let generation = lane.generation();
                self.admissions = self.admissions.saturating_add(1);
                Ok(Permit {
                    key,
                    cost,
                    since: now,
                    stamp,
                    generation,
                })
            }
        }
    }

    /// Gives back a slot that is not wanted any more.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a slot that was given back is gone"
    )]
    pub fn cancel(&mut self, slot: Slot) {
        if let Some(lane) = self.lane_of(&slot.key, slot.stamp) {
            lane.unhold(slot.cost, slot.waits);
        }
    }

    /// Gives back a permit under which nothing was sent.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a permit that was given back is gone"
    )]
    pub fn release(&mut self, permit: Permit) {
        self.admissions = self.admissions.saturating_sub(1);
        if let Some(lane) = self.lane_of(&permit.key, permit.stamp) {
            lane.land(&permit);
        }
    }

    /// Ends a permit under which something was sent and no reply came. The server may have counted
    /// it: it stays subtracted until a later send is reported, or until the window after this one.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a permit that was spent is gone"
    )]
    pub fn spend(&mut self, permit: Permit) {
        let stamp = self.next_stamp();
        if let Some(lane) = self.lane_of(&permit.key, permit.stamp) {
            lane.land(&permit);
            lane.count_unreported(permit.cost, stamp);
        }
    }

    /// Takes in what a reply from `key` said, and ends the permit that its send went out under.
    ///
    /// Replies may come late and out of order. Of two reports of one window, the one whose send
    /// went out after the other's reply had come is newer and counts; where neither did, the
    /// smaller. A later reset is a new window. What is in flight is subtracted from either.
    pub fn observe(&mut self, key: &PaceKey, permit: Option<Permit>, seen: &Seen, now: Timestamp) {
        let (lane, stamp) = self.lane(key, now);
        let (own, foreign) = match permit {
            Some(permit) if permit.key == *key && lane.knows(permit.stamp) => (Some(permit), None),
            other => (None, other),
        };
        if let Some(permit) = &own {
            lane.land(permit);
        }
        lane.observe(own.as_ref(), seen, stamp, now);
        if let Some(permit) = foreign {
            self.spend(permit);
        }
    }

    /// Counts a send to `key` that happened without asking.
    pub fn book(&mut self, key: &PaceKey, cost: Cost, now: Timestamp) {
        self.admissions = self.admissions.saturating_add(1);
        let (lane, stamp) = self.lane(key, now);
        lane.count_unreported(cost, stamp);
    }

    /// Returns how many sends are known: the permits handed out and not given back, and what went
    /// without asking.
    pub const fn admissions(&self) -> u64 {
        self.admissions
    }

    /// Returns how many origins are kept.
    pub fn keys(&self) -> usize {
        self.lanes.len()
    }

    /// Returns the lane of a key as it is now, and the stamp of this event.
    fn lane(&mut self, key: &PaceKey, now: Timestamp) -> (&mut Lane, u64) {
        if self.lanes.len() >= self.most_keys.get() && !self.lanes.contains_key(key) {
            self.forget_one();
        }
        let born = self.next_stamp();
        let stamp = self.next_stamp();
        let lane = self
            .lanes
            .entry(key.clone())
            .or_insert_with(|| Lane::new(born));
        lane.advance(stamp, now);
        (lane, stamp)
    }

    /// Returns the lane that counted a handle, if it is still kept.
    fn lane_of(&mut self, key: &PaceKey, stamp: u64) -> Option<&mut Lane> {
        self.lanes.get_mut(key).filter(|lane| lane.knows(stamp))
    }

    /// Forgets the origin that was idle longest, or if none is idle the one that was longest
    /// without an event.
    fn forget_one(&mut self) {
        let oldest = self.lanes.iter().min_by_key(|(_, lane)| lane.age());
        if let Some(key) = oldest.map(|(key, _)| key.clone()) {
            self.lanes.remove(&key);
        }
    }

    const fn next_stamp(&mut self) -> u64 {
        self.stamp = self.stamp.saturating_add(1);
        self.stamp
    }
}

const MOST_KEYS: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();
