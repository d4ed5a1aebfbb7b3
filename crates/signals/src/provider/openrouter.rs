//! OpenRouter: the cause stands in the metadata, or in the answer of the upstream.

use super::Meaning::{Hold, Passing, Wall};
use super::Provider;
use super::Specificity::{Cause, Upstream};
use crate::Reason;

pub(super) const OPENROUTER: Provider = Provider {
    places: &[
        Cause.at("/error/metadata/reason"),
        Cause.at("/error/metadata/limit_source"),
        Cause.at("/error/metadata/error_type"),
        Cause.at("/error/metadata/provider_code"),
        // in the shapes of the Messages and of the Responses API
        Cause.at("/error/error_type"),
        Cause.at("/error_type"),
        Upstream.at("/error/metadata/raw"),
    ],
    codes: &[
        ("in_flight_budget_exhausted", Hold),
        ("openrouter_in_flight_budget", Hold),
        ("openrouter_credits", Wall(Reason::OutOfCredit)),
        ("weight_exceeds_budget", Wall(Reason::OutOfCredit)),
        ("payment_required", Wall(Reason::OutOfCredit)),
        ("openrouter_key_limit", Wall(Reason::SpendLimit)),
        ("openrouter_guardrail_budget", Wall(Reason::SpendLimit)),
        ("openrouter_workspace_budget", Wall(Reason::SpendLimit)),
        (
            "upstream_provider_shared_pool",
            Passing(Reason::RateLimited),
        ),
        ("provider_overloaded", Passing(Reason::Overloaded)),
        ("provider_unavailable", Passing(Reason::ServerError)),
    ],
};
