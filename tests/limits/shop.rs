//! A stand, and clients of one ledger.

use std::sync::Arc;

use alloy_primitives::Address;
use paywait::{
    Clock, End, Ledger, Limits, MemoryLedger, NotPaid, Pay, Retry, Timestamp, Usd, Wallet, usd,
};
use paywait_seller::{Route, Terms};
use reqwest::Response;
use reqwest_middleware::{ClientWithMiddleware, Result};
use support::buyer::{bare, report};
use support::shop::Stand;
use support::signer::CountingSigner;

/// A stand that sells `/it`, and what its buyers share.
pub(crate) struct Trade {
    pub(crate) stand: Stand,
    pub(crate) signer: CountingSigner,
    pub(crate) ledger: Arc<MemoryLedger>,
}

impl Trade {
    /// Sells one thing for so many millionths of a dollar.
    pub(crate) async fn of(price: u64) -> Self {
        Self::sells([Route::new("/it", terms(price))]).await
    }

    pub(crate) async fn sells(routes: impl IntoIterator<Item = Route>) -> Self {
        Self {
            stand: Stand::open(routes).await,
            signer: CountingSigner::random(),
            ledger: Arc::default(),
        }
    }

    /// A layer that pays within `limits`, on the one ledger.
    pub(crate) fn pay(&self, limits: Limits) -> Pay {
        let ledger: Arc<dyn Ledger> = Arc::<MemoryLedger>::clone(&self.ledger);
        Pay::with_ledger(Wallet::evm(self.signer.clone()), limits, ledger)
    }

    /// A client that waits, and pays by `pay`.
    pub(crate) fn client(&self, pay: Pay) -> ClientWithMiddleware {
        let clock: Arc<dyn Clock> = Arc::<support::clock::FakeClock>::clone(&self.stand.clock);
        let retry = Retry::default().with_clock(Arc::clone(&clock));
        bare().with(retry).with(pay.with_clock(clock)).build()
    }

    /// How often somebody was asked to sign, and how often money moved.
    pub(crate) fn signed_and_settled(&self) -> (usize, usize) {
        (self.signer.asked(), self.stand.settlements())
    }

    pub(crate) fn used(&self) -> String {
        self.ledger.used_today(self.now()).to_string()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.stand.clock.now()
    }

    pub(crate) fn url(&self) -> String {
        self.stand.url("/it")
    }
}

pub(crate) fn terms(price: u64) -> Terms {
    Terms::usdc(price, Address::repeat_byte(0x22)).max_timeout(600)
}

pub(crate) fn dollars(amount: &str) -> Usd {
    usd(amount).unwrap()
}

/// So much a call, and nothing said of the day.
pub(crate) fn a_call(most: &str) -> Limits {
    Limits::per_call(dollars(most)).no_daily_limit()
}

/// Why a call was not paid, if it was not.
pub(crate) fn refusal(ended: &Result<Response>) -> Option<NotPaid> {
    let end = &report(ended).unwrap().end;
    if let End::NotPaid(why) = end {
        return Some(why.clone());
    }
    assert_eq!(*end, End::Served);
    None
}
