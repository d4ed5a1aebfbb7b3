//! A payee that is pinned.

use paywait_x402::Asset;
use paywait_x402::alloy_primitives::Address;

use crate::Origin;

/// The one payee of an origin and token: whoever was paid first.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Pin {
    /// Where requests go.
    pub origin: Origin,
    /// The token.
    pub asset: Asset,
    /// Who is paid.
    pub payee: Address,
}
