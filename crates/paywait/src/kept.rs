//! Paid responses that are kept, and given out again.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use paywait_ledger::Kept;
use reqwest::{Body, Response, ResponseBuilderExt, Url};

/// A paid response that has come whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paid<'a> {
    pub(crate) status: http::StatusCode,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a Bytes,
}

impl Paid<'_> {
    /// Returns it as a ledger keeps it.
    pub(crate) fn keep(self) -> Arc<Kept> {
        let fields = self.headers.iter();
        let fields = fields.map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()));
        Arc::new(Kept::new(
            self.status.as_u16(),
            fields.collect(),
            self.body.to_vec(),
        ))
    }
}

/// Returns what was kept as the response that it was, from `url`; `None` if it is none.
pub(crate) fn response(kept: &Kept, url: &Url) -> Option<Response> {
    let fields = kept.fields.iter();
    let builder = http::Response::builder()
        .status(kept.status)
        .url(url.clone());
    let builder = fields.fold(builder, |builder, (name, value)| {
        builder.header(name.as_str(), value.as_slice())
    });
    let response = builder.body(Body::from(kept.body.clone())).ok()?;
    Some(Response::from(response))
}
