//! The shop: routes, a ledger, and one pure answer to each request.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use alloy_primitives::{Address, U256};
use http::header::{DATE, HOST, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use paywait_signals::Timestamp;

use crate::payment::Shown;
use crate::record::RequestRecord;
use crate::replies::Replies;
use crate::sale::Sale;
use crate::{Answer, Facilitator, Ledger, Route, Settlement, Token, wire};

/// A mock seller: pure, without clock or I/O.
///
/// [`answer`](Self::answer) is all it does; [`Seller`](crate::Seller) shares it and gives it a
/// clock.
///
/// ```
/// use alloy_primitives::Address;
/// use http::Request;
/// use paywait_seller::{Route, Shop, Terms};
/// use paywait_signals::Timestamp;
///
/// let mut shop = Shop::builder()
///     .route(Route::new("/report", Terms::usdc(10_000, Address::repeat_byte(0x22))))
///     .build()?;
/// let request = Request::get("/report").body(())?;
/// let answer = shop.answer(&request, Timestamp::from_secs(1_740_672_000));
///
/// assert_eq!(answer.response.status(), 402);
/// assert_eq!(shop.ledger().unpaid_requests().count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shop {
    routes: BTreeMap<String, Route>,
    ledger: Ledger,
    replies: Replies,
    facilitator: Facilitator,
}

impl Shop {
    /// Returns a builder of a shop that sells nothing yet.
    pub fn builder() -> ShopBuilder {
        ShopBuilder {
            routes: Vec::new(),
            balances: Vec::new(),
            facilitator: Facilitator::Idempotent,
            capacity: CAPACITY,
        }
    }

    /// Answers one request and writes it down. The body of the request is not looked at.
    pub fn answer<B>(&mut self, request: &Request<B>, now: Timestamp) -> Answer {
        let Some(ordinal) = self.ledger.admit() else {
            return full();
        };
        let path = request.uri().path().to_owned();
        let shown = Shown::read(request.headers(), self.routes.get(&path));
        let mut record = RequestRecord::new(ordinal, now, request.method().clone(), path);
        let signed = self.note(&shown, &mut record);
        let mut answer = match self.routes.get_mut(request.uri().path()) {
            None => plain(StatusCode::NOT_FOUND, "no such route"),
            Some(route) => Sale {
                route,
                ledger: &mut self.ledger,
                replies: &mut self.replies,
                facilitator: self.facilitator,
                record: &mut record,
                shown: &shown,
                signed,
                resource: &resource(request),
                now,
            }
            .answer(),
        };
        set_date(answer.response.headers_mut(), now);
        let status = answer.response.status();
        record.fault = answer.fault;
        record.status = answer
            .fault
            .map_or(Some(status), |fault| fault.status(status));
        self.ledger.record(record);
        answer
    }

    /// Returns the shop's book.
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Settles at `now` every authorization that buyers have shown and that can still settle,
    /// and returns what that moved: what a seller can take who kept what it was shown.
    pub fn cash_in(&mut self, now: Timestamp) -> &[Settlement] {
        self.ledger.cash_in(now)
    }

    /// Sets what `payer` has of `token`, in atomic units.
    pub fn set_balance(&mut self, token: &Token, payer: Address, balance: U256) {
        self.ledger.chain.set_balance(token, payer, balance);
    }

    /// Writes down who paid with what, and returns whether the signature is good.
    fn note(&mut self, shown: &Shown, record: &mut RequestRecord) -> bool {
        let Some(payment) = shown.payment() else {
            return false;
        };
        record.paid = true;
        record.payment_id = payment.identifier().map(str::to_owned);
        let Some(authorization) = &payment.authorization else {
            return false;
        };
        record.payer = Some(authorization.from);
        record.nonce = Some(authorization.nonce);
        self.ledger.see(authorization, record.ordinal)
    }
}

/// Builds a [`Shop`].
#[derive(Clone, Debug)]
pub struct ShopBuilder {
    routes: Vec<Route>,
    balances: Vec<(Token, Address, U256)>,
    facilitator: Facilitator,
    capacity: usize,
}

impl ShopBuilder {
    /// Adds something to sell.
    #[must_use]
    pub fn route(mut self, route: Route) -> Self {
        self.routes.push(route);
        self
    }

    /// Sets what `payer` has of `token`, in atomic units. A payer that is not named has enough.
    #[must_use]
    pub fn balance(mut self, token: Token, payer: Address, balance: U256) -> Self {
        self.balances.push((token, payer, balance));
        self
    }

    /// Sets how settling a settled payment is answered.
    #[must_use]
    pub const fn facilitator(mut self, facilitator: Facilitator) -> Self {
        self.facilitator = facilitator;
        self
    }

    /// Sets how many requests the ledger takes; later ones are answered 503 and only counted.
    /// Default: a million.
    #[must_use]
    pub const fn capacity(mut self, requests: usize) -> Self {
        self.capacity = requests;
        self
    }

    /// Builds the shop.
    ///
    /// # Errors
    ///
    /// [`ShopError::Path`] if a path does not start with `/` or has a query, and
    /// [`ShopError::SamePath`] if two routes have the same.
    pub fn build(self) -> Result<Shop, ShopError> {
        let mut routes = BTreeMap::new();
        for route in self.routes {
            let path = route.path().to_owned();
            if !path.starts_with('/') || path.contains(['?', '#']) {
                return Err(ShopError::Path { path });
            }
            if routes.insert(path.clone(), route).is_some() {
                return Err(ShopError::SamePath { path });
            }
        }
        let mut ledger = Ledger::new(self.capacity);
        for (token, payer, balance) in self.balances {
            ledger.chain.set_balance(&token, payer, balance);
        }
        let (replies, facilitator) = (Replies::default(), self.facilitator);
        Ok(Shop {
            routes,
            ledger,
            replies,
            facilitator,
        })
    }
}

/// Why a shop cannot be built.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShopError {
    /// A path does not start with `/`, or has a query.
    #[error("{path:?} is not the path of a route: it starts with / and has no query")]
    Path {
        /// The path.
        path: String,
    },
    /// Two routes have the same path.
    #[error("two routes have the path {path:?}")]
    SamePath {
        /// The path.
        path: String,
    },
}

fn plain(status: StatusCode, error: &str) -> Answer {
    Answer {
        response: wire::error(status, error),
        fault: None,
    }
}

fn full() -> Answer {
    let mut answer = plain(StatusCode::SERVICE_UNAVAILABLE, "the ledger is full");
    answer
        .response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from_static("3600"));
    answer
}

/// Returns the address that was asked for, as far as the request tells.
fn resource<B>(request: &Request<B>) -> String {
    let uri = request.uri();
    let host = request
        .headers()
        .get(HOST)
        .and_then(|host| host.to_str().ok());
    match uri.authority().map(http::uri::Authority::as_str).or(host) {
        Some(host) => format!("http://{host}{}", uri.path()),
        None => uri.path().to_owned(),
    }
}

/// Sets `Date` by the seller's clock, not by the machine's, unless the route sets its own.
fn set_date(headers: &mut HeaderMap, now: Timestamp) {
    if headers.contains_key(DATE) || now.as_secs() > LAST_HTTP_DATE {
        return;
    }
    let moment = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(now.as_secs()));
    let date = moment.map(httpdate::fmt_http_date);
    if let Some(Ok(date)) = date.map(HeaderValue::try_from) {
        headers.insert(DATE, date);
    }
}

const CAPACITY: usize = 1_000_000;
/// The end of the year 9999, the last that an HTTP date can name.
const LAST_HTTP_DATE: u64 = 253_402_300_799;
