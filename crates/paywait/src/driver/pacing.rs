//! What the driver does with a pacer.

use std::sync::Arc;

use paywait_pacer::{Cost, QuotaStore, Seen};
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

    /// Asks for a slot, or at the time of one that was booked for its permit.
    pub(super) async fn admit(&mut self) {
        let now = self.now();
        let Some(pacing) = &mut self.stake.pacing else {
            self.call.handle_admitted(now, now);
            return;
        };
        let at = pacing.admit(self.running.pace_key(), now).await;
        self.call.handle_admitted(at, now);
    }
}
