//! What is known and under way for one key.

use paywait_signals::Timestamp;

use crate::tally::Tally;
use crate::window::{Fit, Report, Window};
use crate::{Cost, Permit, Seen};

/// What is known and under way for one key: counts only, so its size does not grow with use.
///
/// Two rules carry it. Whatever was booked, a permit is handed out only while the window has room
/// for it beside all that the server may not have counted. And a slot is never booked before one
/// that already waits.
#[derive(Debug)]
pub(crate) struct Lane {
    /// Handles with an older stamp belong to a lane that was forgotten.
    born: u64,
    /// The last event here: the oldest lane is forgotten first.
    touched: u64,
    window: Option<Window>,
    /// Nothing goes before: a refusal said so.
    closed_until: Timestamp,
    /// Booked out of what is left and not confirmed yet.
    held: u64,
    /// Booked behind the end of the window.
    waiting: u64,
    /// The latest time that a waiting slot was booked at; the beginning of time if none waits.
    tail: Timestamp,
    /// Permits that are out.
    in_flight: Tally,
    /// Sends that ended without a number, so that no report is known to count them.
    unreported: Tally,
    unreported_stamp: u64,
    generation: u64,
    generation_end: Option<Timestamp>,
}

impl Lane {
    pub(crate) fn new(stamp: u64) -> Self {
        Self {
            born: stamp,
            touched: stamp,
            window: None,
            closed_until: Timestamp::default(),
            held: 0,
            waiting: 0,
            tail: Timestamp::default(),
            in_flight: Tally::default(),
            unreported: Tally::default(),
            unreported_stamp: 0,
            generation: 0,
            generation_end: None,
        }
    }

    /// Returns what decides which lane is forgotten first: the smallest.
    pub(crate) const fn age(&self) -> (bool, u64) {
        let handles = self
            .held
            .saturating_add(self.waiting)
            .saturating_add(self.in_flight.total());
        (handles > 0, self.touched)
    }

    /// Returns whether a handle with this stamp was counted here.
    pub(crate) const fn knows(&self, stamp: u64) -> bool {
        stamp > self.born
    }

    pub(crate) const fn generation(&self) -> u64 {
        self.generation
    }

    /// Lets the time pass.
    pub(crate) fn advance(&mut self, stamp: u64, now: Timestamp) {
        self.touched = stamp;
        let ended = self
            .window
            .as_ref()
            .is_some_and(|window| window.end() <= now);
        if ended
            && !self
                .window
                .as_mut()
                .is_some_and(|window| window.renew(stamp, now))
        {
            self.window = None;
        }
        if self.generation_end.is_some_and(|end| end <= now) {
            self.generation = self.generation.saturating_add(1);
            self.in_flight.next_generation();
            self.unreported.next_generation();
            self.generation_end = self.window.as_ref().map(Window::end);
        }
    }

    /// Books a place: when, and whether behind the window.
    pub(crate) fn book(&mut self, cost: Cost, now: Timestamp) -> (Timestamp, bool) {
        let queue_moves = self.tail <= now;
        let earliest = now.max(self.closed_until).max(self.tail);
        let taken = self
            .uncounted()
            .saturating_add(self.held)
            .saturating_add(self.waiting);
        let behind = match &self.window {
            None => None,
            Some(window) if queue_moves && earliest < window.end() && fits(window, taken, cost) => {
                None
            }
            Some(window) => Some(window.place_behind(self.waiting)),
        };
        let at = behind.map_or(earliest, |behind| earliest.max(behind));
        self.hold(cost, at, behind.is_some());
        (at, behind.is_some())
    }

    /// Decides whether a place whose booking was just taken off may become a permit now; if not,
    /// books it anew, for the time and the way that it returns.
    pub(crate) fn confirm(
        &mut self,
        cost: Cost,
        (at, waits): (Timestamp, bool),
        now: Timestamp,
    ) -> Result<(), (Timestamp, bool)> {
        let at = at.max(self.closed_until);
        if now < at {
            self.hold(cost, at, waits);
            return Err((at, waits));
        }
        let before = if waits { self.held } else { 0 };
        let taken = self.uncounted().saturating_add(before);
        if let Some(window) = self
            .window
            .as_ref()
            .filter(|window| !fits(window, taken, cost))
        {
            let at = window.end();
            self.hold(cost, at, true);
            return Err((at, true));
        }
        self.in_flight.add(cost.requests);
        Ok(())
    }

    /// Takes a booking off.
    pub(crate) fn unhold(&mut self, cost: Cost, waits: bool) {
        if !waits {
            self.held = self.held.saturating_sub(cost.requests);
            return;
        }
        self.waiting = self.waiting.saturating_sub(cost.requests);
        if self.waiting == 0 {
            self.tail = Timestamp::default();
        }
    }

    /// Takes a permit off the sends that are out.
    pub(crate) const fn land(&mut self, permit: &Permit) {
        let age = self.generation.saturating_sub(permit.generation);
        self.in_flight.take(permit.cost.requests, age);
    }

    /// Counts a send that no report is known to count.
    pub(crate) const fn count_unreported(&mut self, cost: Cost, stamp: u64) {
        // on an unknown window there is nothing to count it against
        if self.window.is_some() {
            self.unreported.add(cost.requests);
            self.unreported_stamp = stamp;
        }
    }

    /// Takes in what a reply said. Its permit, if it has one, has landed.
    pub(crate) fn observe(
        &mut self,
        permit: Option<&Permit>,
        seen: &Seen,
        stamp: u64,
        now: Timestamp,
    ) {
        self.closed_until = self
            .closed_until
            .max(seen.refused_until.unwrap_or_default());
        let Some(report) = Report::read(seen, permit, stamp, now) else {
            if let Some(permit) = permit {
                self.count_unreported(permit.cost, stamp);
            }
            return;
        };
        let fit = match &mut self.window {
            Some(window) => window.reconcile(report),
            None => {
                self.window = Some(report.into_window());
                Fit::Counted
            }
        };
        let knows_all = permit.is_some_and(|permit| permit.stamp > self.unreported_stamp);
        if fit == Fit::Counted && knows_all {
            self.unreported.clear();
        }
        let end = self.window.as_ref().map(Window::end);
        self.generation_end = end.map(|end| self.generation_end.map_or(end, |old| old.min(end)));
    }

    fn hold(&mut self, cost: Cost, at: Timestamp, waits: bool) {
        if waits {
            self.waiting = self.waiting.saturating_add(cost.requests);
            self.tail = self.tail.max(at);
        } else {
            self.held = self.held.saturating_add(cost.requests);
        }
    }

    /// Returns how many sends the server may not have counted in what it last said is left.
    const fn uncounted(&self) -> u64 {
        self.in_flight
            .total()
            .saturating_add(self.unreported.total())
    }
}

const fn fits(window: &Window, taken: u64, cost: Cost) -> bool {
    window.left().saturating_sub(taken) >= cost.requests
}
