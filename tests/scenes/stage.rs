//! What a scene is played on: sellers, one buyer, and a call that is made in any mode.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use paywait::{Clock, Ledger, MemoryLedger, Namespace, Network, Pay, PurchaseName, Scope, Wallet};
use paywait_seller::Route;
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, RequestBuilder};
use support::buyer::{Buyer, Ours, bare, limits, report};
use support::clock::FakeClock;
use support::foreign::outer_loop;
use support::shop::Stand;

use crate::gauge::Gauge;
use crate::mode::Mode;
use crate::scene::Outcome;

/// Makes the request that a scene is about.
type Ask = Box<dyn Fn(&ClientWithMiddleware, &str) -> RequestBuilder + Send + Sync>;

/// What a scene is played on. The first seller is the one that is asked.
pub(crate) struct Stage {
    pub(crate) stands: Vec<Stand>,
    pub(crate) buyer: Buyer,
    pub(crate) gauge: Gauge,
    ask: Ask,
    after_each_call: fn(&Self),
    follows: bool,
    named: bool,
    loops: bool,
    calls: usize,
}

/// How one call ended for its caller.
pub(crate) struct Ended {
    end: String,
    money: String,
    pub(crate) delivered: bool,
}

impl Stage {
    /// Returns a stage with one seller of these.
    pub(crate) async fn sells(routes: impl IntoIterator<Item = Route>) -> Self {
        Self::of([Stand::open(routes).await])
    }

    /// Returns a stage with these sellers.
    pub(crate) fn of(stands: impl IntoIterator<Item = Stand>) -> Self {
        let stands: Vec<_> = stands.into_iter().collect();
        Self {
            buyer: Buyer::new(&stands[0].clock),
            stands,
            gauge: Gauge::default(),
            ask: Box::new(|client, url| client.get(url)),
            after_each_call: |_| {},
            follows: false,
            named: false,
            loops: false,
            calls: 1,
        }
    }

    /// Asks in another way.
    pub(crate) fn ask(
        mut self,
        ask: impl Fn(&ClientWithMiddleware, &str) -> RequestBuilder + Send + Sync + 'static,
    ) -> Self {
        self.ask = Box::new(ask);
        self
    }

    /// Does something after each call.
    pub(crate) fn after_each_call(mut self, act: fn(&Self)) -> Self {
        self.after_each_call = act;
        self
    }

    /// Uses a client that follows redirects, as reqwest's does when nobody tells it not to.
    pub(crate) const fn follows(mut self) -> Self {
        self.follows = true;
        self
    }

    /// Names the purchase in every mode that does not say otherwise.
    pub(crate) const fn named(mut self) -> Self {
        self.named = true;
        self
    }

    /// Has `reqwest-retry` on both sides in every mode.
    pub(crate) const fn loops(mut self) -> Self {
        self.loops = true;
        self
    }

    /// Calls so often at least while nothing is delivered.
    pub(crate) const fn calls(mut self, calls: usize) -> Self {
        self.calls = calls;
        self
    }

    /// Returns a client with our layers, and what the mode puts around them.
    pub(crate) fn client(&self, mode: Mode) -> ClientWithMiddleware {
        let mut layers = if self.follows {
            ClientBuilder::new(reqwest::Client::builder().no_proxy().build().unwrap())
        } else {
            bare()
        };
        if self.loops || mode == Mode::RetryOutside {
            layers = layers.with(outer_loop(3));
        }
        layers = self.buyer.attach(layers, Ours::Retry).with(self.pay());
        layers = self.buyer.attach(layers, Ours::Pace);
        if self.loops || mode == Mode::RetryInside {
            layers = layers.with(outer_loop(3));
        }
        layers
            .with(self.gauge.clone())
            .with(self.buyer.tap.clone())
            .build()
    }

    /// The paying layer of a buyer who pays on two chains.
    fn pay(&self) -> Pay {
        let wallet = Wallet::evm(self.buyer.signer.clone());
        let books: Arc<dyn Ledger> = Arc::<MemoryLedger>::clone(&self.buyer.ledger);
        let clock: Arc<dyn Clock> = Arc::<FakeClock>::clone(self.clock());
        Pay::with_ledger(wallet, limits(), books)
            .networks([Network::evm(84_532), Network::evm(8_453)])
            .with_clock(clock)
    }

    pub(crate) fn clock(&self) -> &Arc<FakeClock> {
        &self.stands[0].clock
    }

    /// Plays it: one logical call, in `mode`.
    pub(crate) async fn play(&self, mode: Mode) -> Outcome {
        let client = self.client(mode);
        let ended = within(mode, self.until_delivered(&client, mode)).await;
        self.outcome(&[ended])
    }

    /// Plays it with two callers at once who want the same thing.
    pub(crate) async fn play_two(&self, mode: Mode) -> Outcome {
        let client = self.client(mode);
        let two = async {
            tokio::join!(
                self.until_delivered(&client, mode),
                self.until_delivered(&client, mode)
            )
        };
        let (first, second) = within(mode, Box::pin(two)).await;
        self.outcome(&[first, second])
    }

    /// Plays it with a caller who drops the call on `cue` and then calls again.
    pub(crate) async fn play_dropped(
        &self,
        mode: Mode,
        cue: impl Future<Output = ()> + Send,
    ) -> Outcome {
        let client = self.client(mode);
        let whole = async {
            tokio::select! {
                _ = self.call(&client, mode) => {}
                () = cue => {}
            }
            self.until_delivered(&client, mode).await
        };
        let ended = within(mode, whole).await;
        self.outcome(&[ended])
    }

    async fn until_delivered(&self, client: &ClientWithMiddleware, mode: Mode) -> Ended {
        let mut ended = self.call(client, mode).await;
        for _ in 1..mode.calls().max(self.calls) {
            if ended.delivered {
                break;
            }
            ended = self.call(client, mode).await;
        }
        ended
    }

    async fn call(&self, client: &ClientWithMiddleware, mode: Mode) -> Ended {
        let mut request = (self.ask)(client, &self.stands[0].url("/report"));
        let unsaid = matches!(mode, Mode::Again | Mode::AgainScoped);
        if mode == Mode::AgainNamed || (self.named && !unsaid) {
            request = request.with_extension(PurchaseName::new("order-17"));
        }
        let ended = Ended::of(request.send().await).await;
        (self.after_each_call)(self);
        ended
    }

    /// What stands in all the books.
    fn outcome(&self, ended: &[Ended]) -> Outcome {
        let mut nonces = BTreeSet::new();
        let mut signatures = BTreeSet::new();
        let mut settlements = Vec::new();
        for stand in &self.stands {
            let ledger = stand.seller.ledger();
            settlements.extend_from_slice(ledger.settlements());
            for seen in ledger.authorizations() {
                let slot = (seen.token.clone(), seen.payer, seen.nonce);
                nonces.insert(slot.clone());
                let window = (seen.valid_after, seen.valid_before);
                signatures.insert((slot, seen.pay_to, seen.amount, window));
            }
        }
        Outcome {
            sends: self.stands.iter().map(Stand::sends).sum(),
            nonces: nonces.len(),
            signatures: signatures.len().max(self.buyer.signer.asked()),
            settlements: settlements.len(),
            delivered: ended.iter().any(|ended| ended.delivered),
            ends: ended.iter().map(|ended| ended.end.clone()).collect(),
            money: ended.last().map(|ended| ended.money.clone()).unwrap(),
            counted: self.buyer.ledger.used_today(self.clock().now()).to_string(),
            objections: Vec::new(),
        }
    }

    /// Lets every seller settle all that it was shown, so much later.
    pub(crate) fn cash_in_after(&self, later: Duration) {
        self.clock().advance(later);
        let now = self.clock().now();
        for stand in &self.stands {
            stand.seller.with_shop(|shop| shop.cash_in(now).len());
        }
    }
}

impl Ended {
    /// Looks at an answer, and reads its body.
    async fn of(ended: reqwest_middleware::Result<reqwest::Response>) -> Self {
        let (end, money) = match report(&ended) {
            None => ("no report".to_owned(), String::new()),
            Some(report) => {
                let money = report.paid.as_ref().map(|paid| variant(&paid.money));
                (variant(&report.end), money.unwrap_or_default())
            }
        };
        let delivered = match ended {
            Ok(response) => response.status().is_success() && response.bytes().await.is_ok(),
            Err(_) => false,
        };
        Self {
            end,
            money,
            delivered,
        }
    }
}

/// Returns the name of a variant, without what it holds.
fn variant(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    let name = text.split(|letter: char| !letter.is_alphanumeric()).next();
    name.unwrap_or_default().to_owned()
}

/// Runs a call, or a loop of calls, in the scope that the mode has.
async fn within<F: Future>(mode: Mode, calls: F) -> F::Output {
    if mode != Mode::AgainScoped {
        return calls.await;
    }
    let task = Scope::new().with(Namespace::new("task-1"));
    task.run(calls).await
}
