//! What the layers cost without a network: canned answers, all variants side by side in one run.
//!
//! ```sh
//! cargo bench -p paywait --bench stack
//! ```
//!
//! Figures are medians over interleaved batches. Compare them within one run only: the machine's
//! speed differs from run to run, and the ratios do not.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::cast_precision_loss,
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark computes figures and prints them"
)]

use std::hint::black_box;
use std::time::Instant;

use alloy_signer_local::PrivateKeySigner;
use http::{Extensions, HeaderValue};
use paywait::{Limits, Pace, Pay, Retry, Wallet, usd};
use paywait_x402::{Offer, PaymentId, Terms, alloy_primitives::B256};
use reqwest::{Request, Response, ResponseBuilderExt as _, Url};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Middleware, Next, Result};

/// Answers without a network: 200, or 402 with an offer until a payment comes.
struct Canned {
    offer: Option<HeaderValue>,
    receipt: HeaderValue,
}

#[async_trait::async_trait]
impl Middleware for Canned {
    async fn handle(
        &self,
        request: Request,
        _extensions: &mut Extensions,
        _next: Next<'_>,
    ) -> Result<Response> {
        let paid = request.headers().contains_key("payment-signature");
        let answer = http::Response::builder().url(request.url().clone());
        let answer = match &self.offer {
            Some(offer) if !paid => answer
                .status(402)
                .header("payment-required", offer)
                .body("{}"),
            Some(_) => answer
                .header("payment-response", &self.receipt)
                .body("served"),
            None => answer.body("served"),
        };
        Ok(Response::from(answer.unwrap()))
    }
}

/// One thing that is measured.
struct Variant {
    name: &'static str,
    run: Box<dyn Fn()>,
    nanos: Vec<f64>,
    allocations: u64,
}

impl Variant {
    fn new(name: &'static str, run: impl Fn() + 'static) -> Self {
        Self {
            name,
            run: Box::new(run),
            nanos: Vec::new(),
            allocations: 0,
        }
    }

    fn median(&mut self) -> f64 {
        self.nanos.sort_by(f64::total_cmp);
        self.nanos[self.nanos.len() / 2]
    }
}

fn main() {
    let smoke = std::env::args().any(|word| word == "--smoke");
    let (batches, frees, paids) = if smoke { (1, 1, 1) } else { (301, 200, 20) };

    let mut free = variants(None);
    measure(&mut free, batches, frees);
    println!("a free 200, over an empty stack            ns   allocations   ns / signature");
    let signature = signing().median_of(batches, paids);
    let empty = free[0].median();
    let empty_allocations = free[0].allocations;
    for variant in &mut free[1..] {
        let over = variant.median() - empty;
        let more = variant.allocations - empty_allocations;
        println!(
            "{:38} {over:6.0} {more:13} {:16.4}",
            variant.name,
            over / signature
        );
    }

    let mut paid = variants(Some(offer()));
    paid.truncate(6);
    let mut paid = paid.split_off(5);
    measure(&mut paid, batches, paids);
    let micros = paid[0].median() / 1_000.0;
    println!("\na paid call, 402 to 200                    us   allocations   us / signature");
    println!(
        "{:38} {micros:6.1} {:13} {:16.2}",
        paid[0].name,
        paid[0].allocations,
        micros * 1_000.0 / signature,
    );
    println!(
        "{:38} {:6.1}",
        "one signature and its hash alone",
        signature / 1_000.0
    );
}

impl Variant {
    fn median_of(mut self, batches: usize, times: usize) -> f64 {
        measure(std::slice::from_mut(&mut self), batches, times);
        self.median()
    }
}

/// Runs all variants in turn, batch by batch, so that what slows the machine slows all of them.
fn measure(variants: &mut [Variant], batches: usize, times: usize) {
    for variant in &mut *variants {
        (variant.run)();
        variant.allocations = allocation_counter::measure(|| (variant.run)()).count_total;
    }
    for _ in 0..batches {
        for variant in &mut *variants {
            let start = Instant::now();
            for _ in 0..times {
                (variant.run)();
            }
            variant
                .nanos
                .push(start.elapsed().as_nanos() as f64 / times as f64);
        }
    }
}

fn variants(offer: Option<HeaderValue>) -> Vec<Variant> {
    let bare = || ClientBuilder::new(paywait::http_client().unwrap());
    let pay = || {
        let limits = Limits::per_call(usd("0.05").unwrap()).no_daily_limit();
        Pay::new(Wallet::evm(PrivateKeySigner::random()), limits)
    };
    let stacks = [
        ("empty", bare()),
        ("Retry", bare().with(Retry::default())),
        ("Pay", bare().with(pay())),
        ("Pace", bare().with(Pace::default())),
        ("Retry, Pay", bare().with(Retry::default()).with(pay())),
        (
            "Retry, Pay, Pace",
            bare()
                .with(Retry::default())
                .with(pay())
                .with(Pace::default()),
        ),
    ];
    let call = move |(name, stack): (&'static str, ClientBuilder)| {
        let canned = Canned {
            offer: offer.clone(),
            // {"success":true,"transaction":"0xab","network":"eip155:84532"}
            receipt: HeaderValue::from_static(
                "eyJzdWNjZXNzIjp0cnVlLCJ0cmFuc2FjdGlvbiI6IjB4YWIiLCJuZXR3b3JrIjoiZWlwMTU1Ojg0NTMyIn0=",
            ),
        };
        let client = stack.with(canned).build();
        Variant::new(name, caller(client))
    };
    stacks.into_iter().map(call).collect()
}

fn caller(client: ClientWithMiddleware) -> impl Fn() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let url: Url = "https://seller.example/report".parse().unwrap();
    move || {
        let call = client.get(url.clone()).send();
        let reply = runtime.block_on(call).unwrap();
        assert_eq!(reply.status(), 200);
        black_box(reply);
    }
}

/// What a payment cannot do without: one signature, and the hash that is signed.
fn signing() -> Variant {
    let signer = PrivateKeySigner::random();
    let payer = signer.address();
    let offer = Offer::decode(offer().as_bytes()).unwrap();
    let terms = Terms::new(&offer, 0, payer, B256::ZERO, PaymentId::random(), 9).unwrap();
    Variant::new("signature", move || {
        use alloy_signer::SignerSync as _;
        let hash = terms.authorization().signing_hash(&terms.domain());
        black_box(signer.sign_hash_sync(&hash).unwrap());
    })
}

/// An offer of 0.01 USDC on Base Sepolia, as the published vectors have it.
fn offer() -> HeaderValue {
    HeaderValue::from_static(include_str!("offer.txt").trim_ascii())
}
