//! async-openai over our client, with its own retry loop around it: a paid completion is bought once.

use std::time::Duration;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use async_openai::middleware::retry::OpenAIRetryLayer;
use http::{Extensions, StatusCode};
use paywait::{Clock, Namespace, PurchaseName, Scope};
use paywait_seller::{Canned, Route, Step};
use reqwest_middleware::ClientWithMiddleware;
use serde_json::{Value, json};
use support::buyer::{Buyer, Ours};
use support::shop::{Stand, terms, upfront};
use support::signer::CountingSigner;
use tokio::task::{JoinSet, LocalSet};
use tower::{Layer as _, service_fn};

use crate::around::Naming;
use crate::sales::Kind;

/// What a program that uses the SDK gets to see.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    /// A completion.
    Completion,
    /// The status of a refusal: its report has gone.
    Status(u16),
    /// A refusal whose body the SDK could not read: its status has gone too.
    Unreadable,
    /// An end of ours, in the error.
    End(Kind),
    Other(String),
}

impl Seen {
    fn of(answered: Result<Value, OpenAIError>) -> Self {
        let Err(error) = answered else {
            return Self::Completion;
        };
        let end = paywait::Error::find(&error).map(|error| Kind::of(error.end()));
        match (end, error) {
            (Some(end), OpenAIError::Boxed(_)) => Self::End(end),
            (None, OpenAIError::ApiError(error)) => Self::Status(error.status_code.as_u16()),
            (None, OpenAIError::JSONDeserialize(..)) => Self::Unreadable,
            (_, error) => Self::Other(error.to_string()),
        }
    }
}

/// The SDK as a program sets it up: its own loop, which is its default one, around our client.
fn sdk(client: ClientWithMiddleware, base: String, naming: Naming) -> Client<OpenAIConfig> {
    let send = service_fn(move |factory: HttpRequestFactory| {
        let client = client.clone();
        async move {
            let request = factory.build().await?;
            let mut extensions = Extensions::new();
            if naming == Naming::Name {
                extensions.insert(PurchaseName::new("order-17"));
            }
            let sent = client.execute_with_extensions(request, &mut extensions);
            sent.await
                .map_err(|error| OpenAIError::Boxed(Box::new(error)))
        }
    });
    let config = OpenAIConfig::new().with_api_key("none").with_api_base(base);
    Client::with_config(config).with_http_service(OpenAIRetryLayer::default().layer(send))
}

/// A seller of completions: what it does with who pays, what a program sees, and whether it takes
/// the money.
#[derive(Clone)]
struct Sale {
    name: &'static str,
    route: Route,
    seen: &'static [Seen],
    settles: bool,
    /// Whether the buyer's signer works.
    signs: bool,
}

impl Sale {
    fn of(name: &'static str, route: Route, seen: &'static [Seen]) -> Self {
        Self {
            name,
            route: route.handler(completion()),
            seen,
            settles: true,
            signs: true,
        }
    }

    fn takes_nothing(mut self) -> Self {
        self.settles = false;
        self
    }
}

fn completion() -> Canned {
    let body = json!({ "object": "chat.completion", "choices": [] });
    Canned::json(StatusCode::OK, body.to_string())
}

/// A refusal in the words of OpenAI.
fn refusal(status: StatusCode, kind: &str, code: &str) -> Canned {
    let error = json!({ "message": "no", "type": kind, "param": null, "code": code });
    Canned::json(status, json!({ "error": error }).to_string())
}

fn sales() -> Vec<Sale> {
    let paid = |step: Step| Route::new(PATH, upfront()).paid_script(vec![step; 200]);
    let later = |step: Step| Route::new(PATH, terms()).paid_script(vec![step; 200]);
    let limited = refusal(
        StatusCode::TOO_MANY_REQUESTS,
        "requests",
        "rate_limit_exceeded",
    );
    let quota = refusal(
        StatusCode::TOO_MANY_REQUESTS,
        "insufficient_quota",
        "insufficient_quota",
    );
    let error = refusal(StatusCode::INTERNAL_SERVER_ERROR, "server_error", "oops");
    let reset = Route::new(PATH, upfront()).paid_script(vec![Step::normal().reset(); 2]);
    let pending = Step::pending(Duration::from_secs(30));
    let dear = Step::normal().price(alloy_primitives::U256::from(1_000_000));
    let mut locked = Sale::of("signer fails", paid(Step::normal()), &[Seen::Unreadable]);
    locked.signs = false;
    vec![
        Sale::of("sells", paid(Step::normal()), &[Seen::Completion]),
        Sale::of("resets twice", reset, &[Seen::Completion]),
        Sale::of(
            "settles, resets",
            paid(Step::normal().reset()),
            &[Seen::End(Kind::Unknown)],
        ),
        Sale::of(
            "429 and receipt",
            paid(Step::settled(limited.clone())),
            &[Seen::Status(429), Seen::End(Kind::Paid), Seen::Unreadable],
        ),
        Sale::of(
            "429 quota",
            paid(Step::settled(quota)),
            &[Seen::Status(429)],
        ),
        Sale::of(
            "500 and receipt",
            paid(Step::settled(error.clone())),
            &[Seen::Status(500), Seen::End(Kind::Paid), Seen::Unreadable],
        ),
        Sale::of(
            "500, no receipt",
            paid(Step::settled_silently(error.clone())),
            &[
                Seen::Status(500),
                Seen::End(Kind::Unknown),
                Seen::Unreadable,
            ],
        ),
        Sale::of("402 pending", paid(pending), &[Seen::Unreadable]),
        Sale::of(
            "402 fetch failed",
            paid(Step::settle_failed_but_moved("fetch failed")),
            &[Seen::Unreadable],
        ),
        Sale::of(
            "429, nothing taken",
            later(Step::verified(limited)),
            &[
                Seen::Status(429),
                Seen::End(Kind::Unknown),
                Seen::Unreadable,
            ],
        )
        .takes_nothing(),
        Sale::of(
            "500, nothing taken",
            later(Step::verified(error)),
            &[
                Seen::Status(500),
                Seen::End(Kind::Unknown),
                Seen::Unreadable,
            ],
        )
        .takes_nothing(),
        Sale::of(
            "too dear",
            Route::new(PATH, upfront()).script(vec![dear; 200]),
            &[Seen::Unreadable],
        )
        .takes_nothing(),
        locked.takes_nothing(),
    ]
}

/// What came of a program that asks up to `turns` times until it gets a completion.
async fn run(sale: Sale, naming: Naming, turns: usize) -> Option<String> {
    let stand = Stand::open([sale.route.clone()]).await;
    let fails = if sale.signs { 0 } else { usize::MAX };
    let buyer = Buyer::new(&stand.clock).signer(CountingSigner::random().failing(fails));
    let client = buyer.client(&[Ours::Retry, Ours::Pay, Ours::Pace]);
    let sdk = sdk(client, stand.url("/v1"), naming);
    let question = json!({ "model": "m", "messages": [{ "role": "user", "content": "?" }] });
    let mut seen = Vec::new();
    for _ in 0..turns {
        let answered = match naming {
            Naming::Scope => {
                let scope = Scope::new().with(Namespace::new("task-4"));
                scope
                    .run(async { sdk.chat().create_byot(question.clone()).await })
                    .await
            }
            Naming::Name | Naming::Not => sdk.chat().create_byot(question.clone()).await,
        };
        seen.push(Seen::of(answered));
        if seen.last() == Some(&Seen::Completion) {
            break;
        }
    }
    let counts = (stand.nonces(), stand.settlements());
    let used = buyer.ledger.used_today(stand.clock.now());
    println!(
        "{:<18} {naming:<6?} {:>5} {:>5} {:>5} {:>6} {:>6} {:>7} {:>5} {:?}",
        sale.name,
        seen.len(),
        stand.sends(),
        stand.paid_sends(),
        buyer.signer.asked(),
        counts.0,
        counts.1,
        used.to_string(),
        seen,
    );
    let sends = stand.sends() <= turns * 4 * 6 && stand.paid_sends() <= 12;
    let nonces = counts.0 <= 1 && counts.1 == usize::from(sale.settles);
    let told = seen.iter().all(|seen| sale.seen.contains(seen));
    (!sends || !nonces || !told).then(|| format!("{} {naming:?}: {seen:?}", sale.name))
}

async fn table(turns: usize) {
    let here = LocalSet::new();
    let mut rows = JoinSet::new();
    println!("seller             naming turns sends  paid signed nonces settled  held seen");
    for sale in sales() {
        for naming in Naming::ALL {
            rows.spawn_local_on(run(sale.clone(), naming, turns), &here);
        }
    }
    let sins = here.run_until(rows.join_all()).await;
    let sins: Vec<_> = sins.into_iter().flatten().collect();
    assert!(sins.is_empty(), "{}", sins.join("\n"));
}

#[tokio::test]
async fn one_call_of_async_openai_with_its_own_loop_buys_once() {
    table(1).await;
}

#[tokio::test]
async fn a_loop_around_async_openai_with_its_own_loop_buys_once() {
    table(3).await;
}

/// Where completions are sold.
const PATH: &str = "/v1/chat/completions";
