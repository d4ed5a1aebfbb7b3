//! Anthropic: the type is broad, the cause stands in the details.

use super::Meaning::{Passing, Wall};
use super::Provider;
use super::Specificity::{Cause, Class};
use crate::Reason;

pub(super) const ANTHROPIC: Provider = Provider {
    places: &[
        Cause.at("/error/details/error_code"),
        Class.at("/error/type"),
    ],
    codes: &[
        // clears at 00:00 UTC on the first of the month
        ("enforced_spend_limit_reached", Wall(Reason::UsageCap)),
        ("billing_error", Wall(Reason::Billing)),
        ("rate_limit_error", Passing(Reason::RateLimited)),
        ("overloaded_error", Passing(Reason::Overloaded)),
        ("timeout_error", Passing(Reason::Timeout)),
    ],
};
