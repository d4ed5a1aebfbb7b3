//! Ends what a seller left open by what the chain proves of it.

use paywait_signals::Timestamp;
use paywait_x402::{ChainError, ChainReader, NonceOf, Proof, PurchaseKey, prove};

use crate::{Ledger, LedgerError, Resolution};

/// What came of asking the chain about one open purchase.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Reconciled {
    /// The purchase.
    pub key: PurchaseKey,
    /// What the chain proves of it. [`Proof::Open`] leaves it as it was.
    pub proof: Result<Proof, ChainError>,
}

/// Asks the chain about each open purchase, and ends those of which it proves something.
///
/// *Settled* books the price as spent. *Unused* and *cancelled* let its hold go: nothing of it can
/// settle any more. Only proof does that; what the chain leaves open stays held or presumed spent.
/// A purchase that a call has in hand is left to it.
///
/// # Money
///
/// Proof covers what this ledger knows was signed. A key that other processes sign for with ledgers of
/// their own may have an authorization that lives longer.
///
/// # Errors
///
/// A [`LedgerError`] of the store. What was ended before it stays ended.
///
/// # Cancel safety
///
/// Dropping the future asks no further; each purchase is ended by one write.
pub async fn reconcile(
    ledger: &dyn Ledger,
    chain: &dyn ChainReader,
    now: Timestamp,
) -> Result<Vec<Reconciled>, LedgerError> {
    let mut all = Vec::new();
    for record in ledger.open_purchases().await? {
        let stake = &record.stake;
        let nonce = NonceOf::new(stake.asset, stake.payer, stake.nonce);
        let facts = chain.read(&nonce).await;
        let proof = facts.map(|facts| prove(&facts, stake.valid_before));
        let key = record.key;
        all.push(Reconciled { key, proof });
        let resolution = match proof {
            Ok(Proof::Settled { .. }) => Resolution::Settled,
            Ok(Proof::Cancelled | Proof::Unused) => Resolution::Unused,
            Ok(_) | Err(_) => continue,
        };
        match ledger.resolve(key, resolution, now).await {
            Ok(()) | Err(LedgerError::InHand) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(all)
}
