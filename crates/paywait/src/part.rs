//! What each layer lends to a running call.

use std::sync::Arc;

#[cfg(feature = "retry")]
use paywait_call::Patience;
#[cfg(feature = "pace")]
use paywait_pacer::QuotaStore;
#[cfg(feature = "pay")]
use {
    crate::Approve,
    paywait_ledger::{Durable, Ledger, LedgerError, OnDeath, StoreError},
    paywait_x402::{Balances, Derivation, Network, Policy, Usd, Wallet, death_margin},
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
    /// Who knows what the payer has.
    pub(crate) balances: Option<Arc<dyn Balances>>,
    /// How long that may take.
    pub(crate) balance_time: Duration,
    /// Who is asked for a yes.
    pub(crate) approver: Option<Arc<dyn Approve>>,
    /// What is paid without one.
    pub(crate) approve_above: Usd,
    /// How long that may take.
    pub(crate) approval_time: Duration,
    /// How long a signer may take.
    pub(crate) signing_time: Duration,
    /// How long the ledger may take for one write.
    pub(crate) writing_time: Duration,
    /// Whether a call without a name takes over what an equal one left open.
    pub(crate) takes_over: bool,
    /// Whether paid responses of named purchases are kept in the ledger.
    pub(crate) keeps_responses: bool,
    /// Whether the first payee of an origin and token is the only one from then on.
    pub(crate) pins_payees: bool,
    /// Whether a hold is let go when what was signed has died with neither receipt nor proof.
    pub(crate) releases_on_death: bool,
}

#[cfg(feature = "pay")]
impl Purse {
    /// Awaits the ledger's answer, as long as it may take. A write that is not confirmed in time may
    /// stand all the same; what it was for does not happen.
    pub(crate) async fn answer_of<T>(
        &self,
        asked: Durable<Result<T, LedgerError>>,
    ) -> Result<T, LedgerError> {
        let answer = tokio::time::timeout(self.writing_time, asked).await;
        answer.unwrap_or_else(|_| Err(StoreError::Late.into()))
    }

    /// What becomes of a hold on `network` when what was signed has died with neither receipt nor
    /// proof.
    pub(crate) const fn on_death(&self, network: Network) -> OnDeath {
        if self.releases_on_death {
            OnDeath::Release(death_margin(network))
        } else {
            OnDeath::Presume
        }
    }
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
