//! What the driver asks outside before an offer is accepted. Nothing is held meanwhile.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::task::Poll;
use std::time::Duration;

use paywait_call::NotApproved;
use paywait_signals::Timestamp;
use paywait_x402::alloy_primitives::Address;
use paywait_x402::{Amount, Asset, Balance, Balances, Quote};

use super::Driver;
use crate::stake::Lease;
use crate::{Proposal, name, scope};

impl Driver<'_> {
    /// Asks what the payer has of these tokens, all at once. What is not answered in time is not
    /// known.
    pub(super) async fn balances(&mut self, tokens: Vec<Asset>) {
        let mut known = BTreeMap::new();
        let purse = self.purse.as_ref();
        if let Some((purse, source)) =
            purse.and_then(|purse| Some((purse, purse.balances.as_ref()?)))
        {
            let asked = gather(&**source, purse.wallet.payer(), tokens, &mut known);
            self.outside(purse.balance_time, asked).await;
        }
        self.call.handle_balances(known);
    }

    /// Asks whoever approves. Only a yes is one.
    pub(super) async fn approve(&mut self, quote: Quote) {
        let mut answer = Err(NotApproved::Failed);
        let purse = self.purse.as_ref();
        if let Some((purse, approver)) =
            purse.and_then(|purse| Some((purse, purse.approver.as_ref()?)))
        {
            let request = self.running.template.get();
            let proposal = Proposal {
                quote,
                payer: purse.wallet.payer(),
                origin: request.url().origin().ascii_serialization(),
                purchase: name::words(self.extensions.peek()),
            };
            let asked = approver.approve(&proposal);
            answer = match self.outside(purse.approval_time, asked).await {
                Some(Ok(true)) => Ok(()),
                Some(Ok(false)) => Err(NotApproved::Denied),
                Some(Err(_)) => Err(NotApproved::Failed),
                None => Err(NotApproved::Late),
            };
        }
        self.call.handle_approved(answer);
    }

    /// Runs what is not ours out of the caller's scope, for as long as it may take and the call
    /// itself has; what the call has in hand is kept.
    async fn outside<T>(&self, longest: Duration, asked: impl Future<Output = T>) -> Option<T> {
        let clock = &*self.running.clock;
        let not_after = self.call.not_after();
        let too_late = async {
            match not_after {
                Timestamp::MAX => std::future::pending().await,
                at => clock.sleep_until(at).await,
            }
        };
        // apart, so that a call that asks nothing does not carry room for it
        let asked = Box::pin(scope::outside(asked));
        let answer = async {
            tokio::select! {
                biased;
                answer = asked => Some(answer),
                // in the time of those who are asked, whatever clock the call goes by
                () = tokio::time::sleep(longest) => None,
                () = too_late => None,
            }
        };
        Lease::kept_while(self.stake.lease.as_ref(), answer, clock).await
    }
}

/// Asks for all balances at a time, and puts those that are known into `known` as they come.
async fn gather(
    source: &dyn Balances,
    payer: Address,
    tokens: Vec<Asset>,
    known: &mut BTreeMap<Asset, Amount>,
) {
    let asked = tokens.into_iter();
    let mut asked: Vec<(Asset, Balance<'_>)> = asked
        .map(|asset| (asset, source.balance(payer, asset)))
        .collect();
    poll_fn(|context| {
        asked.retain_mut(|(asset, balance)| {
            let Poll::Ready(told) = balance.as_mut().poll(context) else {
                return true;
            };
            if let Ok(Some(amount)) = told {
                known.insert(*asset, amount);
            }
            false
        });
        match asked.is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
}
