//! What the layers cost where nothing is sent: every answer is canned, so that a call's time is the
//! stack's own.
//!
//! ```sh
//! cargo bench -p paywait --bench stack
//! ```
//!
//! All variants take turns in one run, batch by batch, and a line is the median of its batches.
//! Figures of two runs are not to be compared; ratios within one are. `-- --smoke` runs everything
//! once and measures nothing worth reading.
//!
//! The allocator that counts costs some two nanoseconds an allocation while it does not count. All
//! variants pay that alike.
#![expect(clippy::print_stdout, reason = "the table is what a bench is for")]

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use alloy_signer::Signer as _;
use alloy_signer_local::PrivateKeySigner;
use alloy_sol_types::{eip712_domain, sol};
use http::{Extensions, HeaderValue};
use paywait::alloy_primitives::{B256, U256, address};
use paywait::{Limits, Pace, Pay, Retry, Wallet, usd};
use reqwest::{Request, Response, ResponseBuilderExt as _, StatusCode, Url};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Middleware, Next};
use tokio::runtime::{Builder, Runtime};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let says = |flag| std::env::args().any(|argument| argument == flag);
    // `cargo bench` says `--bench`; `cargo test --all-targets` does not, and has no time
    let effort = if says("--bench") && !says("--smoke") {
        Effort::FULL
    } else {
        Effort::SMOKE
    };

    let runtime = Builder::new_current_thread().enable_time().build()?;
    let url = Url::parse("https://seller.example/report")?;
    let mut free = free(&runtime, &url)?;
    let mut paid = paid(&runtime, &url)?;
    measure(&mut free, effort.batches, effort.free_calls);
    measure(&mut paid, effort.batches, effort.paid_calls);

    table("free 200", &mut free);
    table("402 to 200 with receipt", &mut paid);
    Ok(())
}

/// How often everything is done.
struct Effort {
    batches: u32,
    free_calls: u32,
    paid_calls: u32,
}

impl Effort {
    const FULL: Self = Self {
        batches: 300,
        free_calls: 300,
        paid_calls: 10,
    };
    const SMOKE: Self = Self {
        batches: 1,
        free_calls: 1,
        paid_calls: 1,
    };
}

/// One line of a table: something to do so many times, and what that took.
struct Variant<'a> {
    name: &'static str,
    run: Box<dyn FnMut(u32) + 'a>,
    times: Vec<Duration>,
    allocations: u64,
}

impl<'a> Variant<'a> {
    fn new(name: &'static str, run: impl FnMut(u32) + 'a) -> Self {
        Self {
            name,
            run: Box::new(run),
            times: Vec::new(),
            allocations: 0,
        }
    }

    /// Calls that must end with 200.
    fn calls(
        name: &'static str,
        runtime: &'a Runtime,
        url: &'a Url,
        client: ClientWithMiddleware,
    ) -> Self {
        Self::new(name, move |times| {
            runtime.block_on(async {
                for _ in 0..times {
                    let reply = client.get(url.clone()).send().await;
                    assert!(reply.is_ok_and(|reply| reply.status() == StatusCode::OK));
                }
            });
        })
    }

    fn median(&mut self) -> Duration {
        self.times.sort_unstable();
        let middle = self.times.len() / 2;
        self.times.get(middle).copied().unwrap_or_default()
    }
}

/// Counts each variant's allocations, then times all of them in turns.
fn measure(variants: &mut [Variant<'_>], batches: u32, calls: u32) {
    for variant in &mut *variants {
        // the first calls fill caches and learn the origin
        (variant.run)(calls);
        let idle = allocation_counter::measure(|| (variant.run)(0));
        let busy = allocation_counter::measure(|| (variant.run)(calls));
        let of_calls = busy.count_total.saturating_sub(idle.count_total);
        variant.allocations = of_calls.checked_div(u64::from(calls)).unwrap_or(0);
    }
    for _ in 0..batches {
        for variant in &mut *variants {
            allocation_counter::opt_out(|| {
                let start = Instant::now();
                (variant.run)(calls);
                variant.times.extend(start.elapsed().checked_div(calls));
            });
        }
    }
}

/// Prints each line's median beside the first line's.
fn table(title: &str, variants: &mut [Variant<'_>]) {
    let first = variants
        .first_mut()
        .map(Variant::median)
        .unwrap_or_default();
    println!(
        "{title:<34} {:>10} {:>10} {:>6} {:>6}",
        "time", "over first", "ratio", "allocs"
    );
    for variant in variants {
        let median = variant.median();
        println!(
            "{:<34} {:>10} {:>10} {:>6.2} {:>6}",
            variant.name,
            shown(median),
            shown(median.saturating_sub(first)),
            median.div_duration_f64(first),
            variant.allocations,
        );
    }
    println!();
}

fn shown(time: Duration) -> String {
    if time < Duration::from_micros(10) {
        format!("{} ns", time.as_nanos())
    } else {
        format!("{:.1} us", time.div_duration_f64(Duration::from_micros(1)))
    }
}

/// A call that is served at once, through each layer alone and through all of them.
fn free<'a>(runtime: &'a Runtime, url: &'a Url) -> Result<Vec<Variant<'a>>> {
    let [retry, pay, pace] = layers()?;
    let stacks = [
        ("empty stack", vec![]),
        ("Retry", vec![&retry]),
        ("Pay", vec![&pay]),
        ("Pace", vec![&pace]),
        ("Retry + Pay + Pace", vec![&retry, &pay, &pace]),
    ];
    let variants = stacks.into_iter().map(|(name, stack)| {
        let client = client(&stack, Canned::free(url))?;
        Ok(Variant::calls(name, runtime, url, client))
    });
    variants.collect()
}

/// A call that is paid for, beside what nobody can do without: one signature.
fn paid<'a>(runtime: &'a Runtime, url: &'a Url) -> Result<Vec<Variant<'a>>> {
    let [retry, pay, pace] = layers()?;
    let paid = Canned::paid(url);
    let pay_alone = client(&[&pay], paid.clone())?;
    let all = client(&[&retry, &pay, &pace], paid)?;
    Ok(vec![
        signature(runtime),
        Variant::calls("Pay", runtime, url, pay_alone),
        Variant::calls("Retry + Pay + Pace", runtime, url, all),
    ])
}

type Layer = Arc<dyn Middleware>;

fn layers() -> Result<[Layer; 3]> {
    let wallet = Wallet::evm(PrivateKeySigner::random());
    let limits = Limits::per_call(usd("0.05")?).no_daily_limit();
    Ok([
        Arc::new(Retry::default()),
        Arc::new(Pay::new(wallet, limits)),
        Arc::new(Pace::default()),
    ])
}

fn client(layers: &[&Layer], innermost: Canned) -> Result<ClientWithMiddleware> {
    let empty = ClientBuilder::new(paywait::http_client()?);
    let stack = layers
        .iter()
        .fold(empty, |stack, layer| stack.with_arc(Arc::clone(layer)));
    Ok(stack.with(innermost).build())
}

/// One signature of what a payment signs, by the signer alone.
fn signature(runtime: &Runtime) -> Variant<'_> {
    sol! {
        /// What EIP-3009 has a payer sign.
        struct TransferWithAuthorization {
            address from;
            address to;
            uint256 value;
            uint256 validAfter;
            uint256 validBefore;
            bytes32 nonce;
        }
    }

    let signer = PrivateKeySigner::random();
    let domain = eip712_domain! {
        name: "USDC",
        version: "2",
        chain_id: 84_532,
        verifying_contract: address!("036CbD53842c5426634e7929541eC2318f3dCF7e"),
    };
    let transfer = TransferWithAuthorization {
        from: signer.address(),
        to: address!("2222222222222222222222222222222222222222"),
        value: U256::from(10_000),
        validAfter: U256::ZERO,
        validBefore: U256::from(1_800_000_000),
        nonce: B256::repeat_byte(7),
    };
    Variant::new("one signature (sign_typed_data)", move |times| {
        runtime.block_on(async {
            for _ in 0..times {
                let signed = signer.sign_typed_data(black_box(&transfer), &domain).await;
                assert!(black_box(signed).is_ok());
            }
        });
    })
}

/// The innermost layer: it answers in the server's place.
#[derive(Clone)]
struct Canned {
    url: Url,
    /// The offer, and the receipt of whoever pays; without them everything is free.
    price: Option<(HeaderValue, HeaderValue)>,
}

impl Canned {
    fn free(url: &Url) -> Self {
        Self {
            url: url.clone(),
            price: None,
        }
    }

    fn paid(url: &Url) -> Self {
        let header = HeaderValue::from_static;
        Self {
            url: url.clone(),
            price: Some((header(OFFER), header(RECEIPT))),
        }
    }

    fn answer(&self, request: &Request) -> Result<Response> {
        let reply = http::Response::builder().url(self.url.clone());
        let pays = request.headers().contains_key("payment-signature");
        let reply = match &self.price {
            None => reply,
            Some((_, receipt)) if pays => reply.header("payment-response", receipt),
            Some((offer, _)) => reply
                .status(StatusCode::PAYMENT_REQUIRED)
                .header("payment-required", offer),
        };
        let reply = reply.header("content-type", "application/json");
        Ok(Response::from(reply.body(r#"{"report":"ready"}"#)?))
    }
}

#[async_trait::async_trait]
impl Middleware for Canned {
    async fn handle(
        &self,
        request: Request,
        _extensions: &mut Extensions,
        _next: Next<'_>,
    ) -> reqwest_middleware::Result<Response> {
        let answer = self.answer(&request);
        answer.map_err(|error| reqwest_middleware::Error::Middleware(anyhow::anyhow!("{error}")))
    }
}

/// 0.01 USDC on Base Sepolia, from a seller that takes payment identifiers.
const OFFER: &str = include_str!("offer.txt").trim_ascii();

/// `{"success":true,"transaction":"0xab","network":"eip155:84532"}`
const RECEIPT: &str =
    "eyJzdWNjZXNzIjp0cnVlLCJ0cmFuc2FjdGlvbiI6IjB4YWIiLCJuZXR3b3JrIjoiZWlwMTU1Ojg0NTMyIn0=";
