//! What a script does with a payment in place of serving it.

use std::borrow::Cow;
use std::time::Duration;

use alloy_primitives::B256;
use bytes::Bytes;
use http::Response;

use super::{Reason, Sale, occasion};
use crate::authorization::Authorization;
use crate::chain::transaction;
use crate::facilitator::Refusal;
use crate::step::PaidAct;
use crate::{Canned, Facilitator, Flow, Terms, wire};

impl Sale<'_> {
    /// Does what the script says with a payment, in place of serving it.
    pub(super) fn act_out(
        &mut self,
        act: &PaidAct,
        authorization: &Authorization,
        terms: &Terms,
    ) -> Result<Response<Bytes>, Reason> {
        let late = terms.payment_flow() == Flow::Authorization;
        match act {
            PaidAct::Verified(reply) => Ok(self.say(reply)),
            PaidAct::Refused { reason, moved } => {
                if *moved {
                    // the offer comes back whatever became of the money
                    self.settle(authorization, terms).ok();
                }
                Err(Cow::Owned(reason.clone()))
            }
            PaidAct::Failed { reason, moved } => {
                self.record.handler_ran = late;
                if *moved {
                    // the receipt says no whatever became of the money
                    self.settle(authorization, terms).ok();
                }
                Ok(self.failed(authorization, terms, reason, None))
            }
            PaidAct::Pending { mined_after } => {
                self.record.handler_ran = late;
                let pending = self.broadcast(authorization, terms, *mined_after);
                let refusal = pending.map_or_else(|refusal| refusal, Refusal::pending);
                Ok(self.not_settled(authorization, terms, &refusal))
            }
            PaidAct::Settled { reply, receipt } => match self.settle(authorization, terms) {
                Ok(transaction) if *receipt => Ok(wire::receipted(
                    self.say(reply),
                    authorization,
                    terms,
                    transaction,
                )),
                Ok(_) => Ok(self.say(reply)),
                Err(refusal) => Ok(self.not_settled(authorization, terms, &refusal)),
            },
        }
    }

    /// Broadcasts without waiting; `None` loses the transaction on its way.
    fn broadcast(
        &mut self,
        authorization: &Authorization,
        terms: &Terms,
        mined_after: Option<Duration>,
    ) -> Result<B256, Refusal> {
        if let Some(made) = self.ledger.chain.settlement_of(authorization) {
            return Ok(made.transaction);
        }
        let Some(mined_after) = mined_after else {
            return Ok(transaction(authorization));
        };
        let broadcast = Facilitator::broadcast(
            &mut self.ledger.chain,
            (authorization, self.signed),
            terms,
            occasion(self.record),
            self.now,
            self.now.saturating_add(mined_after),
        );
        self.record.moved = broadcast.is_ok();
        broadcast
    }

    /// Lets the script speak in the handler's place.
    fn say(&mut self, reply: &Canned) -> Response<Bytes> {
        self.record.handler_ran = true;
        reply.response()
    }
}
