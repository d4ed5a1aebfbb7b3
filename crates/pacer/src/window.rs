//! One window as it is known from replies that come late and out of order.

use std::time::Duration;

use paywait_signals::Timestamp;

use crate::{Permit, Seen};

/// One window: what was left, and when it ends at the earliest and at the latest.
///
/// A reply names the time until the end, in whole seconds, as it was when the server wrote it:
/// some time between the send and the arrival. So the end is known as a span, and two reports are
/// of different windows only if their spans do not meet.
#[derive(Debug)]
pub(crate) struct Window {
    /// How many were left, by the report that counts.
    left: u64,
    earliest_end: Timestamp,
    /// Nothing beyond what is left goes before this moment.
    end: Timestamp,
    /// Where the report that counts stands in the order of events.
    stamp: u64,
    quota: Option<Quota>,
}

/// What a window holds each time it begins.
#[derive(Clone, Copy, Debug)]
struct Quota {
    limit: u64,
    length_ms: u64,
}

/// What one reply reported.
#[derive(Debug)]
pub(crate) struct Report {
    window: Window,
    /// When its send got its permit, in the order of events.
    sent: Option<u64>,
}

/// How a report fits a window.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fit {
    /// It is of a window that has passed, and says nothing about this one.
    Passed,
    /// It counts, or was counted by the report that does.
    Counted,
}

impl Report {
    /// Reads what a reply said; nothing if it does not say what is left and how long.
    ///
    /// `stamp` is where its arrival stands in the order of events.
    pub(crate) fn read(
        seen: &Seen,
        permit: Option<&Permit>,
        stamp: u64,
        now: Timestamp,
    ) -> Option<Self> {
        let remaining = seen.remaining?;
        let span = seen.span().filter(|span| !span.is_zero())?;
        let since = permit.map_or(now, |permit| permit.since.min(now));
        let window = Window {
            left: remaining.min(seen.limit.unwrap_or(u64::MAX)),
            earliest_end: since.saturating_add(span).saturating_sub(GRAIN),
            end: now.saturating_add(span),
            stamp,
            quota: Quota::read(seen),
        };
        Some(Self {
            window,
            sent: permit.map(|permit| permit.stamp),
        })
    }

    /// Returns the window as this report alone tells it.
    pub(crate) const fn into_window(self) -> Window {
        self.window
    }
}

impl Window {
    /// Returns how many were left when the server wrote the report that counts.
    pub(crate) const fn left(&self) -> u64 {
        self.left
    }

    /// Returns when the window ends, at the latest.
    pub(crate) const fn end(&self) -> Timestamp {
        self.end
    }

    /// Takes in another report.
    pub(crate) fn reconcile(&mut self, report: Report) -> Fit {
        let Report {
            window: other,
            sent,
        } = report;
        // sent when the report that counts was known: the server counted one after the other
        let is_newer = sent.is_some_and(|sent| sent > self.stamp);
        let quota = other.quota.or(self.quota);
        if other.earliest_end > self.end || (is_newer && other.end < self.earliest_end) {
            *self = Self { quota, ..other };
            return Fit::Counted;
        }
        if other.end < self.earliest_end {
            return Fit::Passed;
        }
        self.earliest_end = self.earliest_end.max(other.earliest_end);
        self.end = self.end.max(other.end);
        self.quota = quota;
        // what is left only falls within a window: of two that crossed, the smaller is the later
        if is_newer || other.left < self.left {
            self.left = other.left;
            self.stamp = other.stamp;
        }
        Fit::Counted
    }

    /// Begins the window anew where it has ended and the server has said what it then holds.
    /// Returns false where it has not: nothing is known any more.
    pub(crate) fn renew(&mut self, stamp: u64, now: Timestamp) -> bool {
        let Some(quota) = self.quota else {
            return false;
        };
        let late = millis(self.end.until(now));
        let lengths = late
            .checked_div(quota.length_ms)
            .unwrap_or(0)
            .saturating_add(1);
        let passed = Duration::from_millis(quota.length_ms.saturating_mul(lengths));
        self.left = quota.limit;
        self.earliest_end = self.earliest_end.saturating_add(passed);
        self.end = self.end.saturating_add(passed);
        self.stamp = stamp;
        true
    }

    /// Returns when a send may go that has `ahead` others before it in the queue behind this
    /// window.
    pub(crate) fn place_behind(&self, ahead: u64) -> Timestamp {
        let Some(quota) = self.quota else {
            return self.end;
        };
        let lengths = ahead.checked_div(quota.limit).unwrap_or(0);
        self.end.saturating_add(Duration::from_millis(
            quota.length_ms.saturating_mul(lengths),
        ))
    }
}

impl Quota {
    /// A quota of nothing would be a window that never opens: it is no statement.
    fn read(seen: &Seen) -> Option<Self> {
        let limit = seen.limit.filter(|limit| *limit > 0)?;
        let length_ms = seen.length.map(millis).filter(|length| *length > 0)?;
        Some(Self { limit, length_ms })
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Servers name the time until the reset in whole seconds.
const GRAIN: Duration = Duration::from_secs(1);
