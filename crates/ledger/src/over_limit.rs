//! A price that does not fit under a limit.

use std::fmt;

use paywait_signals::Timestamp;

use crate::{Limit, Quantity};

/// A price that does not fit under a limit: nothing was signed for it.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub struct OverLimit {
    /// The limit. Of several that are passed, the one that has room last.
    pub limit: Limit,
    /// For whom it was passed, where it is one for each: an origin, a payee, a label's name.
    pub subject: String,
    /// How much more was asked for.
    pub asked: Quantity,
    /// What counts against it now.
    pub used: Quantity,
    /// When there is room, if ever. It may be sooner, where a hold is let go before its time; where
    /// very much counts against the limit, there may not be room before a later moment.
    pub come_back: Option<Timestamp>,
    /// When the oldest of the holds can die without which there would be room. Until then each of them may
    /// be let go, and of a limit on what is open, each that settles makes room. Nothing if what is spent
    /// leaves no room, whatever becomes of what is held.
    pub held_until: Option<Timestamp>,
}

impl OverLimit {
    /// Returns whether there is room later than for `other`: what waits for holds alone has it first.
    pub(crate) fn ends_after(&self, other: &Self) -> bool {
        let end = |over: &Self| {
            let come_back = over.come_back.unwrap_or(Timestamp::MAX);
            (over.held_until.is_none(), come_back)
        };
        end(self) > end(other)
    }
}

impl fmt::Display for OverLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            limit, asked, used, ..
        } = self;
        write!(f, "{asked} more would pass the limit of {limit}")?;
        if !self.subject.is_empty() && !limit.to_string().ends_with(&self.subject) {
            write!(f, " ({})", self.subject)?;
        }
        write!(f, ", of which {used} is spent or held")
    }
}
