//! OpenAI, and the many that answer in its shape.
//!
//! The code decides; the type `insufficient_quota` is the catch-all of money.

use super::Meaning::{Passing, Wall};
use super::Provider;
use super::Specificity::{Class, Code};
use crate::Reason;

pub(super) const OPENAI: Provider = Provider {
    places: &[Code.at("/error/code"), Class.at("/error/type")],
    codes: &[
        ("insufficient_quota", Wall(Reason::OutOfCredit)),
        ("credit_balance_exhausted", Wall(Reason::OutOfCredit)),
        (
            "organization_spend_limit_exceeded",
            Wall(Reason::SpendLimit),
        ),
        ("project_spend_limit_exceeded", Wall(Reason::SpendLimit)),
        ("billing_hard_limit_reached", Wall(Reason::SpendLimit)),
        ("organization_usage_limit_exceeded", Wall(Reason::UsageCap)),
        ("billing_not_active", Wall(Reason::Billing)),
        ("rate_limit_exceeded", Passing(Reason::RateLimited)),
        ("slow_down", Passing(Reason::RampTooFast)),
        ("server_is_overloaded", Passing(Reason::Overloaded)),
    ],
};
