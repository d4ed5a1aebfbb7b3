//! The layer that pays x402 offers.

use std::sync::Arc;
use std::time::Duration;

use http::Extensions;
use paywait_ledger::{Ledger, Limits, MemoryLedger};
use paywait_x402::alloy_primitives::Address;
use paywait_x402::{Asset, Balances, Choose, Derivation, Network, Policy, Token, Usd, Wallet};
use reqwest::{Request, Response};
use reqwest_middleware::{Middleware, Next, Result};

use crate::part::{Part, Purse};
use crate::running::LayerId;
use crate::{Approve, Clock, SystemClock, layer};

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
/// asked; and the purchase is free for whoever asks for it next. While balances or a yes are waited
/// for, nothing is held. What a signer that is not in this
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
/// Test networks only, known dollar tokens only, any payee and any payment flow, and nobody is asked
/// for a yes; an authorization stays valid 600 seconds at most; a signer has 60 seconds, the
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
        if ledger.forgets_at_restart() && limits.outlive_a_restart() {
            tracing::warn!(
                "a restart forgets what this ledger counted, and with it the limits of a day or more; \
                 SqliteLedger keeps them"
            );
        }
        let policy = Policy::new(limits.most_per_call());
        let assets = limits.assets().iter();
        let policy = assets.fold(policy, |policy, (asset, per_call)| {
            policy.units(*asset, *per_call)
        });
        let purse = Purse {
            wallet,
            policy: Arc::new(policy),
            ledger,
            derivation: Derivation::default(),
            balances: None,
            balance_time: Duration::from_secs(5),
            approver: None,
            approve_above: Usd::ZERO,
            approval_time: Duration::from_secs(120),
            signing_time: Duration::from_secs(60),
            writing_time: Duration::from_secs(10),
            takes_over: true,
            keeps_responses: false,
            pins_payees: false,
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

    /// Names the tokens to pay with, in place of all that are known or [described](Self::token).
    pub fn assets(self, assets: impl IntoIterator<Item = Asset>) -> Self {
        self.policy(|policy| policy.assets(assets))
    }

    /// Describes a token that is not known. It is paid with where the limits [have a word on
    /// it](Limits::and_units).
    pub fn token(self, token: Token) -> Self {
        self.policy(|policy| policy.describe(token))
    }

    /// Names the payees to pay, in place of any.
    pub fn payees(self, payees: impl IntoIterator<Item = Address>) -> Self {
        self.policy(|policy| policy.payees(payees))
    }

    /// Adds payees that are not paid, whatever else is said of them.
    pub fn deny_payees(self, payees: impl IntoIterator<Item = Address>) -> Self {
        self.policy(|policy| policy.deny_payees(payees))
    }

    /// Bounds how long an authorization may stay valid, whatever a seller asks for: who asks for
    /// longer gets this.
    pub fn window(self, longest: Duration) -> Self {
        self.policy(|policy| policy.window(longest))
    }

    /// Refuses sellers that ask for a shorter `maxTimeoutSeconds`, in whole seconds. Default: 15 s,
    /// and never less.
    pub fn shortest_window(self, least: Duration) -> Self {
        self.policy(|policy| policy.shortest_window(least))
    }

    /// Refuses sellers that ask for a longer `maxTimeoutSeconds`, in whole seconds, instead of giving
    /// them the [longest window](Self::window). Default: none is refused.
    pub fn longest_timeout(self, most: Duration) -> Self {
        self.policy(|policy| policy.longest_timeout(most))
    }

    /// Says whether sellers that settle before they serve may be paid. Default: yes. It says
    /// nothing of [`escrow`](Self::escrow).
    pub fn upfront(self, allowed: bool) -> Self {
        self.policy(|policy| policy.upfront(allowed))
    }

    /// Says whether sellers that take a deposit before they serve may be paid. Default: yes. It says
    /// nothing of [`upfront`](Self::upfront).
    pub fn escrow(self, allowed: bool) -> Self {
        self.policy(|policy| policy.escrow(allowed))
    }

    /// Prefers these networks, the first of them most, where prices are equal. It allows none of
    /// them.
    pub fn prefer_networks(self, order: impl IntoIterator<Item = Network>) -> Self {
        self.policy(|policy| policy.prefer_networks(order))
    }

    /// Sets who chooses among the entries that may be paid, in place of
    /// [`Cheapest`](crate::Cheapest). It never sees one that may not.
    pub fn choose_by(self, chooser: Arc<dyn Choose>) -> Self {
        self.policy(|policy| policy.choose_by(chooser))
    }

    /// Sets who knows what the payer has, so that what cannot be funded is not chosen. What is not
    /// known, or not in [time](Self::balance_time), is chosen as if there were enough.
    pub fn balances(mut self, source: Arc<dyn Balances>) -> Self {
        Arc::make_mut(&mut self.purse).balances = Some(source);
        self
    }

    /// Bounds how long all balances of an offer together may take. Default: 5 s.
    pub fn balance_time(mut self, longest: Duration) -> Self {
        Arc::make_mut(&mut self.purse).balance_time = longest;
        self
    }

    /// Asks `approver` before a call pays more than `above` dollars, or anything in a token that is
    /// no dollar token; without a yes nothing is held or signed.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use paywait::{Approve, Approval, Limits, Pay, Proposal, Wallet, usd};
    /// # fn pay(wallet: Wallet) -> Result<Pay, Box<dyn std::error::Error>> {
    /// #[derive(Debug)]
    /// struct Nobody;
    ///
    /// impl Approve for Nobody {
    ///     fn approve<'a>(&'a self, _: &'a Proposal) -> Approval<'a> {
    ///         Box::pin(async { Ok(false) })
    ///     }
    /// }
    ///
    /// let limits = Limits::per_call(usd("1")?).per_day(usd("5")?);
    /// let pay = Pay::new(wallet, limits).approve_above(usd("0.05")?, Arc::new(Nobody));
    /// # Ok(pay) }
    /// ```
    pub fn approve_above(mut self, above: Usd, approver: Arc<dyn Approve>) -> Self {
        let purse = Arc::make_mut(&mut self.purse);
        purse.approve_above = above;
        purse.approver = Some(approver);
        self
    }

    /// Bounds how long whoever approves may take; silence is a no. The deadline of the call and the
    /// time that a loop has in all bound it too. Default: 120 s.
    pub fn approval_time(mut self, longest: Duration) -> Self {
        Arc::make_mut(&mut self.purse).approval_time = longest;
        self
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

    /// Says whether the first payee of an origin and token is the only one from then on: another is
    /// refused until [`Ledger::unpin`] takes the pin away. Default: no, since sellers change wallets, and
    /// nothing but trust on first use stands behind a pin. The ledger keeps it, for all who share it.
    pub fn pin_payees(mut self, pins: bool) -> Self {
        Arc::make_mut(&mut self.purse).pins_payees = pins;
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
