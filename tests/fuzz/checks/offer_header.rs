//! An offer in a header, and what stands in the body beside it.

use http::{HeaderMap, HeaderValue};
use paywait_x402::{Offer, OfferSource, headers};

use crate::offer;

/// Takes the first line for the header `PAYMENT-REQUIRED`, and the rest for the body.
pub(crate) fn check(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n');
    let (field, body) = data.split_at(end.unwrap_or(data.len()));
    let body = body.get(1..).unwrap_or_default();
    let Ok(field) = HeaderValue::from_bytes(field) else {
        return;
    };
    let alone = Offer::decode(field.as_bytes());
    let in_body = Offer::of(&HeaderMap::new(), body);
    let both = Offer::of(
        &HeaderMap::from_iter([(headers::PAYMENT_REQUIRED, field)]),
        body,
    );
    match (&alone, &in_body, &both) {
        (Ok(_), _, Ok(Some(both))) => assert_eq!(both.source(), OfferSource::Header),
        (Err(_), Ok(Some(_)), Ok(Some(both))) => {
            assert_eq!(both.source(), OfferSource::BodyDespiteHeader);
        }
        (Err(why), Ok(None) | Err(_), Err(both)) => assert_eq!(why, both),
        _ => panic!("{alone:?}, {in_body:?} and {both:?}"),
    }
    for offer in [alone.ok(), in_body.ok().flatten(), both.ok().flatten()] {
        offer.iter().for_each(offer::holds);
    }
}
