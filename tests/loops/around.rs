//! Loops that callers put around a call, and what each of their turns is told.

use std::sync::Arc;
use std::time::Duration;

use backon::{ConstantBuilder, Retryable as _};
use http::Extensions;
use paywait::{End, Namespace, PurchaseName, Report, Scope};
use reqwest::{Method, Request, Response};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use reqwest_retry::policies::ExponentialBackoff;
use reqwest_retry::{Jitter, RetryTransientMiddleware, Retryable, RetryableStrategy};
use support::buyer::{Buyer, Ours};
use support::clock::FakeClock;
use support::foreign::outer_loop;
use tokio::time::timeout;

/// A loop around a call, or under it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Around {
    /// `reqwest-retry` around all layers of ours.
    Retry,
    /// The same, and it repeats on everything that is no success, errors of layers too.
    RetryAll,
    /// `reqwest-retry` under all layers of ours.
    RetryUnder,
    /// The same, and it repeats on everything.
    RetryAllUnder,
    /// It repeats on everything, between our layers.
    RetryAllBetween,
    /// `for _ in 0..5 { client.get(url).send() }` until it is a success.
    Plain,
    /// The same around a client that has only the layer that pays.
    PlainPayAlone,
    /// The same, with a client that is built anew each time and the ledger kept.
    Rebuilt,
    /// It lets six or seven minutes pass between its turns: payments die meanwhile.
    Slow,
    /// The same request is cloned, with the extensions of the turn before.
    Cloned,
    /// Each turn runs in a task of its own.
    Spawned,
    /// Two loops around equal calls at once.
    Joined,
    /// `backon`.
    Backon,
    /// A time-out that drops the turn, longer each time.
    Cut,
}

/// How the purchase is named.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Naming {
    Name,
    Scope,
    Not,
}

impl Naming {
    pub(crate) const ALL: [Self; 3] = [Self::Name, Self::Scope, Self::Not];
}

/// What came of a call.
type Ended = reqwest_middleware::Result<Response>;

/// What a turn was told.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) status: Option<u16>,
    pub(crate) end: Option<End>,
    /// Whether it is what was asked for, with its body whole.
    pub(crate) good: bool,
}

/// What a loop calls.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) url: String,
    pub(crate) method: Method,
    pub(crate) naming: Naming,
    /// The time that the client has for each send.
    pub(crate) timeout: Duration,
    /// The order of our layers.
    pub(crate) order: [Ours; 3],
    pub(crate) clock: Arc<FakeClock>,
}

impl Target {
    fn request(&self) -> Request {
        let mut request = Request::new(self.method.clone(), self.url.parse().unwrap());
        if self.method == Method::POST {
            *request.body_mut() = Some(r#"{"question": 17}"#.into());
        }
        request
    }

    fn extensions(&self) -> Extensions {
        let mut extensions = Extensions::new();
        if self.naming == Naming::Name {
            extensions.insert(PurchaseName::new("order-17"));
        }
        extensions
    }

    /// One turn with extensions of its own.
    async fn turn(&self, client: &ClientWithMiddleware) -> Told {
        Told::of(self.call(client).await).await
    }

    async fn call(&self, client: &ClientWithMiddleware) -> Ended {
        self.call_with(client, self.request(), &mut self.extensions())
            .await
    }

    async fn call_with(
        &self,
        client: &ClientWithMiddleware,
        request: Request,
        extensions: &mut Extensions,
    ) -> Ended {
        let call = client.execute_with_extensions(request, extensions);
        match self.naming {
            Naming::Scope => {
                let scope = Scope::new().with(Namespace::new("task-4"));
                scope.run(call).await
            }
            Naming::Name | Naming::Not => call.await,
        }
    }

    fn client(&self, around: Around, buyer: &Buyer) -> ClientWithMiddleware {
        let client = paywait::client_builder().no_proxy().timeout(self.timeout);
        let mut layers = ClientBuilder::new(client.build().unwrap());
        layers = match around {
            Around::Retry => layers.with(outer_loop(RETRIES)),
            Around::RetryAll => layers.with(retry_all()),
            _ => layers,
        };
        for (nth, ours) in self.order.into_iter().enumerate() {
            if around == Around::RetryAllBetween && nth == 1 {
                layers = layers.with(retry_all());
            }
            if around != Around::PlainPayAlone || ours == Ours::Pay {
                layers = buyer.attach(layers, ours);
            }
        }
        layers = match around {
            Around::RetryUnder => layers.with(outer_loop(RETRIES)),
            Around::RetryAllUnder => layers.with(retry_all()),
            _ => layers,
        };
        layers.with(buyer.tap.clone()).build()
    }
}

impl Told {
    async fn of(ended: Ended) -> Self {
        match ended {
            Ok(response) => {
                let status = response.status();
                let end = Report::of(response.extensions()).map(|report| report.end.clone());
                let whole = response.bytes().await.is_ok();
                Self {
                    status: Some(status.as_u16()),
                    end,
                    good: status.is_success() && whole,
                }
            }
            Err(error) => Self {
                status: None,
                end: paywait::Error::find(&error).map(|error| error.end().clone()),
                good: false,
            },
        }
    }
}

impl Around {
    pub(crate) const ALL: [Self; 14] = [
        Self::Retry,
        Self::RetryAll,
        Self::RetryUnder,
        Self::RetryAllUnder,
        Self::RetryAllBetween,
        Self::Plain,
        Self::PlainPayAlone,
        Self::Rebuilt,
        Self::Slow,
        Self::Cloned,
        Self::Spawned,
        Self::Joined,
        Self::Backon,
        Self::Cut,
    ];

    /// Returns whether calls of this loop meet a call of the same key.
    pub(crate) const fn meets_itself(self) -> bool {
        matches!(self, Self::Joined | Self::Cut)
    }

    /// Returns whether it may leave off at an end that another turn would mend: it takes that end as
    /// final, or is no loop around the call.
    pub(crate) const fn leaves_off(self) -> bool {
        matches!(self, Self::Retry | Self::PlainPayAlone) || self.is_under()
    }

    /// Returns whether it sends what we sent once more, unseen.
    pub(crate) const fn is_under(self) -> bool {
        matches!(
            self,
            Self::RetryUnder | Self::RetryAllUnder | Self::RetryAllBetween
        )
    }

    /// Runs the loop, and returns what its turns were told, the last one last.
    pub(crate) async fn run(self, buyer: &Buyer, target: &Target) -> Vec<Told> {
        let client = target.client(self, buyer);
        match self {
            Self::Retry
            | Self::RetryAll
            | Self::RetryUnder
            | Self::RetryAllUnder
            | Self::RetryAllBetween => vec![target.turn(&client).await],
            Self::Plain | Self::PlainPayAlone => turns(async || target.turn(&client).await).await,
            Self::Rebuilt => turns(async || target.turn(&target.client(self, buyer)).await).await,
            Self::Slow => {
                turns(async || {
                    let told = target.turn(&client).await;
                    target.clock.advance(Duration::from_secs(400));
                    told
                })
                .await
            }
            Self::Cloned => cloned(&client, target).await,
            Self::Spawned => turns(async || spawned(&client, target).await).await,
            Self::Joined => {
                let one = turns(async || target.turn(&client).await);
                let other = turns(async || target.turn(&client).await);
                let (mut one, mut other) = tokio::join!(one, other);
                let last = [one.pop(), other.pop()];
                one.into_iter()
                    .chain(other)
                    .chain(last.into_iter().flatten())
                    .collect()
            }
            Self::Backon => backed_on(&client, target).await,
            Self::Cut => cut(&client, target).await,
        }
    }
}

/// Takes turns until one is good.
async fn turns(mut turn: impl AsyncFnMut() -> Told) -> Vec<Told> {
    let mut all = Vec::new();
    for _ in 0..TURNS {
        let told = turn().await;
        let good = told.good;
        all.push(told);
        if good {
            break;
        }
    }
    all
}

async fn cloned(client: &ClientWithMiddleware, target: &Target) -> Vec<Told> {
    let request = target.request();
    let mut extensions = target.extensions();
    turns(async || {
        let copy = request.try_clone().unwrap();
        Told::of(target.call_with(client, copy, &mut extensions).await).await
    })
    .await
}

async fn spawned(client: &ClientWithMiddleware, target: &Target) -> Told {
    let (client, target) = (client.clone(), target.clone());
    let turn = tokio::spawn(async move { target.turn(&client).await });
    turn.await.unwrap()
}

async fn backed_on(client: &ClientWithMiddleware, target: &Target) -> Vec<Told> {
    let turn = async || {
        let told = target.turn(client).await;
        if told.good { Ok(told) } else { Err(told) }
    };
    let policy = ConstantBuilder::default()
        .with_delay(Duration::from_millis(1))
        .with_max_times(TURNS - 1);
    let told = turn.retry(policy).await;
    vec![told.unwrap_or_else(|told| told)]
}

/// Drops calls in the middle, and lets the last ones end.
async fn cut(client: &ClientWithMiddleware, target: &Target) -> Vec<Told> {
    let mut all = Vec::new();
    for patience in [2, 4, 7, 11, 16, 30, 60, 120] {
        let patience = Duration::from_millis(patience);
        // what was handed out is not asked for again, so its body is read in any case
        let Ok(ended) = timeout(patience, target.call(client)).await else {
            continue;
        };
        let told = Told::of(ended).await;
        let good = told.good;
        all.push(told);
        if good {
            return all;
        }
    }
    all.extend(turns(async || target.turn(client).await).await);
    all
}

/// `reqwest-retry` that repeats on everything that is no success.
fn retry_all() -> RetryTransientMiddleware<ExponentialBackoff, All> {
    let policy = ExponentialBackoff::builder()
        .retry_bounds(Duration::from_millis(1), Duration::from_millis(2))
        .jitter(Jitter::None)
        .build_with_max_retries(RETRIES);
    RetryTransientMiddleware::new_with_policy_and_strategy(policy, All)
}

struct All;

impl RetryableStrategy for All {
    fn handle(&self, ended: &Ended) -> Option<Retryable> {
        let good = ended
            .as_ref()
            .is_ok_and(|response| response.status().is_success());
        (!good).then_some(Retryable::Transient)
    }
}

/// A loop of a caller's own takes so many turns.
pub(crate) const TURNS: usize = 5;

/// `reqwest-retry` comes back so often.
pub(crate) const RETRIES: u32 = 4;
