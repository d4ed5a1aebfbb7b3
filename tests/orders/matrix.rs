//! All orders of ours, each kind of foreign layer at each of the four places.

use http::StatusCode;
use paywait::End;
use paywait_seller::{Canned, Route, Step};
use reqwest_middleware::ClientWithMiddleware;
use support::buyer::{Buyer, Ours, bare, report, status};
use support::foreign::Foreign;
use support::shop::{Stand, slow_down, terms, upfront};

/// Where a foreign layer stands, from the outside.
const PLACES: [&str; 4] = ["outermost", "second", "third", "innermost"];

/// What a seller does wrong, and how many requests that takes.
const SINS: [(&str, usize); 3] = [
    ("none", 2),
    ("takes the money, then says 429", 3),
    ("takes the money, then resets", 3),
];

/// What came of one call, on both sides.
#[derive(Debug, Eq, PartialEq)]
struct Outcome {
    physical: usize,
    reported: usize,
    admissions: u64,
    nonces: usize,
    settlements: usize,
    signatures: usize,
    status: Option<u16>,
}

fn route(sin: &str) -> Route {
    match sin {
        "takes the money, then says 429" => {
            Route::new("/report", upfront()).paid_script([Step::settled(slow_down())])
        }
        "takes the money, then resets" => {
            Route::new("/report", upfront()).paid_script([Step::normal().reset()])
        }
        _ => Route::new("/report", terms()),
    }
}

fn stack(buyer: &Buyer, order: [Ours; 3], foreign: Foreign, place: usize) -> ClientWithMiddleware {
    let mut layers = bare();
    for (nth, ours) in order.into_iter().enumerate() {
        if nth == place {
            layers = foreign.attach(layers);
        }
        layers = buyer.attach(layers, ours);
    }
    if place == order.len() {
        layers = foreign.attach(layers);
    }
    layers.with(buyer.tap.clone()).build()
}

async fn outcome(sin: &str, order: [Ours; 3], foreign: Foreign, place: usize) -> Outcome {
    let stand = Stand::open([route(sin)]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = stack(&buyer, order, foreign, place);

    let ended = client.get(stand.url("/report")).send().await;

    let told = report(&ended).unwrap_or_else(|| panic!("no report: {ended:?}"));
    assert_eq!(told.end, End::Served, "{told:?}");
    assert!(buyer.tap.shows_one_payment());
    assert_eq!(buyer.tap.requests(), stand.sends());
    Outcome {
        physical: stand.sends(),
        reported: told.sends.len(),
        admissions: buyer.store.admissions(),
        nonces: stand.nonces(),
        settlements: stand.settlements(),
        signatures: buyer.signer.asked(),
        status: status(&ended),
    }
}

/// What must come of it. A foreign layer that sends by itself takes sends off the loop: all of them
/// are admitted as long as a layer of ours stands inside it. Inside all of ours it cannot be seen;
/// its sends show the same bytes all the same.
fn expected(takes: usize, foreign: Foreign, place: usize) -> Outcome {
    let retries_itself = foreign == Foreign::Retry && place > 0;
    let by_the_loop = if retries_itself { 2 } else { takes };
    let admitted = if place == 3 { by_the_loop } else { takes };
    Outcome {
        physical: takes,
        reported: by_the_loop,
        admissions: u64::try_from(admitted).unwrap(),
        nonces: 1,
        settlements: 1,
        signatures: 1,
        status: Some(StatusCode::OK.as_u16()),
    }
}

#[tokio::test]
async fn in_any_order_and_company_a_call_is_one_loop_and_pays_once() {
    println!(
        "{:<20} {:<8} {:<10} {:<31} sends reported admissions nonces settlements status",
        "order", "foreign", "place", "the seller's sin"
    );
    let mut wrong = Vec::new();
    let mut rows = 0_usize;
    for order in Ours::ORDERS {
        for foreign in Foreign::ALL {
            for (place, name) in PLACES.into_iter().enumerate() {
                for (sin, takes) in SINS {
                    let got = outcome(sin, order, foreign, place).await;
                    let row = format!(
                        "{:<20} {:<8} {name:<10} {sin:<31} {:>5} {:>8} {:>10} {:>6} {:>11} {:>6}",
                        order.map(|ours| format!("{ours:?}")).join(" > "),
                        format!("{foreign:?}"),
                        got.physical,
                        got.reported,
                        got.admissions,
                        got.nonces,
                        got.settlements,
                        got.status.unwrap_or_default(),
                    );
                    println!("{row}");
                    rows += 1;
                    if got != expected(takes, foreign, place) {
                        wrong.push(row);
                    }
                }
            }
        }
    }
    assert_eq!(rows, 6 * 4 * 4 * 3);
    assert!(wrong.is_empty(), "wrong:\n{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_refusal_before_the_paywall_is_waited_out_in_any_order_and_company() {
    let busy = Canned::new(StatusCode::SERVICE_UNAVAILABLE);
    for order in Ours::ORDERS {
        for foreign in Foreign::ALL {
            for place in 0..PLACES.len() {
                let steps = [Step::reply(slow_down()), Step::reply(busy.clone())];
                let route = Route::new("/report", terms()).script(steps);
                let stand = Stand::open([route]).await;
                let buyer = Buyer::new(&stand.clock);
                let client = stack(&buyer, order, foreign, place);

                let ended = client.get(stand.url("/report")).send().await;

                let seen = (stand.sends(), stand.nonces(), stand.settlements());
                let where_ = format!("{order:?} {foreign:?} {place}");
                assert_eq!((status(&ended), seen), (Some(200), (4, 1, 1)), "{where_}");
                let unseen = if foreign == Foreign::Retry && place == 3 {
                    2
                } else {
                    0
                };
                assert_eq!(buyer.store.admissions(), 4 - unseen, "{where_}");
            }
        }
    }
}
