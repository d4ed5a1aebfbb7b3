//! The layer that pays x402 offers.

use std::sync::Arc;
use std::time::Duration;

use http::Extensions;
use paywait_ledger::{Ledger, Limits, MemoryLedger};
use paywait_x402::{Derivation, Network, Policy, Wallet};
use reqwest::{Request, Response};
use reqwest_middleware::{Middleware, Next, Result};

use crate::part::{Part, Purse};
use crate::running::LayerId;
use crate::{Clock, SystemClock, layer};

/// The layer that pays x402 offers, once a call.
///
/// # Money
///
/// A call is one purchase with one nonce, which settles at most once ([`safety`](crate::safety) has the
/// argument). Its intent and price stand in the ledger before it is signed, and its bytes before the
/// first of them leaves; the same bytes are shown again where a seller fails after it may have been
/// paid. A second signature, with the same nonce, is made only where the first was refused before it
/// moved anything, or has expired. What a call may have spent is in its report.
///
/// # Names
///
/// A call with a [`PurchaseName`](crate::PurchaseName), or in a [`Namespace`](crate::Namespace), shows
/// what an earlier one of that name signed, in this process or another on the same ledger; while
/// another caller has it in hand, it waits. A call without a name takes over what an equal one left
/// open ([`takes_over`](Self::takes_over)).
///
/// # Cancel safety
///
/// A call may be dropped at any point. No record is lost; a hold ends only if the signer was never
/// asked; and the purchase is free for whoever asks for it next. What a signer that is not in this
/// process makes after its call was dropped is never shown.
///
/// # Order
///
/// Any; see [`Retry`](crate::Retry).
///
/// # Does not
///
/// Retry: alone it pays once and hands back what comes. Pay on a network that moves real money
/// unless [`networks`](Self::networks) names it, pay an unknown token, or pay over plain http
/// except on a loopback address.
///
/// # Defaults
///
/// Test networks only; an authorization stays valid 600 seconds at most; a signer has 60 seconds, the
/// ledger 10 for each write; the ledger is in memory, and a restart forgets what was spent today and
/// what is under way.
#[derive(Clone, Debug)]
#[must_use = "a layer does nothing until it is attached with `ClientBuilder::with`"]
pub struct Pay {
    purse: Arc<Purse>,
    clock: Arc<dyn Clock>,
}

impl Pay {
    /// Returns a layer that pays from `wallet` within `limits`, on a ledger of its own in memory.
    pub fn new(wallet: Wallet, limits: Limits) -> Self {
        Self::with_ledger(wallet, limits, Arc::new(MemoryLedger::new()))
    }

    /// Returns a layer that pays from `wallet` within `limits`, on `ledger`.
    ///
    /// The limit of a call is this layer's own. The limit of the day stands on the ledger: of
    /// several layers on one ledger the tightest holds for all of them together.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "limits are said once, where the layer is made"
    )]
    pub fn with_ledger(wallet: Wallet, limits: Limits, ledger: Arc<dyn Ledger>) -> Self {
        ledger.register(&limits);
        let purse = Purse {
            wallet,
            policy: Arc::new(Policy::new(limits.most_per_call())),
            ledger,
            derivation: Derivation::default(),
            signing_time: Duration::from_secs(60),
            writing_time: Duration::from_secs(10),
            takes_over: true,
            keeps_responses: false,
            releases_on_death: false,
        };
        Self {
            purse: Arc::new(purse),
            clock: Arc::new(SystemClock),
        }
    }

    /// Names the networks to pay on, in place of all known test networks.
    pub fn networks(self, networks: impl IntoIterator<Item = Network>) -> Self {
        self.policy(|policy| policy.networks(networks))
    }

    /// Bounds how long an authorization may stay valid, whatever a seller asks for.
    pub fn window(self, longest: Duration) -> Self {
        self.policy(|policy| policy.window(longest))
    }

    /// Says whether sellers that settle before they serve may be paid. Default: yes.
    pub fn upfront(self, allowed: bool) -> Self {
        self.policy(|policy| policy.upfront(allowed))
    }

    /// Bounds how long a signer may take. The price stays held if it does not answer in time.
    pub fn signing_time(mut self, longest: Duration) -> Self {
        Arc::make_mut(&mut self.purse).signing_time = longest;
        self
    }

    /// Bounds how long the ledger may take for one write. Nothing is signed or sent before the write
    /// that it needs is confirmed.
    pub fn writing_time(mut self, longest: Duration) -> Self {
        Arc::make_mut(&mut self.purse).writing_time = longest;
        self
    }

    /// Says whether a call without a name takes over the purchase that an equal one (method, URL,
    /// body) of this process left unresolved or undelivered, instead of buying again. Default: yes, for
    /// an hour after the payment expired, so that a loop around a plain `send()` does not buy twice.
    pub fn takes_over(mut self, takes_over: bool) -> Self {
        Arc::make_mut(&mut self.purse).takes_over = takes_over;
        self
    }

    /// Says whether paid responses of named purchases are kept in the ledger, as they are read whole:
    /// a later call of the same name gets the response and sends nothing, also after a crash. Default:
    /// no, since they hold whatever the seller sends.
    pub fn keeps_responses(mut self, keeps: bool) -> Self {
        Arc::make_mut(&mut self.purse).keeps_responses = keeps;
        self
    }

    /// Says whether the price of a payment that has died with neither receipt nor proof is let go, a
    /// [margin of its chain](paywait_x402::death_margin) after it expired. Default: no, it counts as
    /// spent for a day, since it may have settled unseen; what had, then comes on top of the limits.
    pub fn releases_on_death(mut self, releases: bool) -> Self {
        Arc::make_mut(&mut self.purse).releases_on_death = releases;
        self
    }

    /// Sets how nonces and identifiers follow from purchase names.
    pub fn derivation(mut self, derivation: Derivation) -> Self {
        Arc::make_mut(&mut self.purse).derivation = derivation;
        self
    }

    /// Swaps the clock.
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    fn policy(mut self, change: impl FnOnce(Policy) -> Policy) -> Self {
        let purse = Arc::make_mut(&mut self.purse);
        purse.policy = Arc::new(change(Policy::clone(&purse.policy)));
        self
    }
}

#[async_trait::async_trait]
impl Middleware for Pay {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        let part = Part::Pay(Arc::clone(&self.purse));
        layer::handle(
            LayerId::of(self),
            part,
            &self.clock,
            request,
            extensions,
            next,
        )
        .await
    }
}
