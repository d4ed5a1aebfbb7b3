//! The quota of one origin: what the server said last, less what has been let go since.

use std::time::Duration;

use paywait_signals::Timestamp;

use crate::Seen;

/// The quota of one origin.
#[derive(Debug, Default)]
pub(crate) struct Origin {
    window: Option<Window>,
    /// Permits that were not answered yet, by their cost: a server may not have counted them.
    in_flight: u64,
    /// Slots booked for the next window.
    booked: u64,
    pub(crate) touched: Timestamp,
}

/// One window as it is known now.
#[derive(Clone, Copy, Debug)]
struct Window {
    remaining: u64,
    reset: Timestamp,
    limit: Option<u64>,
    length: Option<Duration>,
}

impl Origin {
    /// Books a slot, and says when: now, if what is left allows it, which is then taken off.
    pub(crate) fn book(&mut self, cost: u64, now: Timestamp) -> (Timestamp, bool) {
        self.roll(now);
        let Some(window) = &mut self.window else {
            return (now, true);
        };
        if self.booked == 0
            && let Some(left) = window.remaining.checked_sub(cost)
        {
            window.remaining = left;
            return (now, true);
        }
        let at = window.next_free(self.booked);
        self.booked = self.booked.saturating_add(cost);
        (at, false)
    }

    /// At the time of a slot: takes its cost off what is left, or says when to ask again.
    pub(crate) fn take(&mut self, cost: u64, now: Timestamp) -> Result<(), Timestamp> {
        self.roll(now);
        let Some(window) = &mut self.window else {
            self.booked = self.booked.saturating_sub(cost);
            return Ok(());
        };
        let Some(left) = window.remaining.checked_sub(cost) else {
            return Err(window.reset);
        };
        window.remaining = left;
        self.booked = self.booked.saturating_sub(cost);
        Ok(())
    }

    /// A slot that was booked for later is not wanted any more.
    pub(crate) const fn unbook(&mut self, cost: u64) {
        self.booked = self.booked.saturating_sub(cost);
    }

    /// What was taken off is not wanted any more.
    pub(crate) fn put_back(&mut self, cost: u64, taken: Timestamp) {
        if let Some(window) = self.window.as_mut().filter(|window| window.holds(taken)) {
            let more = window.remaining.saturating_add(cost);
            window.remaining = more.min(window.limit.unwrap_or(u64::MAX));
        }
    }

    /// A send went that nobody asked for.
    pub(crate) fn spend(&mut self, cost: u64, now: Timestamp) {
        self.roll(now);
        if let Some(window) = &mut self.window {
            window.remaining = window.remaining.saturating_sub(cost);
        }
    }

    pub(crate) const fn depart(&mut self, cost: u64) {
        self.in_flight = self.in_flight.saturating_add(cost);
    }

    pub(crate) const fn arrive(&mut self, cost: u64) {
        self.in_flight = self.in_flight.saturating_sub(cost);
    }

    pub(crate) const fn is_idle(&self) -> bool {
        self.in_flight == 0 && self.booked == 0
    }

    /// Takes what a reply says. Replies come late and out of order: of one window the smaller
    /// count is the newer one, a later reset is a newer window, an earlier one is old news.
    pub(crate) fn observe(&mut self, seen: &Seen, now: Timestamp) {
        let Some(remaining) = seen.remaining else {
            return;
        };
        let left = remaining.min(seen.limit.unwrap_or(u64::MAX));
        // the server cannot have counted what is still on its way
        let left = left.saturating_sub(self.in_flight);
        let Some(reset) = seen.reset else {
            if let Some(window) = &mut self.window {
                window.remaining = window.remaining.min(left);
            }
            return;
        };
        let seen = Window {
            remaining: left,
            reset: now.saturating_add(reset),
            limit: seen.limit,
            length: seen.length,
        };
        match &mut self.window {
            Some(window) if seen.reset.saturating_add(GRAIN) < window.reset => {}
            Some(window) if seen.reset <= window.reset.saturating_add(GRAIN) => {
                window.remaining = window.remaining.min(left);
                window.reset = window.reset.max(seen.reset);
                window.limit = seen.limit.or(window.limit);
                window.length = seen.length.or(window.length);
            }
            _ => self.window = Some(seen),
        }
    }

    /// A window that has ended gives way to the next one, if enough is known of it.
    fn roll(&mut self, now: Timestamp) {
        self.touched = self.touched.max(now);
        let Some(window) = self.window.filter(|window| window.reset <= now) else {
            return;
        };
        self.window = match (window.limit, window.length) {
            (Some(limit), Some(length)) if !length.is_zero() => {
                let reset = now.saturating_add(length);
                let remaining = limit.saturating_sub(self.in_flight);
                Some(Window {
                    remaining,
                    reset,
                    ..window
                })
            }
            _ => None,
        };
    }
}

impl Window {
    /// When the next slot is free, after `booked` that wait already: the next window holds as many
    /// as its limit, the rest come in those after it.
    fn next_free(&self, booked: u64) -> Timestamp {
        let (Some(limit), Some(length)) = (self.limit, self.length) else {
            return self.reset;
        };
        let later = booked.checked_div(limit).unwrap_or(0);
        let windows = u32::try_from(later).unwrap_or(u32::MAX);
        self.reset.saturating_add(length.saturating_mul(windows))
    }

    /// Whether `moment` lies in this window, as far as is known.
    fn holds(&self, moment: Timestamp) -> bool {
        let start = self.length.map_or_else(Timestamp::default, |length| {
            self.reset.saturating_sub(length)
        });
        start <= moment && moment < self.reset
    }
}

/// Servers tell times in whole seconds.
const GRAIN: Duration = Duration::from_millis(1_500);
