//! One request on its road through a route: limits, offer, payment, handler, settlement.

use std::borrow::Cow;

use alloy_primitives::B256;
use bytes::Bytes;
use http::{Response, StatusCode};
use paywait_signals::Timestamp;

use crate::authorization::Authorization;
use crate::chain::Occasion;
use crate::facilitator::Refusal;
use crate::ledger::Ledger;
use crate::limiter::Place;
use crate::payment::{Payment, Shown};
use crate::record::RequestRecord;
use crate::replies::{Found, Replies, is_identifier};
use crate::route::Identifier;
use crate::step::{Act, PaidAct};
use crate::{Answer, Facilitator, Flow, Route, Terms, wire};

mod acted;

/// One request on its road through a route.
pub(crate) struct Sale<'a> {
    pub(crate) route: &'a mut Route,
    pub(crate) ledger: &'a mut Ledger,
    pub(crate) replies: &'a mut Replies,
    pub(crate) facilitator: Facilitator,
    pub(crate) record: &'a mut RequestRecord,
    pub(crate) shown: &'a Shown,
    /// Whether the signature of the payment is its payer's.
    pub(crate) signed: bool,
    pub(crate) resource: &'a str,
    pub(crate) now: Timestamp,
}

/// Why a payment is refused before it is settled: what the offer says as its `error`.
type Reason = Cow<'static, str>;

impl Sale<'_> {
    pub(crate) fn answer(mut self) -> Answer {
        let paid = self.shown.payment().is_some();
        let step = self.route.next_step(paid);
        let mut response = match step.act {
            Act::Unseen(reply) => reply.response(),
            Act::Normal => self.walk(None),
            Act::Paid(act) => self.walk(Some(&act)),
        };
        self.store(&response);
        self.route
            .tell_limits(response.headers_mut(), paid, self.now);
        Answer {
            response,
            fault: step.fault,
        }
    }

    fn walk(&mut self, act: Option<&PaidAct>) -> Response<Bytes> {
        let payment = self.shown.payment();
        if let Some(refusal) =
            self.route
                .throttle(Place::BeforePaywall, payment.is_some(), self.now)
        {
            return refusal;
        }
        if self.route.is_free() {
            return self.handle();
        }
        let Some(payment) = payment else {
            return self.ask();
        };
        if let Some(reply) = self.known(payment) {
            return reply;
        }
        self.sell(payment, act)
            .unwrap_or_else(|reason| self.offer(&reason))
    }

    fn sell(
        &mut self,
        payment: &Payment,
        act: Option<&PaidAct>,
    ) -> Result<Response<Bytes>, Reason> {
        let terms = self.route.accepted_terms(&payment.accepted);
        let unmatched = if payment.is_v1() {
            "Unable to find matching payment requirements"
        } else {
            "No matching payment requirements"
        };
        let terms = terms.ok_or(unmatched)?.clone();
        if !self.route.is_extension_echo(&payment.extensions) {
            return Err("extension_echo_mismatch".into());
        }
        let authorization = payment.authorization.as_ref().ok_or("invalid_payload")?;
        let upfront = terms.payment_flow() == Flow::Upfront;
        if !upfront {
            let payment = (authorization, self.signed);
            Facilitator::verify(&self.ledger.chain, payment, &terms, self.now)?;
        }
        match (act, upfront) {
            (Some(act), _) => self.act_out(act, authorization, &terms),
            (None, true) => Ok(self.settle_then_serve(authorization, &terms)),
            (None, false) => Ok(self.serve_then_settle(authorization, &terms)),
        }
    }

    fn serve_then_settle(
        &mut self,
        authorization: &Authorization,
        terms: &Terms,
    ) -> Response<Bytes> {
        let reply = self.handle();
        if reply.status().as_u16() >= 400 {
            return reply;
        }
        match self.settle(authorization, terms) {
            Ok(transaction) => wire::receipted(reply, authorization, terms, transaction),
            Err(refusal) => self.not_settled(authorization, terms, &refusal),
        }
    }

    fn settle_then_serve(
        &mut self,
        authorization: &Authorization,
        terms: &Terms,
    ) -> Response<Bytes> {
        match self.settle(authorization, terms) {
            Ok(transaction) => wire::receipted(self.handle(), authorization, terms, transaction),
            Err(refusal) => self.not_settled(authorization, terms, &refusal),
        }
    }

    fn not_settled(
        &self,
        authorization: &Authorization,
        terms: &Terms,
        refusal: &Refusal,
    ) -> Response<Bytes> {
        self.failed(authorization, terms, refusal.reason, refusal.transaction)
    }

    /// Says no after a try to settle: by a receipt, or in version 1 by a fresh offer, which keeps
    /// the transaction to itself.
    fn failed(
        &self,
        authorization: &Authorization,
        terms: &Terms,
        reason: &str,
        transaction: Option<B256>,
    ) -> Response<Bytes> {
        if terms.is_v1() {
            self.offer(reason)
        } else {
            wire::failed(authorization, reason, transaction)
        }
    }

    fn settle(&mut self, authorization: &Authorization, terms: &Terms) -> Result<B256, Refusal> {
        let before = self.ledger.settlements().len();
        let settled = self.facilitator.settle(
            &mut self.ledger.chain,
            (authorization, self.signed),
            terms,
            occasion(self.record),
            self.now,
        );
        self.record.moved = self.ledger.settlements().len() > before;
        settled
    }

    /// Runs the handler, with its limiter.
    fn handle(&mut self) -> Response<Bytes> {
        self.record.handler_ran = true;
        let paid = self.record.paid;
        self.route
            .throttle(Place::InHandler, paid, self.now)
            .unwrap_or_else(|| self.route.handle())
    }

    /// Answers by the payment identifier alone, where that is the answer. Version 1 has none.
    fn known(&mut self, payment: &Payment) -> Option<Response<Bytes>> {
        if payment.is_v1() {
            return None;
        }
        let rule = self.route.payment_identifier();
        let id = match (rule, payment.identifier()) {
            (Identifier::Ignored, _) | (Identifier::Optional, None) => return None,
            (Identifier::Required, None) => {
                return Some(wire::error(
                    StatusCode::BAD_REQUEST,
                    "payment identifier required",
                ));
            }
            (Identifier::Optional | Identifier::Required, Some(id)) => id,
        };
        if !is_identifier(id) {
            return Some(wire::error(
                StatusCode::BAD_REQUEST,
                "payment identifier malformed",
            ));
        }
        match self.replies.find(id, payment.fingerprint) {
            Found::Nothing => None,
            Found::Reply(reply) => {
                self.record.replayed = true;
                Some(reply)
            }
            Found::OtherPayload => {
                let error = "payment identifier already used with another payload";
                Some(wire::error(StatusCode::CONFLICT, error))
            }
        }
    }

    /// Stores the reply under the payment identifier: what was paid for and served, or, as a sin,
    /// any refusal of the seller's own.
    fn store(&mut self, reply: &Response<Bytes>) {
        let Some(payment) = self.shown.payment() else {
            return;
        };
        let Some(id) = payment.identifier().filter(|id| is_identifier(id)) else {
            return;
        };
        let status = reply.status();
        let served = status.is_success() && self.is_settled(payment);
        let kept_refusal = self.route.stores_errors()
            && matches!(status.as_u16(), 400..)
            && !matches!(status, StatusCode::PAYMENT_REQUIRED | StatusCode::CONFLICT);
        let ignored = self.route.payment_identifier() == Identifier::Ignored;
        if !ignored && (served || kept_refusal) {
            self.replies.store(id, payment.fingerprint, reply.clone());
        }
    }

    fn is_settled(&self, payment: &Payment) -> bool {
        let authorization = payment.authorization.as_ref();
        authorization.is_some_and(|shown| self.ledger.chain.settlement_of(shown).is_some())
    }

    /// Asks for the price, where nothing was shown that could be one.
    fn ask(&self) -> Response<Bytes> {
        if let Shown::OtherVersion(version) = self.shown {
            return self.offer(&format!("Unsupported x402 version: {version}"));
        }
        wire::offer(
            self.route.offer("Payment required", self.resource).as_ref(),
            self.route
                .offer_v1("X-PAYMENT header is required", self.resource)
                .as_ref(),
        )
    }

    fn offer(&self, error: &str) -> Response<Bytes> {
        wire::offer(
            self.route.offer(error, self.resource).as_ref(),
            self.route.offer_v1(error, self.resource).as_ref(),
        )
    }
}

fn occasion(record: &RequestRecord) -> Occasion {
    Occasion {
        request: Some(record.ordinal),
        payment_id: record.payment_id.clone(),
    }
}
