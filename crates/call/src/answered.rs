//! One answer as the machine of a call needs it.

use paywait_signals::Reply;
#[cfg(feature = "pay")]
use {
    http::StatusCode,
    paywait_x402::{Offer, headers},
};

/// One answer to one send.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Answered<'a> {
    /// Status, headers, and the start of the body where it was a refusal.
    pub reply: Reply<'a>,
    /// Whether the origin that answered is the one that was asked. An offer from elsewhere is no
    /// offer.
    pub same_origin: bool,
    /// Whether the client below followed a redirect to get it: what it is given to show, it shows to
    /// others.
    pub redirected: bool,
    /// Whether its body ended before it was whole.
    pub cut: bool,
}

impl<'a> Answered<'a> {
    /// Returns an answer from the origin that was asked.
    pub const fn new(reply: Reply<'a>) -> Self {
        Self {
            reply,
            same_origin: true,
            redirected: false,
            cut: false,
        }
    }

    /// Says whether the origin that answered is the one that was asked.
    #[must_use]
    pub const fn same_origin(mut self, same: bool) -> Self {
        self.same_origin = same;
        self
    }

    /// Says whether the client below followed a redirect.
    #[must_use]
    pub const fn redirected(mut self, redirected: bool) -> Self {
        self.redirected = redirected;
        self
    }

    /// Says whether the body ended before it was whole.
    #[must_use]
    pub const fn cut(mut self, cut: bool) -> Self {
        self.cut = cut;
        self
    }

    /// Returns whether the head alone says all that the answer says of a price and of a payment.
    ///
    /// The servers of version 1 of x402 offer in the body of a 402, and there they also refuse a
    /// payment; so do servers that forget the header.
    #[cfg(feature = "pay")]
    pub fn is_told_by_head(&self) -> bool {
        let reply = self.reply;
        let may_offer = matches!(
            reply.status,
            StatusCode::PAYMENT_REQUIRED | StatusCode::PRECONDITION_FAILED
        );
        let offers = || matches!(Offer::of(reply.headers, &[]), Ok(Some(_)));
        !may_offer || headers::receipt(reply.headers).is_some() || offers()
    }

    /// Returns whether the head alone says all that the answer says of a price: it asks for none
    /// that could be paid.
    #[cfg(not(feature = "pay"))]
    pub const fn is_told_by_head(&self) -> bool {
        true
    }
}

#[cfg(all(test, feature = "pay"))]
mod tests {
    use http::{HeaderMap, HeaderName, HeaderValue};

    use super::*;

    fn told(status: StatusCode, field: Option<(HeaderName, &'static str)>) -> bool {
        let fields = field.map(|(name, value)| (name, HeaderValue::from_static(value)));
        let fields = HeaderMap::from_iter(fields);
        Answered::new(Reply::new(status, &fields, &[])).is_told_by_head()
    }

    /// {"x402Version":2,"accepts":[]}
    const OFFER: &str = "eyJ4NDAyVmVyc2lvbiI6MiwiYWNjZXB0cyI6W119";

    #[test]
    fn only_a_402_or_412_without_a_word_of_x402_waits_for_its_body() {
        for status in [
            StatusCode::PAYMENT_REQUIRED,
            StatusCode::PRECONDITION_FAILED,
        ] {
            assert!(!told(status, None));
            assert!(!told(status, Some((headers::PAYMENT_REQUIRED, "!!"))));
            assert!(told(status, Some((headers::PAYMENT_REQUIRED, OFFER))));
            for receipt in [headers::PAYMENT_RESPONSE, headers::X_PAYMENT_RESPONSE] {
                assert!(told(status, Some((receipt, "!!"))));
            }
        }
        for status in [
            StatusCode::OK,
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::BAD_GATEWAY,
        ] {
            assert!(told(status, None));
        }
    }
}
