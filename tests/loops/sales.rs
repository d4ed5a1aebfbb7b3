//! Sellers that break, refuse or cheat, each in one way, and what a buyer is told in the end.

use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::U256;
use http::{HeaderName, HeaderValue, StatusCode};
use paywait::{End, Ledger, Limits, usd};
use paywait_seller::{Canned, Identifier, Route, Step};
use support::buyer::Buyer;
use support::shop::{slow_down, terms, upfront};
use support::signer::CountingSigner;

use crate::ledger::{Fails, OddLedger};

/// One way to sell, or to fail to.
#[derive(Clone, Debug)]
pub(crate) struct Sale {
    pub(crate) name: &'static str,
    pub(crate) route: Route,
    /// Whether it takes the money of whoever pays.
    pub(crate) settles: bool,
    /// How the last call of a loop may end that has met it.
    pub(crate) ends: &'static [Kind],
    /// How the calls before may end besides.
    pub(crate) on_the_way: &'static [Kind],
    /// What is odd on the buyer's side.
    pub(crate) buyer: Odd,
    /// The time that the client has for each send.
    pub(crate) timeout: Duration,
}

/// What is odd on the buyer's side.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Odd {
    Nothing,
    /// Less may be spent in a day than the price.
    Limit,
    Signer(usize),
    Ledger(Fails, usize),
}

/// The end of a call, without what is in it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Unseen,
    Served,
    /// Stopped, exhausted or deferred, or no answer: an end without money.
    Refused,
    NotPaid,
    Paid,
    Unknown,
    InFlight,
    Spent,
}

impl Kind {
    pub(crate) fn of(end: &End) -> Self {
        match end {
            End::Unseen => Self::Unseen,
            End::Served => Self::Served,
            End::Stopped(_) | End::Exhausted(_) | End::Deferred(_) | End::Unanswered => {
                Self::Refused
            }
            End::NotPaid(_) => Self::NotPaid,
            End::PaidNotDelivered => Self::Paid,
            End::OutcomeUnknown => Self::Unknown,
            End::InFlight => Self::InFlight,
            End::KeySpent => Self::Spent,
            other => panic!("an end that is not known here: {other}"),
        }
    }
}

impl Sale {
    /// A seller that takes the money first and then goes through `steps`.
    fn of(name: &'static str, steps: Vec<Step>, ends: &'static [Kind]) -> Self {
        Self {
            name,
            route: Route::new("/report", upfront()).paid_script(steps),
            settles: true,
            ends,
            on_the_way: &[],
            buyer: Odd::Nothing,
            timeout: Duration::from_secs(10),
        }
    }

    fn known_by_identifier(mut self) -> Self {
        self.route = self.route.identifier(Identifier::Optional);
        self
    }

    const fn takes_nothing(mut self) -> Self {
        self.settles = false;
        self
    }

    const fn on_the_way(mut self, ends: &'static [Kind]) -> Self {
        self.on_the_way = ends;
        self
    }

    const fn buyer(mut self, odd: Odd) -> Self {
        self.buyer = odd;
        self
    }

    /// Returns a buyer for it.
    pub(crate) fn prepare(&self, buyer: Buyer) -> Buyer {
        match self.buyer {
            Odd::Nothing => buyer,
            Odd::Limit => {
                let dollars = |amount| usd(amount).unwrap();
                let limits = Limits::per_call(dollars("0.05")).per_day(dollars("0.005"));
                buyer.ledger.register(&limits);
                buyer
            }
            Odd::Signer(times) => buyer.signer(CountingSigner::random().failing(times)),
            Odd::Ledger(fails, times) => {
                let books = OddLedger::failing(&buyer.ledger, fails, times);
                buyer.books(Arc::new(books))
            }
        }
    }
}

/// Returns all sellers.
pub(crate) fn all() -> Vec<Sale> {
    let mut sales = breaking();
    sales.extend(refusing());
    sales.extend(taking_nothing());
    sales.extend(odd_buyers());
    sales
}

/// They take the money, and no answer comes, or half of one.
fn breaking() -> Vec<Sale> {
    let late = Step::normal().late(Duration::from_millis(450));
    let open = &[Kind::Unknown];
    let mut then_used = always(Step::settle_failed("nonce_already_used"));
    then_used.insert(0, Step::normal().reset());
    let mut slow = Sale::of("settles, late", vec![late; 3], &[Kind::Served]);
    // where this machine is busy, the price may come late too
    slow.on_the_way = &[Kind::Unknown, Kind::Refused];
    slow.timeout = Duration::from_millis(150);
    vec![
        Sale::of(
            "settles, resets",
            always(Step::normal().reset()),
            &[Kind::Unknown],
        ),
        Sale::of(
            "resets twice",
            vec![Step::normal().reset(); 2],
            &[Kind::Served],
        )
        .on_the_way(open),
        Sale::of(
            "resets twice, id",
            vec![Step::normal().reset(); 2],
            &[Kind::Served],
        )
        .on_the_way(open)
        .known_by_identifier(),
        Sale::of("resets, then used", then_used, &[Kind::Paid]).on_the_way(open),
        slow,
        Sale::of(
            "half a body",
            always(Step::normal().half_body()),
            &[Kind::Paid],
        ),
        Sale::of(
            "half a body, id",
            vec![Step::normal().half_body()],
            &[Kind::Served],
        )
        .on_the_way(&[Kind::Paid])
        .known_by_identifier(),
        Sale::of(
            "200, bad receipt",
            always(Step::settled_silently(bad_receipt())),
            &[Kind::Served],
        ),
    ]
}

/// They take the money and refuse.
fn refusing() -> Vec<Sale> {
    let error = Canned::new(StatusCode::INTERNAL_SERVER_ERROR);
    let gateway = Canned::new(StatusCode::BAD_GATEWAY);
    let pending = Step::pending(Duration::from_secs(30));
    vec![
        Sale::of(
            "429 and receipt",
            always(Step::settled(slow_down())),
            &[Kind::Paid],
        ),
        Sale::of(
            "429, no receipt",
            always(Step::settled_silently(slow_down())),
            &[Kind::Unknown],
        ),
        Sale::of(
            "500 and receipt",
            always(Step::settled(error.clone())),
            &[Kind::Paid],
        ),
        Sale::of(
            "500, no receipt",
            always(Step::settled_silently(error)),
            &[Kind::Unknown],
        ),
        Sale::of(
            "502, no receipt",
            always(Step::settled_silently(gateway)),
            &[Kind::Unknown],
        ),
        Sale::of(
            "pending for ever",
            always(pending.clone()),
            &[Kind::Unknown],
        ),
        Sale::of("pending once", vec![pending], &[Kind::Served]).on_the_way(&[Kind::Unknown]),
        Sale::of(
            "402 fetch failed",
            always(Step::settle_failed_but_moved("fetch failed")),
            &[Kind::Unknown],
        ),
        Sale::of(
            "402 new offer",
            always(Step::refused_but_moved("No matching payment requirements")),
            &[Kind::Refused, Kind::Unknown],
        ),
        Sale::of(
            "402 no funds",
            always(Step::refused_but_moved("insufficient_funds")),
            &[Kind::Refused, Kind::Unknown],
        ),
    ]
}

/// They take nothing.
fn taking_nothing() -> Vec<Sale> {
    let busy = Canned::new(StatusCode::SERVICE_UNAVAILABLE);
    let error = Canned::new(StatusCode::INTERNAL_SERVER_ERROR);
    let authorizing = |steps| Route::new("/report", terms()).paid_script(always(steps));
    let mut throttled = Sale::of("429, nothing taken", Vec::new(), &[Kind::Unknown]);
    throttled.route = authorizing(Step::verified(slow_down()));
    let mut broken = Sale::of("500, nothing taken", Vec::new(), &[Kind::Unknown]);
    broken.route = authorizing(Step::verified(error));
    let mut closed = Sale::of("503 before all", Vec::new(), &[Kind::Refused]);
    closed.route = closed.route.script(always(Step::reply(busy.clone())));
    let mut opens = Sale::of("503 thrice", Vec::new(), &[Kind::Served]);
    opens.route = opens.route.script(vec![Step::reply(busy); 3]);
    let used = Step::settle_failed("nonce_already_used");
    vec![
        throttled.takes_nothing(),
        broken.takes_nothing(),
        closed.takes_nothing(),
        opens.on_the_way(&[Kind::Refused]),
        Sale::of("402 nonce used", always(used), &[Kind::Paid, Kind::Spent]).takes_nothing(),
    ]
}

/// The seller is a model one, and the buyer is not.
fn odd_buyers() -> Vec<Sale> {
    let odd = |name, ends, odd| Sale::of(name, Vec::new(), ends).buyer(odd);
    let mut dear = Sale::of("too dear", Vec::new(), &[Kind::NotPaid]).takes_nothing();
    let price = Step::normal().price(U256::from(1_000_000));
    dear.route = Route::new("/report", upfront()).script(always(price));
    let persist = |times| Odd::Ledger(Fails::Persist, times);
    let unheard = Odd::Ledger(Fails::PersistUnheard, 1);
    let not_paid = &[Kind::NotPaid];
    vec![
        dear,
        odd("no room today", &[Kind::NotPaid], Odd::Limit).takes_nothing(),
        odd("signer fails", &[Kind::NotPaid], Odd::Signer(ALWAYS)).takes_nothing(),
        odd("signer fails once", &[Kind::Served], Odd::Signer(1)).on_the_way(not_paid),
        odd(
            "no intent",
            &[Kind::NotPaid],
            Odd::Ledger(Fails::Intend, ALWAYS),
        )
        .takes_nothing(),
        odd("bytes not written", &[Kind::NotPaid], persist(ALWAYS)).takes_nothing(),
        odd("bytes lost once", &[Kind::Served], persist(1)).on_the_way(not_paid),
        odd("bytes unheard of", &[Kind::Served], unheard).on_the_way(not_paid),
        odd(
            "nothing noted",
            &[Kind::Served],
            Odd::Ledger(Fails::Note, ALWAYS),
        ),
    ]
}

fn bad_receipt() -> Canned {
    let name = HeaderName::from_static("payment-response");
    let receipt = HeaderValue::from_static("%%% no base64 %%%");
    Canned::json(StatusCode::OK, r#"{"ok":true}"#).header(name, receipt)
}

fn always(step: Step) -> Vec<Step> {
    vec![step; ALWAYS]
}

/// More often than any loop here comes.
const ALWAYS: usize = 1_000;
