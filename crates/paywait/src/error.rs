//! How a call ends that has no response to hand back.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use paywait_call::{End, Report};

/// How a call ended that has no response to hand back.
///
/// It travels inside [`reqwest_middleware::Error::Middleware`], which a retry loop outside takes
/// as final; [`Error::find`] gets it back through whatever was wrapped around it. Its
/// [`source`](StdError::source) is the transport's error, without the query of its URL; where that
/// cannot be taken away there is no source.
///
/// # Money
///
/// [`report`](Self::report) says what was signed and what is known of it. With
/// [`End::OutcomeUnknown`] money may have moved, with [`End::PaidNotDelivered`] it has. A payment that
/// was refused can be cashed until it expires, however the call ended; its price stays held.
pub struct Error {
    report: Arc<Report>,
    cause: Option<reqwest_middleware::Error>,
}

impl Error {
    /// Keeps `cause`, but for what may hold a key in its URL.
    pub(crate) fn new(report: Arc<Report>, mut cause: Option<reqwest_middleware::Error>) -> Self {
        if let Some(url) = cause.as_mut().and_then(reqwest_middleware::Error::url_mut) {
            url.set_query(None);
            url.set_fragment(None);
            // a URL that takes no user has none
            url.set_username("").ok();
            url.set_password(None).ok();
        }
        Self { report, cause }
    }

    /// Returns how the call ended.
    pub fn end(&self) -> &End {
        &self.report.end
    }

    /// Returns what happened in the call.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Returns the reqwest error at the bottom, if the transport failed. Inside another layer's error
    /// it has its URL whole, secrets and all.
    pub fn transport(&self) -> Option<&reqwest::Error> {
        let cause = self.cause.as_ref()?;
        in_chain::<reqwest::Error>(cause)
    }

    /// Finds this error in `error` or in anything that it wraps.
    pub fn find<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a Self> {
        in_chain::<Self>(error)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("end", &self.report.end)
            .field("sends", &self.report.sends.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.report.end)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        // what another layer wrapped cannot be cleaned, and a chain of sources is printed as it is
        let clean = |cause: &&reqwest_middleware::Error| {
            let url = in_chain::<reqwest::Error>(*cause).and_then(reqwest::Error::url);
            !url.is_some_and(may_hold_a_key)
        };
        let cause = self.cause.as_ref().filter(clean)?;
        Some(cause)
    }
}

impl From<Error> for reqwest_middleware::Error {
    fn from(error: Error) -> Self {
        Self::Middleware(anyhow::Error::new(Carrier(error)))
    }
}

/// What an [`Error`] travels in.
///
/// A wrapper that is transparent leaves the error right inside it out of the chain of sources, as
/// `reqwest_middleware::Error` does and what `reqwest-retry` wraps around it. However many of them
/// there are, it is this one that is left out.
#[derive(Debug)]
struct Carrier(Error);

impl fmt::Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for Carrier {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.0)
    }
}

fn may_hold_a_key(url: &reqwest::Url) -> bool {
    let user = !url.username().is_empty() || url.password().is_some();
    user || url.query().is_some() || url.fragment().is_some()
}

/// Finds a `T` in `error` or in what it wraps.
///
/// `reqwest_middleware::Error` is transparent: its own `source` skips what it holds, so it is
/// opened by hand.
pub(crate) fn in_chain<'a, T: StdError + 'static>(
    error: &'a (dyn StdError + 'static),
) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        next = match error.downcast_ref::<reqwest_middleware::Error>() {
            Some(reqwest_middleware::Error::Middleware(inner)) => Some(inner.as_ref()),
            Some(reqwest_middleware::Error::Reqwest(inner)) => Some(inner),
            None => error.source(),
        };
    }
    None
}
