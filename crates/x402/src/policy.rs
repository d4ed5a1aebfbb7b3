//! What may be signed at all: the gate between an offer and the signer.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::{Asset, Entry, KnownAsset, Network, Offer, PaymentFlow, SignedPayment, Usd};

/// What may be signed at all.
///
/// It is asked twice: to choose among the entries of an offer, and again on the exact entry
/// immediately before the signer.
///
/// # Defaults
///
/// ```
/// use paywait_x402::{Policy, usd};
/// let policy = Policy::new(usd("0.05").unwrap());
/// assert!(policy.pays_on("eip155:84532".parse().unwrap())); // a test network
/// assert!(!policy.pays_on("eip155:8453".parse().unwrap())); // real money must be named
/// assert_eq!(policy.longest_window().as_secs(), 600);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Policy {
    per_call: Usd,
    networks: Option<BTreeSet<Network>>,
    longest_window: Duration,
    upfront: bool,
}

impl Policy {
    /// Returns a policy that pays at most `per_call` dollars a call, on test networks.
    pub const fn new(per_call: Usd) -> Self {
        Self {
            per_call,
            networks: None,
            longest_window: LONGEST_WINDOW,
            upfront: true,
        }
    }

    /// Names the networks to pay on, in place of all known test networks.
    #[must_use]
    pub fn networks(mut self, networks: impl IntoIterator<Item = Network>) -> Self {
        self.networks = Some(networks.into_iter().collect());
        self
    }

    /// Bounds how long an authorization may stay valid, whatever the seller asks for.
    #[must_use]
    pub const fn window(mut self, longest: Duration) -> Self {
        self.longest_window = longest;
        self
    }

    /// Says whether sellers that settle before they serve may be paid. Default: yes.
    #[must_use]
    pub const fn upfront(mut self, allowed: bool) -> Self {
        self.upfront = allowed;
        self
    }

    /// Returns how long an authorization may stay valid.
    pub const fn longest_window(&self) -> Duration {
        self.longest_window
    }

    /// Returns the most that one call may cost.
    pub const fn per_call(&self) -> Usd {
        self.per_call
    }

    /// Returns whether anything may be paid on `network`.
    pub fn pays_on(&self, network: Network) -> bool {
        match &self.networks {
            Some(named) => named.contains(&network),
            None => network.is_testnet(),
        }
    }

    /// Chooses the entry to pay, by its place among [`Offer::entries`]: the cheapest in dollars of
    /// those that may be signed; of equals the one that settles after serving, then the seller's
    /// order.
    ///
    /// # Errors
    ///
    /// The refusal of the first entry that was refused, or [`Refusal::NothingOffered`].
    pub fn choose(&self, offer: &Offer) -> Result<usize, Refusal> {
        self.choose_among(offer, |_| true)
    }

    /// Chooses the entry to pay in place of `first`, which was signed before: only one that pays the
    /// same payee in the same token, so that the two can share a nonce.
    ///
    /// # Errors
    ///
    /// As [`choose`](Self::choose); [`Refusal::OtherPayee`] if the seller now asks for another payee
    /// or token.
    pub fn choose_again(&self, offer: &Offer, first: &SignedPayment) -> Result<usize, Refusal> {
        let same =
            |entry: &Entry| (entry.asset(), entry.pay_to()) == (first.asset(), first.pay_to());
        if offer.entries().iter().any(same) {
            self.choose_among(offer, same)
        } else {
            Err(Refusal::OtherPayee)
        }
    }

    fn choose_among(
        &self,
        offer: &Offer,
        may_be: impl Fn(&Entry) -> bool,
    ) -> Result<usize, Refusal> {
        let mut first_refusal = None;
        let mut best: Option<(Usd, bool, usize)> = None;
        let entries = offer.entries().iter().enumerate();
        for (place, entry) in entries.filter(|(_, entry)| may_be(entry)) {
            match self.check(entry) {
                Ok(price) => {
                    let pays_first = entry.payment_flow() != PaymentFlow::Authorization;
                    let this = (price, pays_first, place);
                    best = Some(best.map_or(this, |best| best.min(this)));
                }
                Err(refusal) => first_refusal = first_refusal.or(Some(refusal)),
            }
        }
        match best {
            Some((_, _, place)) => Ok(place),
            None => Err(first_refusal.unwrap_or(Refusal::NothingOffered)),
        }
    }

    /// Checks one entry, and returns its price in dollars.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] that names the rule, what was asked and what is allowed.
    pub fn check(&self, entry: &Entry) -> Result<Usd, Refusal> {
        let network = entry.network();
        if !self.pays_on(network) {
            return Err(Refusal::Network { asked: network });
        }
        let known = KnownAsset::find(entry.asset()).ok_or_else(|| Refusal::UnknownAsset {
            asked: entry.asset(),
        })?;
        if (entry.domain_name(), entry.domain_version())
            != (known.domain_name, known.domain_version)
        {
            return Err(Refusal::OtherDomain {
                asset: known.symbol,
            });
        }
        if !known.dollar {
            return Err(Refusal::NotDollars {
                asset: known.symbol,
            });
        }
        let flow = entry.payment_flow();
        if flow != PaymentFlow::Authorization && !self.upfront {
            return Err(Refusal::Flow { asked: flow });
        }
        let asked = entry
            .max_timeout_seconds()
            .min(self.longest_window.as_secs());
        if asked < SHORTEST_WINDOW {
            return Err(Refusal::Window {
                asked,
                least: SHORTEST_WINDOW,
            });
        }
        let price = known
            .usd(entry.amount())
            .map_err(|_| Refusal::Uncountable)?;
        if price > self.per_call {
            return Err(Refusal::PerCall {
                asked: price,
                allowed: self.per_call,
            });
        }
        Ok(price)
    }
}

/// Why an offer may not be signed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The offer has no entry that can be read and paid by this client.
    #[error("the offer has no entry that this client can pay")]
    NothingOffered,
    /// The network is not one to pay on.
    #[error("{asked} is not among the networks to pay on (setting: networks)")]
    Network {
        /// The network that the seller asked for.
        asked: Network,
    },
    /// The token is not known, so its price in dollars is not known either.
    #[error("{asked} is not a known token")]
    UnknownAsset {
        /// The token that the seller asked for.
        asked: Asset,
    },
    /// The token is known, and it is not a dollar token.
    #[error("{asset} is not a dollar token, and limits are set in dollars")]
    NotDollars {
        /// The token's symbol.
        asset: &'static str,
    },
    /// The signing domain that the seller names is not the token's own: the signature would be
    /// worthless.
    #[error("the offer names another signing domain than {asset} has")]
    OtherDomain {
        /// The token's symbol.
        asset: &'static str,
    },
    /// The way of settling is switched off.
    #[error("the payment flow {asked:?} is switched off (setting: upfront)")]
    Flow {
        /// The flow that the seller asked for.
        asked: PaymentFlow,
    },
    /// The authorization would be valid for too short a time to be shown.
    #[error("the payment would be valid for {asked} s; less than {least} s are too few to show it")]
    Window {
        /// What the seller asked for or the policy allows, in seconds.
        asked: u64,
        /// The least, in seconds.
        least: u64,
    },
    /// The price is over the limit for one call.
    #[error("the price is {asked} USD and a call may cost {allowed} USD (setting: per_call)")]
    PerCall {
        /// The price.
        asked: Usd,
        /// The limit.
        allowed: Usd,
    },
    /// Something was signed before, and the seller now asks for another payee or token: that needs
    /// proof that the first did not settle.
    #[error("the seller now asks for another payee or token than the one that was signed for")]
    OtherPayee,
    /// The price is too large to count.
    #[error("the price is too large to count in dollars")]
    Uncountable,
}

/// Nothing is shown in the ten seconds before it expires; the rest is for signing and the way.
const SHORTEST_WINDOW: u64 = 15;

/// A window longer than this leaves a signature lying about for no reason.
const LONGEST_WINDOW: Duration = Duration::from_secs(600);
