//! What a fixed reply claims in the words of x402: an offer or a receipt of any content, true or not.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, HeaderValue};
use serde_json::Value;

use crate::Canned;

impl Canned {
    /// Adds `PAYMENT-REQUIRED` with `offer`, whatever it says: a window of the wrong type, a
    /// scheme that nobody has, a chain that was not offered before.
    ///
    /// ```
    /// use http::StatusCode;
    /// use paywait_seller::{Canned, Route};
    /// use serde_json::json;
    ///
    /// let sign_in = Canned::new(StatusCode::PAYMENT_REQUIRED)
    ///     .offer(&json!({ "x402Version": 2, "accepts": [] }));
    /// let route = Route::free("/members").handler(sign_in);
    /// # let _ = route;
    /// ```
    #[must_use]
    pub fn offer(self, offer: &Value) -> Self {
        self.claim(PAYMENT_REQUIRED, offer)
    }

    /// Adds `PAYMENT-RESPONSE` with `receipt`, whatever it says: a seller can claim what did not
    /// happen. The honest receipt is that of [`Step::settled`](crate::Step::settled).
    ///
    /// ```
    /// use http::StatusCode;
    /// use paywait_seller::{Canned, Step};
    /// use serde_json::json;
    ///
    /// let receipt = json!({ "success": true, "transaction": "0xf0", "network": "eip155:84532" });
    /// let lie = Step::verified(Canned::new(StatusCode::BAD_GATEWAY).receipt(&receipt));
    /// # let _ = lie;
    /// ```
    #[must_use]
    pub fn receipt(self, receipt: &Value) -> Self {
        self.claim(PAYMENT_RESPONSE, receipt)
    }

    fn claim(self, name: HeaderName, value: &Value) -> Self {
        // base64 has no character that a header cannot carry
        match HeaderValue::try_from(STANDARD.encode(value.to_string())) {
            Ok(value) => self.header(name, value),
            Err(_) => self,
        }
    }
}

const PAYMENT_REQUIRED: HeaderName = HeaderName::from_static("payment-required");
const PAYMENT_RESPONSE: HeaderName = HeaderName::from_static("payment-response");
