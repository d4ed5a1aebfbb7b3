//! The spellings of one text in base64.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use http::HeaderMap;
use paywait_x402::{EncodingError, Offer, OfferError, Receipt};

/// Whatever is in it, each spelling is read as the same, and as the body with the same text is.
pub(crate) fn check(data: &[u8]) {
    let spelled = [
        STANDARD.encode(data),
        STANDARD_NO_PAD.encode(data),
        URL_SAFE.encode(data),
        URL_SAFE_NO_PAD.encode(data),
        format!(" {}\t", STANDARD.encode(data)),
    ];
    let receipts = spelled
        .each_ref()
        .map(|text| Receipt::decode(text.as_bytes()));
    assert!(receipts.windows(2).all(|two| two.first() == two.last()));
    let offers = spelled.each_ref().map(|text| {
        let offer = Offer::decode(text.as_bytes());
        offer.map(|offer| {
            (
                offer.version(),
                offer.entries().len(),
                offer.rejected().to_vec(),
            )
        })
    });
    assert!(offers.windows(2).all(|two| two.first() == two.last()));

    let in_body = Offer::of(&HeaderMap::new(), data);
    let [first, ..] = offers;
    match (first, in_body) {
        (Ok(header), Ok(Some(body))) => {
            let body = (
                body.version(),
                body.entries().len(),
                body.rejected().to_vec(),
            );
            assert_eq!(header, body);
        }
        (Ok(_), other) => assert!(data.len() > 64 * 1024, "{other:?}"),
        (Err(OfferError::Encoding(EncodingError::NotBase64)), _) => panic!("it is base64"),
        (Err(_), Ok(Some(_))) => assert!(data.len() > 64 * 1024),
        (Err(_), Ok(None) | Err(_)) => {}
    }
}
