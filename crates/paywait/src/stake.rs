//! What a call holds that must be given back, however it ends: a slot, a permit, a lease.

#[cfg(feature = "pay")]
use paywait_ledger::{Ledger, Owner};
#[cfg(feature = "pace")]
use paywait_pacer::{Cost, PaceKey, Permit, QuotaStore, Slot};
#[cfg(feature = "pace")]
use paywait_signals::Timestamp;
#[cfg(feature = "pay")]
use paywait_x402::PurchaseKey;
#[cfg(any(feature = "pay", feature = "pace"))]
use std::sync::Arc;
#[cfg(feature = "pay")]
use {crate::Clock, std::future::Future, std::pin::pin, std::time::Duration};

/// What a call holds. Dropping it gives all of it back, without blocking.
#[derive(Debug, Default)]
pub(crate) struct Stake {
    #[cfg(feature = "pace")]
    pub(crate) pacing: Option<Pacing>,
    #[cfg(feature = "pay")]
    pub(crate) lease: Option<Lease>,
}

/// A slot that was booked, or the permit for one send.
#[cfg(feature = "pace")]
#[derive(Debug)]
pub(crate) struct Pacing {
    pub(crate) pacer: Arc<dyn QuotaStore>,
    pub(crate) slot: Option<Slot>,
    pub(crate) permit: Option<Permit>,
    /// The send of the permit is out: the server may count it whatever becomes of the call.
    pub(crate) is_out: bool,
}

#[cfg(feature = "pace")]
impl Pacing {
    pub(crate) const fn new(pacer: Arc<dyn QuotaStore>) -> Self {
        Self {
            pacer,
            slot: None,
            permit: None,
            is_out: false,
        }
    }

    /// Books a slot, or turns the one that was booked into a permit; returns when the send may go.
    pub(crate) async fn admit(&mut self, key: &PaceKey, now: Timestamp) -> Timestamp {
        let slot = match self.slot.take() {
            Some(slot) => slot,
            None => self.pacer.admit(key, Cost::default(), now).await,
        };
        if slot.at() > now {
            let at = slot.at();
            self.slot = Some(slot);
            return at;
        }
        match self.pacer.confirm(slot, now).await {
            Ok(permit) => {
                self.permit = Some(permit);
                now
            }
            Err(slot) => {
                let at = slot.at();
                self.slot = Some(slot);
                at
            }
        }
    }

    /// Gives back what was not used for a send.
    pub(crate) fn give_back(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.pacer.cancel(slot);
        }
        if let Some(permit) = self.permit.take() {
            self.pacer.release(permit);
        }
    }
}

#[cfg(feature = "pace")]
impl Drop for Pacing {
    fn drop(&mut self) {
        if let Some(permit) = self.permit.take_if(|_| self.is_out) {
            self.pacer.spend(permit);
        }
        self.give_back();
    }
}

/// A purchase that the ledger gave to this call.
#[cfg(feature = "pay")]
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) key: PurchaseKey,
    pub(crate) owner: Owner,
    /// From then on something may be signed, and the hold stays.
    pub(crate) signer_asked: bool,
}

#[cfg(feature = "pay")]
impl Lease {
    /// Runs `work`, and says from time to time that the purchase is still in hand.
    pub(crate) async fn kept_while<F: Future>(
        lease: Option<&Self>,
        work: F,
        clock: &dyn Clock,
    ) -> F::Output {
        let Some(lease) = lease else {
            return work.await;
        };
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                output = &mut work => return output,
                () = tokio::time::sleep(RENEWED_EVERY) => {}
            }
            // whether it was lost is seen by the next write; it changes nothing for what is out
            let renewal = lease.ledger.renew(lease.key, lease.owner, clock.least());
            tokio::select! {
                biased;
                output = &mut work => return output,
                _ = renewal => {}
            }
        }
    }
}

#[cfg(feature = "pay")]
impl Drop for Lease {
    fn drop(&mut self) {
        self.ledger.release(self.key, self.owner, self.signer_asked);
    }
}

/// A third of the time after which a ledger takes an owner that writes nothing for gone.
#[cfg(feature = "pay")]
const RENEWED_EVERY: Duration = Duration::from_secs(10);

#[cfg(all(test, feature = "pace"))]
mod tests {
    use std::time::Duration;

    use paywait_pacer::{MemoryStore, Seen};

    use super::*;

    /// Returns whether a second send may go at once after a call that was dropped.
    async fn goes_after_a_drop(is_out: bool) -> bool {
        let store: Arc<dyn QuotaStore> = Arc::new(MemoryStore::default());
        let key = PaceKey::origin("https", "seller.example", 443);
        let now = Timestamp::from_secs(0);
        let mut seen = Seen::default();
        (seen.remaining, seen.reset_in) = (Some(1), Some(Duration::from_secs(60)));
        store.observe(&key, None, seen, now).await;
        let mut pacing = Pacing::new(Arc::clone(&store));
        assert_eq!(pacing.admit(&key, now).await, now);
        pacing.is_out = is_out;
        drop(pacing);
        store.admit(&key, Cost::default(), now).await.at() == now
    }

    #[tokio::test]
    async fn a_permit_of_a_send_that_is_out_is_spent_and_any_other_given_back() {
        assert!(!goes_after_a_drop(true).await);
        assert!(goes_after_a_drop(false).await);
    }
}
