//! The shop's own book: every request, every authorization shown, every settlement.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use alloy_primitives::{Address, B256, U256};
use paywait_signals::Timestamp;

use crate::Token;
use crate::authorization::Authorization;
use crate::chain::{Chain, Occasion, Settlement, is_alive};
use crate::record::{RequestRecord, SeenAuthorization};

/// The shop's own book, with the semantics of EIP-3009: a nonce settles once per chain, token and
/// payer.
///
/// This is what a test asserts on. It prints as a table.
#[derive(Clone, Debug)]
pub struct Ledger {
    requests: Vec<RequestRecord>,
    authorizations: Vec<SeenAuthorization>,
    seen: BTreeMap<B256, usize>,
    pub(crate) chain: Chain,
    capacity: usize,
    turned_away: usize,
}

impl Ledger {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            requests: Vec::new(),
            authorizations: Vec::new(),
            seen: BTreeMap::new(),
            chain: Chain::default(),
            capacity,
            turned_away: 0,
        }
    }

    /// Returns every physical request, in order of arrival.
    pub fn requests(&self) -> &[RequestRecord] {
        &self.requests
    }

    /// Returns the requests that carried a payment.
    pub fn paid_requests(&self) -> impl Iterator<Item = &RequestRecord> {
        self.requests.iter().filter(|request| request.paid)
    }

    /// Returns the requests that carried none.
    pub fn unpaid_requests(&self) -> impl Iterator<Item = &RequestRecord> {
        self.requests.iter().filter(|request| !request.paid)
    }

    /// Returns every settlement: what was broadcast and cannot be called back, mined or not.
    pub fn settlements(&self) -> &[Settlement] {
        self.chain.settlements()
    }

    /// Returns the settlements that came with a payment identifier.
    pub fn settlements_for_id(&self, payment_id: &str) -> impl Iterator<Item = &Settlement> {
        self.settlements()
            .iter()
            .filter(move |settlement| settlement.payment_id.as_deref() == Some(payment_id))
    }

    /// Returns the settlements of one nonce. For one token and payer there is at most one.
    pub fn settlements_for_nonce(&self, nonce: B256) -> impl Iterator<Item = &Settlement> {
        self.settlements()
            .iter()
            .filter(move |settlement| settlement.nonce == nonce)
    }

    /// Returns every distinct authorization that a buyer has shown, whatever was answered.
    pub fn authorizations(&self) -> &[SeenAuthorization] {
        &self.authorizations
    }

    /// Counts the distinct nonces for which the shop holds a valid signature: each of them is one
    /// payment that it could take, or has taken.
    pub fn authorizations_seen(&self) -> usize {
        let signed = self.authorizations.iter().filter(|seen| seen.signed);
        signed
            .map(|seen| seen.authorization.slot())
            .collect::<BTreeSet<_>>()
            .len()
    }

    /// Returns the signatures that the shop could still settle at `now`. Several of one nonce are
    /// listed each, though only one of them can settle.
    pub fn cashable(&self, now: Timestamp) -> impl Iterator<Item = &SeenAuthorization> {
        self.authorizations.iter().filter(move |seen| {
            seen.signed
                && is_alive(&seen.authorization, now)
                && !self.chain.is_used(&seen.authorization.slot())
        })
    }

    /// Returns what has moved, in atomic units, summed over all tokens.
    pub fn total_moved(&self) -> U256 {
        sum(self.settlements().iter())
    }

    /// Returns what has moved of one token, in atomic units.
    pub fn total_moved_of(&self, token: &Token) -> U256 {
        sum(self
            .settlements()
            .iter()
            .filter(|settlement| settlement.token == *token))
    }

    /// Returns what a payer has left; `None` if the shop was not told and takes it to be enough.
    pub fn balance(&self, token: &Token, payer: Address) -> Option<U256> {
        self.chain.balance(token, payer)
    }

    /// Counts the requests that came when the book was full: they were answered 503 and are not
    /// in it.
    pub const fn turned_away(&self) -> usize {
        self.turned_away
    }

    /// Returns the ordinal of the next request, or counts one that finds the book full.
    pub(crate) fn admit(&mut self) -> Option<usize> {
        if self.requests.len() < self.capacity {
            return Some(self.requests.len().saturating_add(1));
        }
        self.turned_away = self.turned_away.saturating_add(1);
        None
    }

    pub(crate) fn record(&mut self, request: RequestRecord) {
        self.requests.push(request);
    }

    /// Notes that `authorization` was shown, and returns whether its signature is good.
    pub(crate) fn see(&mut self, authorization: &Authorization, ordinal: usize) -> bool {
        let next = self.authorizations.len();
        let place = *self.seen.entry(authorization.key()).or_insert(next);
        if place == next {
            self.authorizations
                .push(SeenAuthorization::new(authorization, ordinal));
        }
        let Some(seen) = self.authorizations.get_mut(place) else {
            return false;
        };
        seen.shown = seen.shown.saturating_add(1);
        seen.signed
    }

    /// Settles at `now` all that can be settled; what the chain refuses stays as it is.
    pub(crate) fn cash_in(&mut self, now: Timestamp) -> &[Settlement] {
        let before = self.settlements().len();
        let cashable: Vec<_> = self
            .cashable(now)
            .map(|seen| seen.authorization.clone())
            .collect();
        for authorization in &cashable {
            let in_time = authorization.valid_after < U256::from(now.as_secs());
            if in_time && !self.chain.is_used(&authorization.slot()) {
                // a payer without the money is the only refusal left, and it is no settlement
                self.chain
                    .broadcast(authorization, Occasion::default(), now, now)
                    .ok();
            }
        }
        self.settlements().get(before..).unwrap_or_default()
    }
}

impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "requests: {}", self.requests.len())?;
        for request in &self.requests {
            writeln!(f, "{request}")?;
        }
        writeln!(f, "settlements: {}", self.settlements().len())?;
        for made in self.settlements() {
            let Settlement {
                token,
                payer,
                amount,
                nonce,
                at,
                ..
            } = made;
            match made.request {
                Some(request) => write!(f, "{request:>4}  ")?,
                None => f.write_str("   -  ")?,
            }
            writeln!(f, "{at}  {amount} of {token} from {payer}, nonce {nonce}")?;
        }
        write!(f, "nonces signed: {}", self.authorizations_seen())?;
        match self.turned_away {
            0 => Ok(()),
            turned_away => write!(f, "\nnot recorded, the book was full: {turned_away}"),
        }
    }
}

fn sum<'a>(settlements: impl Iterator<Item = &'a Settlement>) -> U256 {
    settlements.fold(U256::ZERO, |sum, settlement| {
        sum.saturating_add(settlement.amount)
    })
}
