//! Replies stored under their payment identifier, each bound to one payload.

use std::collections::BTreeMap;

use alloy_primitives::B256;
use bytes::Bytes;
use http::Response;

/// Replies stored under their payment identifier.
#[derive(Clone, Debug, Default)]
pub(crate) struct Replies(BTreeMap<String, (B256, Response<Bytes>)>);

/// What stands under an identifier.
#[derive(Debug)]
pub(crate) enum Found {
    Nothing,
    /// The reply to this payload.
    Reply(Response<Bytes>),
    /// A reply to another payload.
    OtherPayload,
}

impl Replies {
    pub(crate) fn find(&self, id: &str, fingerprint: B256) -> Found {
        match self.0.get(id) {
            None => Found::Nothing,
            Some((bound_to, reply)) if *bound_to == fingerprint => Found::Reply(reply.clone()),
            Some(_) => Found::OtherPayload,
        }
    }

    pub(crate) fn store(&mut self, id: &str, fingerprint: B256, reply: Response<Bytes>) {
        self.0.entry(id.to_owned()).or_insert((fingerprint, reply));
    }
}

/// Returns whether `id` is spelled as the extension wants it: 16 to 128 of `[a-zA-Z0-9_-]`.
pub(crate) fn is_identifier(id: &str) -> bool {
    (16..=128).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
