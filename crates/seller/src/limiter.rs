//! How many requests a route lets in: a fixed window, before the paywall or inside the handler.

use std::time::Duration;

use bytes::Bytes;
use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use paywait_signals::Timestamp;

/// A fixed window: so many requests in so many seconds, counted from the first of them.
///
/// By default it stands before the paywall, so that it refuses before money moves, and counts
/// unpaid requests in a bucket of their own, so that a price check costs no paid request.
///
/// ```
/// use std::time::Duration;
/// use paywait_seller::{Limiter, Place};
///
/// // the sin of taking money first and throttling after
/// let limiter = Limiter::new(2, Duration::from_secs(10)).place(Place::InHandler).fields(true);
/// # let _ = limiter;
/// ```
#[derive(Clone, Debug)]
#[expect(
    missing_copy_implementations,
    reason = "it counts, and a silent copy would count apart"
)]
pub struct Limiter {
    quota: u32,
    window: Duration,
    place: Place,
    probes: Probes,
    retry_after: bool,
    fields: bool,
    paid: Bucket,
    unpaid: Bucket,
}

/// Where on a request's road a [`Limiter`] stands.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Place {
    /// Before the paywall: a refused request pays nothing.
    #[default]
    BeforePaywall,
    /// Inside the handler, which unpaid requests do not reach. In the flow `upfront` a refused
    /// request has paid.
    InHandler,
}

/// How a [`Limiter`] before the paywall counts requests without a payment.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Probes {
    /// In a bucket of their own, of the same size.
    #[default]
    Apart,
    /// Among the paid ones: a price check uses up the quota.
    Counted,
    /// Not at all.
    Free,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    until: Timestamp,
    taken: u32,
}

impl Limiter {
    /// Returns a limiter that lets `quota` requests in per `window`.
    pub const fn new(quota: u32, window: Duration) -> Self {
        let bucket = Bucket {
            until: Timestamp::from_millis(0),
            taken: 0,
        };
        Self {
            quota,
            window,
            place: Place::BeforePaywall,
            probes: Probes::Apart,
            retry_after: true,
            fields: false,
            paid: bucket,
            unpaid: bucket,
        }
    }

    /// Sets where it stands.
    #[must_use]
    pub const fn place(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    /// Sets how it counts requests without a payment.
    #[must_use]
    pub const fn probes(mut self, probes: Probes) -> Self {
        self.probes = probes;
        self
    }

    /// Sets whether a 429 carries `Retry-After`. Default: yes.
    #[must_use]
    pub const fn retry_after(mut self, told: bool) -> Self {
        self.retry_after = told;
        self
    }

    /// Sets whether every reply carries `RateLimit` and `RateLimit-Policy`
    /// (draft-ietf-httpapi-ratelimit-headers). Default: no.
    #[must_use]
    pub const fn fields(mut self, told: bool) -> Self {
        self.fields = told;
        self
    }

    /// Takes one request at `place`, and returns the 429 if there is no room.
    pub(crate) fn take(
        &mut self,
        place: Place,
        paid: bool,
        now: Timestamp,
    ) -> Option<Response<Bytes>> {
        if place != self.place || (!paid && self.probes == Probes::Free) {
            return None;
        }
        let (quota, window) = (self.quota, self.window);
        let bucket = self.bucket_mut(paid);
        bucket.open(window, now);
        if bucket.taken < quota {
            bucket.taken = bucket.taken.saturating_add(1);
            return None;
        }
        let wait = bucket.seconds_left(now);
        Some(self.refusal(wait))
    }

    /// Adds the quota fields to a reply that does not have them yet.
    pub(crate) fn tell(&self, headers: &mut HeaderMap, paid: bool, now: Timestamp) {
        if !self.fields || headers.contains_key(RATELIMIT) {
            return;
        }
        let bucket = self.bucket(paid);
        let open = now < bucket.until;
        let (left, resets) = match open {
            true => (
                self.quota.saturating_sub(bucket.taken),
                bucket.seconds_left(now),
            ),
            false => (self.quota, self.window.as_secs()),
        };
        let window = self.window.as_secs();
        insert(
            headers,
            RATELIMIT,
            format!("\"{POLICY}\";r={left};t={resets}"),
        );
        insert(
            headers,
            RATELIMIT_POLICY,
            format!("\"{POLICY}\";q={};w={window}", self.quota),
        );
    }

    fn refusal(&self, wait: u64) -> Response<Bytes> {
        let mut response = Response::new(Bytes::from_static(br#"{"error":"too many requests"}"#));
        *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
        if self.retry_after {
            response
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(wait));
        }
        response
    }

    const fn bucket(&self, paid: bool) -> &Bucket {
        match (paid, self.probes) {
            (false, Probes::Apart) => &self.unpaid,
            (true, _) | (false, Probes::Counted | Probes::Free) => &self.paid,
        }
    }

    const fn bucket_mut(&mut self, paid: bool) -> &mut Bucket {
        match (paid, self.probes) {
            (false, Probes::Apart) => &mut self.unpaid,
            (true, _) | (false, Probes::Counted | Probes::Free) => &mut self.paid,
        }
    }
}

impl Bucket {
    fn open(&mut self, window: Duration, now: Timestamp) {
        if now >= self.until {
            *self = Self {
                until: now.saturating_add(window),
                taken: 0,
            };
        }
    }

    /// The whole seconds until the window ends, rounded up: never sooner than true.
    fn seconds_left(&self, now: Timestamp) -> u64 {
        self.until
            .as_millis()
            .saturating_sub(now.as_millis())
            .div_ceil(1_000)
    }
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: String) {
    if let Ok(value) = HeaderValue::try_from(value) {
        headers.insert(name, value);
    }
}

const POLICY: &str = "requests";
const RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATELIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn take(limiter: &mut Limiter, paid: bool, millis: u64) -> Option<Response<Bytes>> {
        limiter.take(Place::BeforePaywall, paid, at(millis))
    }

    #[test]
    fn the_window_runs_from_the_first_request_and_the_wait_is_rounded_up() {
        let mut limiter = Limiter::new(1, SECOND * 2);
        assert!(take(&mut limiter, true, 5_000).is_none());
        let refusal = take(&mut limiter, true, 5_001).unwrap();
        assert_eq!(refusal.status(), 429);
        assert_eq!(refusal.headers()["retry-after"], "2");
        assert!(take(&mut limiter, true, 6_999).is_some());
        assert!(take(&mut limiter, true, 7_000).is_none());
    }

    #[test]
    fn probes_have_a_bucket_of_their_own_unless_counted_or_free() {
        let mut apart = Limiter::new(1, SECOND);
        assert!(take(&mut apart, false, 0).is_none());
        assert!(take(&mut apart, true, 0).is_none());
        assert!(take(&mut apart, false, 0).is_some());

        let mut counted = Limiter::new(1, SECOND).probes(Probes::Counted);
        assert!(take(&mut counted, false, 0).is_none());
        assert!(take(&mut counted, true, 0).is_some());

        let mut free = Limiter::new(1, SECOND).probes(Probes::Free);
        assert!(take(&mut free, false, 0).is_none());
        assert!(take(&mut free, false, 0).is_none());
        assert!(take(&mut free, true, 0).is_none());
    }

    #[test]
    fn the_fields_tell_what_is_left_and_when_it_comes_back() {
        let mut limiter = Limiter::new(3, SECOND * 10).fields(true);
        assert!(take(&mut limiter, true, 1_000).is_none());
        let mut headers = HeaderMap::new();
        limiter.tell(&mut headers, true, at(2_500));
        assert_eq!(headers["ratelimit"], "\"requests\";r=2;t=9");
        assert_eq!(headers["ratelimit-policy"], "\"requests\";q=3;w=10");
    }

    #[test]
    fn a_limiter_in_the_handler_lets_all_pass_the_paywall() {
        let mut limiter = Limiter::new(0, SECOND).place(Place::InHandler);
        assert!(take(&mut limiter, true, 0).is_none());
        assert!(limiter.take(Place::InHandler, true, at(0)).is_some());
    }
}
