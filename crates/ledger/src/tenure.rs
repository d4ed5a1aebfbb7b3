//! From when on a hold stops counting.

use std::cmp::Ordering;

use paywait_signals::Timestamp;

use crate::Period;

/// From when on a hold stops counting.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Tenure {
    /// It counts until then: if it is not spent by then, it never is.
    Until(Timestamp),
    /// It was spent then, or is presumed to be: it counts until one period later.
    After(Timestamp),
}

impl Tenure {
    /// Returns when what counts for `period` counts no more.
    pub(crate) fn ends(self, period: Period) -> Timestamp {
        match self {
            Self::Until(moment) => moment,
            Self::After(spent) => period.ends(spent),
        }
    }

    /// Returns whether it counts for ever against a limit in total.
    pub(crate) const fn is_spent(self) -> bool {
        matches!(self, Self::After(_))
    }

    /// Returns the moment itself.
    pub(crate) const fn moment(self) -> Timestamp {
        match self {
            Self::Until(moment) | Self::After(moment) => moment,
        }
    }
}

/// The one that counts longer is the greater.
impl PartialOrd for Tenure {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let key = |tenure: &Self| (tenure.is_spent(), tenure.moment());
        key(self).partial_cmp(&key(other))
    }
}
