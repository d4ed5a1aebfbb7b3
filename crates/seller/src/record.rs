//! What the shop writes down: one record a request, and one an authorization.

use std::fmt;

use alloy_primitives::{Address, B256, U256};
use http::{Method, StatusCode};
use paywait_signals::Timestamp;

use crate::authorization::Authorization;
use crate::{Fault, Token};

/// One physical request, as it arrived and as it was answered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RequestRecord {
    /// Its number, counted from 1.
    pub ordinal: usize,
    /// When it arrived.
    pub at: Timestamp,
    /// The method.
    pub method: Method,
    /// The path, without the query.
    pub path: String,
    /// Whether it carried a payment that can be read.
    pub paid: bool,
    /// Who signed the payment, as the payment says.
    pub payer: Option<Address>,
    /// The nonce of the payment.
    pub nonce: Option<B256>,
    /// The payment identifier, sent with the payment.
    pub payment_id: Option<String>,
    /// Whether the handler ran for it.
    pub handler_ran: bool,
    /// Whether money moved for it, in this request and no other.
    pub moved: bool,
    /// Whether a stored reply was replayed.
    pub replayed: bool,
    /// The status that reached the buyer; `None` where a fault let none leave.
    pub status: Option<StatusCode>,
    /// How the wire was told to spoil the answer.
    pub fault: Option<Fault>,
}

impl RequestRecord {
    pub(crate) const fn new(ordinal: usize, at: Timestamp, method: Method, path: String) -> Self {
        Self {
            ordinal,
            at,
            method,
            path,
            paid: false,
            payer: None,
            nonce: None,
            payment_id: None,
            handler_ran: false,
            moved: false,
            replayed: false,
            status: None,
            fault: None,
        }
    }
}

impl fmt::Display for RequestRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:>4}  {}  {} {}  ",
            self.ordinal, self.at, self.method, self.path
        )?;
        match (self.paid, self.nonce) {
            (true, Some(nonce)) => write!(f, "nonce {nonce}")?,
            (true, None) => f.write_str("unreadable authorization")?,
            (false, _) => f.write_str("unpaid")?,
        }
        if let Some(id) = &self.payment_id {
            write!(f, "  id {}", id.escape_debug())?;
        }
        match self.status {
            Some(status) => write!(f, "  -> {}", status.as_u16())?,
            None => f.write_str("  -> no answer")?,
        }
        for (said, word) in [
            (self.handler_ran, "ran"),
            (self.moved, "moved"),
            (self.replayed, "replayed"),
        ] {
            if said {
                write!(f, ", {word}")?;
            }
        }
        match self.fault {
            Some(fault) => write!(f, ", {fault:?}"),
            None => Ok(()),
        }
    }
}

/// One signed authorization that a buyer has shown, settled or not.
///
/// It is a liability of its payer until it is settled or its window is over, whatever the shop
/// answered.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct SeenAuthorization {
    /// The token, as the payment names it.
    pub token: Token,
    /// Who signed it, as the payment says.
    pub payer: Address,
    /// Who may be paid.
    pub pay_to: Address,
    /// How much, in atomic units.
    pub amount: U256,
    /// Its nonce.
    pub nonce: B256,
    /// From when it is valid, in seconds since the Unix epoch.
    pub valid_after: U256,
    /// Until when it is valid, in seconds since the Unix epoch.
    pub valid_before: U256,
    /// Whether the signature is the payer's. If not, it is worth nothing.
    pub signed: bool,
    /// The ordinal of the first request that showed it.
    pub first_request: usize,
    /// How many requests showed it.
    pub shown: usize,
    pub(crate) authorization: Authorization,
}

impl SeenAuthorization {
    pub(crate) fn new(authorization: &Authorization, first_request: usize) -> Self {
        Self {
            token: authorization.token.clone(),
            payer: authorization.from,
            pay_to: authorization.to,
            amount: authorization.value,
            nonce: authorization.nonce,
            valid_after: authorization.valid_after,
            valid_before: authorization.valid_before,
            signed: authorization.is_signed(),
            first_request,
            shown: 0,
            authorization: authorization.clone(),
        }
    }
}

impl fmt::Debug for SeenAuthorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeenAuthorization")
            .field("payer", &self.payer)
            .field("pay_to", &self.pay_to)
            .field("amount", &self.amount)
            .field("nonce", &self.nonce)
            .field("valid_before", &self.valid_before)
            .field("signed", &self.signed)
            .field("shown", &self.shown)
            .finish_non_exhaustive()
    }
}
