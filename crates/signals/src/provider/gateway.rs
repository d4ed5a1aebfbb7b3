//! Gateways that sell calls against a wallet: an empty wallet is not a wallet on hold.

use super::Meaning::{Hold, Wall};
use super::Provider;
use super::Specificity::{Cause, Class, Code};
use crate::Reason;

pub(super) const GATEWAY: Provider = Provider {
    places: &[
        Cause.at("/error/metadata/reason"),
        Code.at("/error/code"),
        Class.at("/error/type"),
    ],
    codes: &[
        ("holds_outstanding", Hold),
        ("wallet_empty", Wall(Reason::OutOfCredit)),
        ("insufficient_balance", Wall(Reason::OutOfCredit)),
    ],
};
