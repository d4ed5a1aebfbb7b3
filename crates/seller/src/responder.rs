//! The shop behind `wiremock`.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use wiremock::{Respond, ResponseTemplate};

use crate::{Fault, Seller, wire};

/// The shop as a responder of a `wiremock` server.
///
/// It acts out [`Fault::Late`] and [`Fault::Stall`] (an empty 504 after the silence). For the
/// other faults it answers 501: they need [`RawServer`](crate::RawServer).
///
/// ```
/// use alloy_primitives::Address;
/// use paywait_seller::{Route, Seller, Shop, ShopResponder, Terms};
/// use wiremock::{Mock, MockServer, matchers::any};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let terms = Terms::usdc(10_000, Address::repeat_byte(0x22));
/// let seller = Seller::new(Shop::builder().route(Route::new("/report", terms)).build()?);
/// let server = MockServer::start().await;
/// Mock::given(any()).respond_with(ShopResponder::new(seller.clone())).mount(&server).await;
///
/// let reply = reqwest::get(format!("{}/report", server.uri())).await?;
/// assert_eq!(reply.status(), 402);
/// assert_eq!(seller.ledger().requests().len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ShopResponder {
    seller: Seller,
}

impl ShopResponder {
    /// Returns a responder that answers for `seller`.
    pub const fn new(seller: Seller) -> Self {
        Self { seller }
    }
}

impl Respond for ShopResponder {
    fn respond(&self, request: &wiremock::Request) -> ResponseTemplate {
        let mut asked = Request::new(());
        *asked.method_mut() = request.method.clone();
        *asked.headers_mut() = request.headers.clone();
        // without its authority, which wiremock makes up: the header Host has the true one
        let Ok(uri) = request.url.path().parse() else {
            return template(&wire::error(StatusCode::BAD_REQUEST, "not an HTTP address"));
        };
        *asked.uri_mut() = uri;
        let answer = self.seller.answer(&asked);
        match answer.fault {
            None => template(&answer.response),
            Some(Fault::Late(delay)) => template(&answer.response).set_delay(delay),
            Some(Fault::Stall(silence)) => {
                ResponseTemplate::new(StatusCode::GATEWAY_TIMEOUT).set_delay(silence)
            }
            Some(Fault::HalfBody | Fault::Reset | Fault::SlowEvents(_)) => template(&wire::error(
                StatusCode::NOT_IMPLEMENTED,
                "this fault needs the raw server",
            )),
        }
    }
}

fn template(response: &Response<Bytes>) -> ResponseTemplate {
    let mut template =
        ResponseTemplate::new(response.status()).set_body_bytes(response.body().as_ref());
    for (name, value) in response.headers() {
        template = template.append_header(name, value);
    }
    template
}
