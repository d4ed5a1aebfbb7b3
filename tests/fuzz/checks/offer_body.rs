//! An offer in a body.

use http::HeaderMap;
use paywait_x402::{Offer, OfferSource};

use crate::offer;

/// Takes all for the body.
pub(crate) fn check(data: &[u8]) {
    let Ok(Some(offer)) = Offer::of(&HeaderMap::new(), data) else {
        return;
    };
    assert_eq!(offer.source(), OfferSource::Body);
    offer::holds(&offer);
}
