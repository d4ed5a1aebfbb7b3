//! What is about to be signed, and for which request.

use std::collections::BTreeSet;

use paywait_x402::{PurchaseKey, Terms, Usd};

use crate::{Fingerprint, Label, OnDeath, Origin, Stake};

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
    /// Where the request goes.
    pub origin: Origin,
    /// What the call is tagged with.
    pub labels: BTreeSet<Label>,
    /// What is to be signed.
    pub stake: Stake,
    /// How many signatures of this purchase the caller knows of. Where more stand, they are handed
    /// back, and nothing is written.
    pub known: usize,
    /// Whether an unnamed purchase takes over one of the same request, of this process, that ended
    /// unresolved or undelivered.
    pub takes_over: bool,
    /// Whether the first payee of an origin and token is the only one from then on.
    pub pins_payee: bool,
    /// What becomes of the hold when what was signed has died with neither receipt nor proof.
    pub on_death: OnDeath,
}

impl Intent {
    /// Returns the intent to sign `terms` for the request of `fingerprint`, which goes to `origin`.
    /// `price` is what they cost in dollars; a token without a price in dollars is counted in its own
    /// units alone.
    pub fn new(
        key: PurchaseKey,
        fingerprint: Fingerprint,
        origin: Origin,
        terms: &Terms,
        price: Option<Usd>,
    ) -> Self {
        Self {
            key,
            named: false,
            fingerprint,
            origin,
            labels: BTreeSet::new(),
            stake: Stake::of(terms, price),
            known: 0,
            takes_over: false,
            pins_payee: false,
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

    /// Tags it.
    #[must_use]
    pub fn labels(mut self, labels: impl IntoIterator<Item = Label>) -> Self {
        self.labels = labels.into_iter().collect();
        self
    }

    /// Says whether the first payee of an origin and token is the only one from then on.
    #[must_use]
    pub const fn pins_payee(mut self, pins_payee: bool) -> Self {
        self.pins_payee = pins_payee;
        self
    }

    /// Says what becomes of the hold at death.
    #[must_use]
    pub const fn on_death(mut self, on_death: OnDeath) -> Self {
        self.on_death = on_death;
        self
    }
}
