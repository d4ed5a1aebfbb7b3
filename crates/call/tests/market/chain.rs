//! A model of the chains: a nonce settles once per token and payer, before its time is over.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use serde_json::Value;

/// Where a nonce settles once: here one token on each chain, and one payer.
pub(crate) type Space = u64;

/// A signed authorization as whoever holds it can read it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Auth {
    pub(crate) space: Space,
    pub(crate) nonce: String,
    pub(crate) to: String,
    pub(crate) value: u64,
    /// In seconds since the Unix epoch, against the time of a block.
    pub(crate) valid_before: u64,
}

impl Auth {
    /// Reads the header that a payment is shown in.
    pub(crate) fn read(header: &HeaderValue) -> Self {
        let payload: Value =
            serde_json::from_slice(&STANDARD.decode(header.as_bytes()).unwrap()).unwrap();
        let text = |pointer: &str| payload.pointer(pointer).and_then(Value::as_str).unwrap();
        let network = text("/accepted/network");
        let chain = network.strip_prefix("eip155:").unwrap();
        Self {
            space: chain.parse().unwrap(),
            nonce: text("/payload/authorization/nonce").to_owned(),
            to: text("/payload/authorization/to").to_owned(),
            value: text("/payload/authorization/value").parse().unwrap(),
            valid_before: text("/payload/authorization/validBefore").parse().unwrap(),
        }
    }
}

/// The chains, and what waits for their next blocks.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    settled: BTreeMap<(Space, String), Auth>,
    /// When the block comes that each would be in, in milliseconds.
    mempool: Vec<(u64, Auth)>,
}

impl Chain {
    /// Submits an authorization, for the block at `at`.
    pub(crate) fn submit(&mut self, auth: Auth, at: u64) {
        self.mempool.push((at, auth));
    }

    /// Mines what is due. Returns what settled.
    pub(crate) fn mine(&mut self, now: u64) -> Vec<Auth> {
        let mut due: Vec<_> = self.mempool.extract_if(.., |(at, _)| *at <= now).collect();
        due.sort();
        due.into_iter()
            .filter_map(|(at, auth)| self.settle(auth, at))
            .collect()
    }

    fn settle(&mut self, auth: Auth, block: u64) -> Option<Auth> {
        let place = (auth.space, auth.nonce.clone());
        if block / 1_000 >= auth.valid_before || self.settled.contains_key(&place) {
            return None;
        }
        self.settled.insert(place, auth.clone());
        Some(auth)
    }

    pub(crate) fn is_used(&self, space: Space, nonce: &str) -> bool {
        self.settled.contains_key(&(space, nonce.to_owned()))
    }

    /// Whether anything waits for a block.
    pub(crate) const fn is_idle(&self) -> bool {
        self.mempool.is_empty()
    }
}
