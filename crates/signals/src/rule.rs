//! The rules of the decision, in their order: the first that matches decides.

mod client_error;
mod hold;
mod offer;
mod other_scheme;
mod settlement;
mod status;
mod too_large;
mod veto;
mod wall;

use crate::Decision;
use crate::refusal::Refusal;

/// A rule decides, or leaves the refusal to the next one.
type Rule = fn(&Refusal<'_>) -> Option<Decision>;

/// Returns what to do about a refusal.
pub(crate) fn decide(refusal: &Refusal<'_>) -> Decision {
    PAYMENT
        .iter()
        .find_map(|rule| rule(refusal))
        .unwrap_or_else(|| decide_apart_from_payment(refusal))
}

/// Returns what the status, the codes and the hints say, whatever was paid or offered.
fn decide_apart_from_payment(refusal: &Refusal<'_>) -> Decision {
    OTHERS
        .iter()
        .find_map(|rule| rule(refusal))
        .unwrap_or_else(|| status::decide(refusal))
}

/// What was paid comes first, then what may be paid, then what cannot.
const PAYMENT: &[Rule] = &[settlement::decide, offer::decide, other_scheme::decide];

/// A wall beats a hint, and a final error beats a word on retries.
const OTHERS: &[Rule] = &[
    hold::decide,
    too_large::decide,
    wall::decide,
    client_error::decide,
    veto::decide,
];
