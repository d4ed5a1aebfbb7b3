//! The problem types of draft-ietf-httpapi-ratelimit-headers, in a body of RFC 9457.

use super::Meaning::{Passing, WallWithoutHint};
use super::Provider;
use super::Specificity::Problem;
use crate::Reason;

pub(super) const PROBLEM: Provider = Provider {
    places: &[Problem.at("/type")],
    codes: &[
        ("quota-exceeded", Passing(Reason::RateLimited)),
        ("temporary-reduced-capacity", Passing(Reason::Overloaded)),
        (
            "abnormal-usage-detected",
            WallWithoutHint(Reason::AbnormalUsage),
        ),
    ],
};
