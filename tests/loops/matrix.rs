//! Each loop around each seller with each way to name: money moves once at most.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use paywait::{Clock, End, Usd, usd};
use reqwest::Method;
use support::buyer::{Buyer, Ours};
use support::shop::Stand;
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::timeout;

use crate::around::{Around, Naming, RETRIES, TURNS, Target};
use crate::sales::{self, Kind, Odd, Sale};

/// What came of one loop around one seller.
struct Row {
    around: Around,
    sale: &'static str,
    naming: Naming,
    turns: usize,
    sends: usize,
    paid_sends: usize,
    signatures: usize,
    nonces: usize,
    settlements: usize,
    /// In dollars: what counts against the day, on our side.
    held: Usd,
    last: Option<End>,
    status: Option<u16>,
    sins: Vec<String>,
}

impl Row {
    const HEAD: &'static str = "loop            seller              naming turns sends  paid signed nonces settled  held status last end";
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.last.as_ref().map(End::to_string);
        write!(
            f,
            "{:<15} {:<19} {:<6} {:>5} {:>5} {:>5} {:>6} {:>6} {:>7} {:>5} {:>6} {}",
            format!("{:?}", self.around),
            self.sale,
            format!("{:?}", self.naming),
            self.turns,
            self.sends,
            self.paid_sends,
            self.signatures,
            self.nonces,
            self.settlements,
            self.held.to_string(),
            self.status
                .map_or_else(|| "-".to_owned(), |status| status.to_string()),
            last.as_deref()
                .map_or("not told", |last| &last[..last.len().min(48)]),
        )
    }
}

/// Runs one loop around one seller, and says what was wrong.
async fn run(around: Around, sale: Sale, naming: Naming, nth: usize) -> Row {
    let stand = Stand::open([sale.route.clone()]).await;
    let buyer = sale.prepare(Buyer::new(&stand.clock));
    let target = Target {
        url: stand.url("/report"),
        // a POST that got no answer is not sent again before it is paid for
        method: match nth.is_multiple_of(2) || sale.timeout < Duration::from_secs(1) {
            true => Method::GET,
            false => Method::POST,
        },
        naming,
        timeout: sale.timeout,
        order: Ours::ORDERS[nth % Ours::ORDERS.len()],
        clock: Arc::clone(&stand.clock),
    };
    let told = timeout(LONGEST, around.run(&buyer, &target)).await;
    let mut sins = Vec::new();
    let told = told.unwrap_or_else(|_| {
        sins.push("it hangs".to_owned());
        Vec::new()
    });
    let last = told.last().cloned();
    let mut row = Row {
        around,
        sale: sale.name,
        naming,
        turns: told.len(),
        sends: stand.sends(),
        paid_sends: stand.paid_sends(),
        signatures: buyer.signer.asked(),
        nonces: stand.nonces(),
        settlements: stand.settlements(),
        held: buyer.ledger.used_today(stand.clock.now()),
        status: last.as_ref().and_then(|told| told.status),
        last: last.and_then(|told| told.end),
        sins,
    };
    for (nth, told) in told.iter().enumerate() {
        // of two calls at once both are the last
        let is_last = nth + 1 == row.turns || around == Around::Joined && nth + 2 == row.turns;
        if let Some(sin) = wrong_end(around, &sale, is_last, told.end.as_ref()) {
            row.sins.push(sin);
        }
    }
    row.judge(&sale);
    row
}

/// Says what is wrong with how a turn ended, if anything is.
fn wrong_end(around: Around, sale: &Sale, is_last: bool, end: Option<&End>) -> Option<String> {
    let Some(end) = end else {
        return Some("a turn that was told nothing".to_owned());
    };
    let kind = Kind::of(end);
    let is_short = around.leaves_off() || !is_last;
    // who is told that a nonce was used, and did not see that the bytes were shown before
    let mistaken = around.is_under() && kind == Kind::Spent && sale.ends.contains(&Kind::Paid);
    // a second signature, after the first has died, is answered that the nonce was used
    let right = sale.ends.contains(&kind)
        || is_short && sale.on_the_way.contains(&kind)
        || around.meets_itself() && kind == Kind::InFlight
        || mistaken
        || around == Around::Slow && sale.settles && kind == Kind::Paid;
    (!right).then(|| format!("ended as {end}"))
}

impl Row {
    fn last_is(&self, kind: Kind) -> bool {
        self.last.as_ref().is_some_and(|end| Kind::of(end) == kind)
    }

    fn judge(&mut self, sale: &Sale) {
        // two equal calls at once that have no name are two purchases that are wanted
        let wanted = match (self.around, self.naming) {
            (Around::Joined, Naming::Not) => 2,
            _ => 1,
        };
        let left_off = self.around.leaves_off() && self.last_is(Kind::NotPaid);
        let settled = match sale.settles {
            true if left_off => 0..=0,
            true => 1..=wanted,
            false => 0..=0,
        };
        if !settled.contains(&self.settlements) {
            self.sins.push("settled too often or never".to_owned());
        }
        if self.nonces > wanted {
            self.sins.push("more than one nonce".to_owned());
        }
        let price = usd("0.01").unwrap();
        let cashable = (0..self.nonces).fold(Usd::ZERO, |sum, _| sum.saturating_add(price));
        // what a signer may have signed before it failed is held beside it
        let held = match sale.buyer {
            Odd::Nothing => self.held == cashable,
            _ => self.held >= cashable,
        };
        if !held {
            self.sins.push("what can be cashed is not held".to_owned());
        }
        let under = match self.around.is_under() {
            true => usize::try_from(RETRIES).unwrap() + 1,
            false => 1,
        };
        // of each signature the same bytes are shown twelve times at most, however many turns
        if self.paid_sends > wanted * 2 * 12 * under {
            self.sins.push("shown too often".to_owned());
        }
        // in each turn five attempts, the last of which may ask for the price first
        let turns = wanted * TURNS.max(13);
        if self.sends > turns * 6 * under {
            self.sins.push("sent too often".to_owned());
        }
    }
}

/// Runs one loop around all sellers.
async fn table(around: Around) {
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let here = LocalSet::new();
    let mut rows = JoinSet::new();
    let sales = sales::all().into_iter().flat_map(|sale| {
        Naming::ALL
            .into_iter()
            .map(move |naming| (sale.clone(), naming))
    });
    for (nth, (sale, naming)) in sales.enumerate() {
        let room = Arc::clone(&room);
        let run = async move {
            let _place = room.acquire_owned().await.unwrap();
            (nth, run(around, sale, naming, nth).await)
        };
        rows.spawn_local_on(run, &here);
    }
    let mut rows = here.run_until(rows.join_all()).await;
    rows.sort_by_key(|(nth, _)| *nth);
    println!("{}", Row::HEAD);
    for (_, row) in &rows {
        println!("{row}");
    }
    let sins: Vec<_> = rows
        .iter()
        .filter(|(_, row)| !row.sins.is_empty())
        .map(|(_, row)| format!("{row}: {:?}", row.sins))
        .collect();
    assert!(sins.is_empty(), "{}\n{}", Row::HEAD, sins.join("\n"));
}

macro_rules! tables {
    ($($name:ident: $around:ident,)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                table(Around::$around).await;
            }
        )*

        #[test]
        fn every_loop_has_its_table() {
            assert_eq!([$(Around::$around),*], Around::ALL);
        }
    };
}

tables! {
    reqwest_retry_outside_buys_once: Retry,
    reqwest_retry_outside_that_repeats_on_everything_buys_once: RetryAll,
    reqwest_retry_inside_buys_once: RetryUnder,
    reqwest_retry_inside_that_repeats_on_everything_buys_once: RetryAllUnder,
    reqwest_retry_between_that_repeats_on_everything_buys_once: RetryAllBetween,
    a_plain_loop_around_send_buys_once: Plain,
    a_plain_loop_around_a_client_that_only_pays_buys_once: PlainPayAlone,
    a_loop_that_builds_its_client_anew_buys_once: Rebuilt,
    a_loop_that_lets_payments_die_between_its_turns_buys_once: Slow,
    a_loop_that_clones_the_request_and_keeps_the_extensions_buys_once: Cloned,
    a_loop_of_spawned_tasks_buys_once: Spawned,
    two_equal_calls_at_once_buy_once_if_they_have_one_name: Joined,
    backon_buys_once: Backon,
    a_time_out_that_drops_the_call_and_repeats_buys_once: Cut,
}

/// No loop takes longer, in real time.
const LONGEST: Duration = Duration::from_secs(60);

/// So many run at once: most of the time they wait.
const AT_ONCE: usize = 24;
