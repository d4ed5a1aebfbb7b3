//! What may be signed at all: the gate between an offer and the signer.

mod choice;
mod gate;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::Address;

use crate::{Amount, Asset, Cheapest, Choose, KnownAsset, Network, Supported, Token, Usd};

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
/// assert!(policy.supported().tokens.iter().all(|token| token.symbol.starts_with("USDC")));
/// ```
#[derive(Clone, Debug)]
pub struct Policy {
    per_call: Usd,
    networks: Option<BTreeSet<Network>>,
    assets: Option<BTreeSet<Asset>>,
    tokens: BTreeMap<Asset, Token>,
    /// Limits of a call in a token's own units.
    units: BTreeMap<Asset, Amount>,
    payees: Option<BTreeSet<Address>>,
    denied_payees: BTreeSet<Address>,
    shortest_window: u64,
    longest_window: Duration,
    longest_timeout: Option<Duration>,
    upfront: bool,
    escrow: bool,
    cheapest: Cheapest,
    chooser: Option<Arc<dyn Choose>>,
}

impl Policy {
    /// Returns a policy that pays at most `per_call` dollars a call, on test networks. With zero
    /// nothing is paid in whatever token.
    pub const fn new(per_call: Usd) -> Self {
        Self {
            per_call,
            networks: None,
            assets: None,
            tokens: BTreeMap::new(),
            units: BTreeMap::new(),
            payees: None,
            denied_payees: BTreeSet::new(),
            shortest_window: SHORTEST_WINDOW,
            longest_window: LONGEST_WINDOW,
            longest_timeout: None,
            upfront: true,
            escrow: true,
            cheapest: Cheapest::new(),
            chooser: None,
        }
    }

    /// Names the networks to pay on, in place of all known test networks.
    #[must_use]
    pub fn networks(mut self, networks: impl IntoIterator<Item = Network>) -> Self {
        self.networks = Some(networks.into_iter().collect());
        self
    }

    /// Names the tokens to pay with, in place of all that are known or [described](Self::token).
    #[must_use]
    pub fn assets(mut self, assets: impl IntoIterator<Item = Asset>) -> Self {
        self.assets = Some(assets.into_iter().collect());
        self
    }

    /// Sets the most of `asset` that one call may cost, in atomic units. A token that is not a dollar
    /// token is refused without it; for a dollar token it holds beside the limit in dollars.
    #[must_use]
    pub fn units(mut self, asset: Asset, per_call: Amount) -> Self {
        self.units.insert(asset, per_call);
        self
    }

    /// Sets the most that one call may cost in dollars. With zero nothing is paid in whatever token.
    #[must_use]
    pub const fn limited_to(mut self, per_call: Usd) -> Self {
        self.per_call = per_call;
        self
    }

    /// Describes a token that is not known. It is refused until [`units`](Self::units) says how much of
    /// it a call may cost.
    #[must_use]
    pub fn describe(mut self, token: Token) -> Self {
        self.tokens.insert(token.asset, token);
        self
    }

    /// Describes a token that is not known, and sets the most of it that one call may cost, in atomic
    /// units. Of a token that is known only the limit is taken.
    #[must_use]
    pub fn token(self, token: Token, per_call: Amount) -> Self {
        let asset = token.asset;
        self.describe(token).units(asset, per_call)
    }

    /// Names the payees to pay, in place of any.
    #[must_use]
    pub fn payees(mut self, payees: impl IntoIterator<Item = Address>) -> Self {
        self.payees = Some(payees.into_iter().collect());
        self
    }

    /// Adds payees that are not paid, whatever else is said of them.
    #[must_use]
    pub fn deny_payees(mut self, payees: impl IntoIterator<Item = Address>) -> Self {
        self.denied_payees.extend(payees);
        self
    }

    /// Bounds how long an authorization may stay valid, whatever the seller asks for: who asks for
    /// longer gets this. Default: 600 s.
    #[must_use]
    pub const fn window(mut self, longest: Duration) -> Self {
        self.longest_window = longest;
        self
    }

    /// Refuses sellers that ask for a shorter `maxTimeoutSeconds`. Default: 15 s, and never less: nothing
    /// is shown in the ten seconds before it expires, and the rest is for signing and the way.
    #[must_use]
    pub fn shortest_window(mut self, least: Duration) -> Self {
        let whole = least.as_secs();
        let rounded = whole.saturating_add(u64::from(least.subsec_nanos() > 0));
        self.shortest_window = rounded.max(SHORTEST_WINDOW);
        self
    }

    /// Refuses sellers that ask for a longer `maxTimeoutSeconds`, instead of giving them the
    /// [longest window](Self::window). Default: none is refused.
    #[must_use]
    pub const fn longest_timeout(mut self, most: Duration) -> Self {
        self.longest_timeout = Some(most);
        self
    }

    /// Says whether sellers that settle before they serve may be paid. Default: yes.
    #[must_use]
    pub const fn upfront(mut self, allowed: bool) -> Self {
        self.upfront = allowed;
        self
    }

    /// Says whether sellers that take a deposit before they serve may be paid. Default: yes.
    #[must_use]
    pub const fn escrow(mut self, allowed: bool) -> Self {
        self.escrow = allowed;
        self
    }

    /// Prefers these networks, the first of them most, where prices are equal. It allows none of
    /// them, and a [chooser](Self::choose_by) has its own mind.
    #[must_use]
    pub fn prefer_networks(mut self, order: impl IntoIterator<Item = Network>) -> Self {
        self.cheapest = Cheapest::new().prefer(order);
        self
    }

    /// Sets who chooses among the entries that may be paid, in place of [`Cheapest`].
    #[must_use]
    pub fn choose_by(mut self, chooser: Arc<dyn Choose>) -> Self {
        self.chooser = Some(chooser);
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

    /// Returns the networks and the tokens that are paid.
    pub fn supported(&self) -> Supported {
        Supported {
            networks: self.paid_networks(),
            tokens: self.paid_tokens(),
        }
    }

    fn paid_networks(&self) -> Vec<Network> {
        match &self.networks {
            Some(named) => named.iter().copied().collect(),
            None => Network::testnets().collect(),
        }
    }

    fn paid_tokens(&self) -> Vec<Token> {
        let known = KnownAsset::all().iter().map(Token::from);
        let described = self.tokens.values().cloned();
        let described = described.filter(|token| KnownAsset::find(token.asset).is_none());
        known
            .chain(described)
            .filter(|token| self.pays_with(token.asset))
            .collect()
    }

    /// Returns whether any amount of a token of which enough is known may be paid.
    fn pays_with(&self, asset: Asset) -> bool {
        let listed = self.assets.as_ref().is_none_or(|all| all.contains(&asset));
        let in_dollars = KnownAsset::find(asset).is_some_and(|known| known.dollar);
        let limited = in_dollars || self.units.contains_key(&asset);
        listed && limited && self.pays_on(asset.network) && self.per_call > Usd::ZERO
    }
}

/// Nothing is shown in the ten seconds before it expires; the rest is for signing and the way.
const SHORTEST_WINDOW: u64 = 15;

/// A window longer than this leaves a signature lying about for no reason.
const LONGEST_WINDOW: Duration = Duration::from_secs(600);
