//! How long a record counts against a kind of limit.

use std::fmt;
use std::str::FromStr;

use crate::Period;
use crate::period::Kept as KeptPeriod;

/// How long a record counts: money until one period after it was spent, the purchase itself until
/// one period after it began. The last of them to end is when the record is kept for no limit.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Term {
    /// One period from when the money was spent, or is presumed to be.
    Spent(Period),
    /// One period from when the purchase began.
    Begun(Period),
    /// Until it can settle no more, unless it has before. It weighs on nothing by itself: it tells holds
    /// from what is spent.
    Held,
    /// Until no limit needs the record. The last in order, since it ends no sooner than another.
    Kept,
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Spent(period) => write!(f, "spent {}", KeptPeriod(period)),
            Self::Begun(period) => write!(f, "begun {}", KeptPeriod(period)),
            Self::Held => f.write_str("held"),
            Self::Kept => f.write_str("kept"),
        }
    }
}

impl FromStr for Term {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let period = |text: &str| text.parse().map(|KeptPeriod(period)| period);
        match text.split_once(' ') {
            Some(("spent", rest)) => period(rest).map(Self::Spent),
            Some(("begun", rest)) => period(rest).map(Self::Begun),
            None if text == "held" => Ok(Self::Held),
            None if text == "kept" => Ok(Self::Kept),
            _ => Err(()),
        }
    }
}
