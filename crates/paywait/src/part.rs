//! What each layer lends to a running call.

use std::sync::Arc;

#[cfg(feature = "retry")]
use paywait_call::Patience;
#[cfg(feature = "pace")]
use paywait_pacer::QuotaStore;
#[cfg(feature = "pay")]
use {
    paywait_ledger::Ledger,
    paywait_x402::{Derivation, Policy, Wallet},
    std::time::Duration,
};

/// What one layer lends to a running call.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    #[cfg(feature = "retry")]
    Retry(Arc<Patience>),
    #[cfg(feature = "pay")]
    Pay(Arc<Purse>),
    #[cfg(feature = "pace")]
    Pace(Arc<dyn QuotaStore>),
}

/// Everything that paying takes.
#[cfg(feature = "pay")]
#[derive(Clone, Debug)]
pub(crate) struct Purse {
    pub(crate) wallet: Wallet,
    pub(crate) policy: Arc<Policy>,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) derivation: Derivation,
    /// How long a signer may take.
    pub(crate) signing_time: Duration,
}

/// The parts that a running call has been lent so far. Of two of a kind the first counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    #[cfg(feature = "retry")]
    pub(crate) retry: Option<Arc<Patience>>,
    #[cfg(feature = "pay")]
    pub(crate) purse: Option<Arc<Purse>>,
    #[cfg(feature = "pace")]
    pub(crate) pacer: Option<Arc<dyn QuotaStore>>,
}

impl Parts {
    /// Adds a part, and says whether it is the first of its kind.
    pub(crate) fn lend(&mut self, part: &Part) -> bool {
        match part {
            #[cfg(feature = "retry")]
            Part::Retry(patience) => first(&mut self.retry, patience),
            #[cfg(feature = "pay")]
            Part::Pay(purse) => first(&mut self.purse, purse),
            #[cfg(feature = "pace")]
            Part::Pace(pacer) => first(&mut self.pacer, pacer),
        }
    }
}

fn first<T: ?Sized>(place: &mut Option<Arc<T>>, part: &Arc<T>) -> bool {
    let is_first = place.is_none();
    if is_first {
        *place = Some(Arc::clone(part));
    }
    is_first
}
