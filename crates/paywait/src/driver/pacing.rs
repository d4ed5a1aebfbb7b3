//! What the driver does with a pacer.

use std::sync::Arc;

use paywait_pacer::{QuotaStore, Seen};
use paywait_signals::Timestamp;

use super::Driver;
use crate::stake::Pacing;

impl Driver<'_> {
    pub(super) fn lend_pacer(&mut self, pacer: &Arc<dyn QuotaStore>) {
        if self.stake.pacing.is_none() {
            self.stake.pacing = Some(Pacing::new(Arc::clone(pacer)));
            self.call.lend_pacer();
        }
    }

    /// Asks for a slot, or for the permit of one that was booked.
    pub(super) async fn admit(&mut self, now: Timestamp) {
        let at = match &mut self.stake.pacing {
            Some(pacing) => pacing.admit(self.running.pace_key(), now).await,
            None => now,
        };
        self.call.handle_admitted(at, now);
    }

    /// The send is out from here on, or is over: a call that is dropped in between has spent its
    /// permit.
    pub(super) const fn is_out(&mut self, is_out: bool) {
        if let Some(pacing) = &mut self.stake.pacing {
            pacing.is_out = is_out;
        }
    }

    /// The send took place: its permit is spent, and the pacer learns what the answer told.
    pub(super) async fn observe(&mut self, now: Timestamp) {
        if let Some(pacing) = &mut self.stake.pacing {
            let permit = pacing.permit.take();
            let seen = Seen::tightest(self.call.windows());
            pacing
                .pacer
                .observe(self.running.pace_key(), permit, seen, now)
                .await;
        }
    }

    /// The send took place and told nothing.
    pub(super) fn spend_permit(&mut self) {
        if let Some(pacing) = &mut self.stake.pacing
            && let Some(permit) = pacing.permit.take()
        {
            pacing.pacer.spend(permit);
        }
    }

    /// The send did not take place.
    pub(super) fn give_back_permit(&mut self) {
        if let Some(pacing) = &mut self.stake.pacing {
            pacing.give_back();
        }
    }
}
