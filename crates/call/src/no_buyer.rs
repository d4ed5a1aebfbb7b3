//! The paying side of a call that has none: the same questions, answered by nobody.
#![expect(
    clippy::unused_self,
    reason = "the same questions as to a buyer that has answers"
)]

use std::convert::Infallible;

use http::HeaderMap;
use paywait_signals::{Standing, Timestamp};

use crate::{Answered, End, Facts, NotPaid};

/// The paying side of a call that has none.
#[derive(Debug, Default)]
pub(crate) struct Buyer {}

/// What the next send needs before it can go.
#[derive(Debug)]
pub(crate) enum Ready {
    /// Nothing.
    ToSend,
}

/// A payment that never is.
#[derive(Debug)]
pub(crate) struct Showing(Infallible);

impl Showing {
    pub(crate) fn write(self, _fields: &mut HeaderMap) {
        match self.0 {}
    }
}

impl Buyer {
    pub(crate) fn standing(
        &mut self,
        _answer: &Answered<'_>,
        _paid: bool,
        _now: Timestamp,
    ) -> Standing {
        Standing::unpaid()
    }

    pub(crate) fn objection(&self, _facts: &Facts) -> Option<NotPaid> {
        Some(NotPaid::NoWallet)
    }

    pub(crate) const fn ready(&mut self, _now: Timestamp) -> Ready {
        Ready::ToSend
    }

    pub(crate) const fn show(&mut self, _now: Timestamp) -> Option<Showing> {
        None
    }

    pub(crate) fn take_back(&mut self) {}

    pub(crate) fn lose(&mut self, _paid: bool) {}

    pub(crate) const fn mends(&self, _now: Timestamp) -> bool {
        false
    }

    pub(crate) const fn goes_at(&mut self, at: Timestamp) -> Option<Timestamp> {
        Some(at)
    }

    pub(crate) const fn conclude(&self, otherwise: End) -> End {
        otherwise
    }
}
