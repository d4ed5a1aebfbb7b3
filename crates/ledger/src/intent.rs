//! What is about to be signed, and for which request.

use paywait_x402::{PurchaseKey, Terms, Usd};

use crate::{Fingerprint, OnDeath, Stake};

/// What is about to be signed, for which request, and what it counts against limits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Intent {
    /// The purchase.
    pub key: PurchaseKey,
    /// Whether the caller gave the key, and so may come back with it. A random key is asked for
    /// once, and its record can go when it counts no more.
    pub named: bool,
    /// The request that it is for.
    pub fingerprint: Fingerprint,
    /// What is to be signed.
    pub stake: Stake,
    /// How many signatures of this purchase the caller knows of. Where more stand, they are handed
    /// back, and nothing is written.
    pub known: usize,
    /// Whether an unnamed purchase takes over one of the same request, of this process, that ended
    /// unresolved or undelivered.
    pub takes_over: bool,
    /// What becomes of the hold when what was signed has died with neither receipt nor proof.
    pub on_death: OnDeath,
}

impl Intent {
    /// Returns the intent to sign `terms`, at `price` dollars, for the request of `fingerprint`.
    pub fn new(key: PurchaseKey, fingerprint: Fingerprint, terms: &Terms, price: Usd) -> Self {
        Self {
            key,
            named: false,
            fingerprint,
            stake: Stake::of(terms, price),
            known: 0,
            takes_over: false,
            on_death: OnDeath::Presume,
        }
    }

    /// Says whether the caller gave the key.
    #[must_use]
    pub const fn named(mut self, named: bool) -> Self {
        self.named = named;
        self
    }

    /// Says how many signatures of this purchase the caller knows of.
    #[must_use]
    pub const fn known(mut self, known: usize) -> Self {
        self.known = known;
        self
    }

    /// Says whether an unnamed purchase may take over another.
    #[must_use]
    pub const fn takes_over(mut self, takes_over: bool) -> Self {
        self.takes_over = takes_over;
        self
    }

    /// Says what becomes of the hold at death.
    #[must_use]
    pub const fn on_death(mut self, on_death: OnDeath) -> Self {
        self.on_death = on_death;
        self
    }
}
