//! A schedule drawn from a seed: who calls when, what dies, what is lost, and how time goes.

use fastrand::Rng;
use paywait_ledger::{OnDeath, Resolution};
use paywait_x402::usd;

use crate::market::{Market, Opens, ready};
use crate::process::{Plan, Running, Went};
use crate::script::Script;
use crate::tally::Tally;

/// One run of a market.
struct Schedule {
    rng: Rng,
    market: Market,
    running: Vec<Running>,
    /// How many calls are still to be made.
    calls: u8,
    /// How many run at once at most.
    wide: usize,
    named: Naming,
    requests: u8,
    /// Of a thousand half steps, so many are followed by trouble.
    trouble: u16,
    jumps: bool,
    loses_records: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Naming {
    All,
    None,
    Mixed,
}

/// Runs the schedule of one seed to its end, and returns what it met.
pub(crate) fn run(seed: u64, opens: Opens) -> Tally {
    let mut schedule = Schedule::draw(seed, opens);
    schedule.drive();
    schedule.market.tally
}

impl Schedule {
    fn draw(seed: u64, opens: Opens) -> Self {
        let mut rng = Rng::with_seed(seed);
        let loses_records = rng.u8(..5) == 0;
        // what a process without records cannot know, no process can keep: which chain it was
        let two_chains = !loses_records && rng.bool();
        let script = Script::drawn(rng.fork(), two_chains);
        let mut market = Market::new(script, rng.u64(..), opens);
        let jumps = rng.u8(..3) == 0;
        if !jumps && rng.bool() {
            market.on_death = OnDeath::Release(std::time::Duration::from_secs(120));
        }
        if rng.u8(..4) == 0 {
            market.limit = usd("0.03").unwrap();
            market.books.clear();
            market.lose_records();
        }
        Self {
            market,
            running: Vec::new(),
            calls: rng.u8(1..7),
            wide: rng.usize(1..4),
            named: [Naming::All, Naming::All, Naming::None, Naming::Mixed][rng.usize(..4)],
            requests: rng.u8(1..3),
            trouble: [0, 10, 40, 100][rng.usize(..4)],
            jumps,
            loses_records,
            rng,
        }
    }

    fn drive(&mut self) {
        for _ in 0..MOST_STEPS {
            if self.calls == 0 && self.running.is_empty() {
                return self.market.pass_all();
            }
            self.market.pass(self.rng.u64(..8));
            self.go_on();
            if self.rng.u16(..1_000) < self.trouble {
                self.meet_trouble();
            }
        }
        panic!("the schedule does not end");
    }

    /// Starts a call, or does a half step of one that can go on, or lets time pass.
    fn go_on(&mut self) {
        let starts = self.running.is_empty() || self.rng.u8(..20) == 0;
        if self.calls > 0 && self.running.len() < self.wide && starts {
            return self.start();
        }
        let now = self.market.now;
        let ready: Vec<usize> = (0..self.running.len())
            .filter(|place| self.running[*place].wakes <= now)
            .collect();
        if ready.is_empty() {
            let first = self.running.iter().map(Running::next_event).min();
            let wait = first.unwrap_or(now).saturating_sub(now);
            self.market.pass(wait);
            for run in &mut self.running {
                run.renew_if_due(&mut self.market);
            }
            return;
        }
        let place = ready[self.rng.usize(..ready.len())];
        let run = &mut self.running[place];
        let went = run.step(&mut self.market);
        self.market.check_holds(run.books);
        if let Went::Ended(end) = went {
            let mut run = self.running.swap_remove(place);
            self.market.check_end(&run, &end);
            run.release(&mut self.market);
        }
    }

    fn start(&mut self) {
        self.calls -= 1;
        // a caller comes back at once, or a while later
        if self.running.is_empty() {
            let later = [0, 0, 1_000, 60_000, 110_000, 130_000, 700_000, 5_000_000];
            self.market.pass(later[self.rng.usize(..later.len())]);
        }
        let attempts = [None, Some(5), Some(5), Some(2)][self.rng.usize(..4)];
        let named = match self.named {
            Naming::All => true,
            Naming::None => false,
            Naming::Mixed => self.rng.bool(),
        };
        let name = self.rng.u8(..self.requests);
        let plan = Plan {
            seed: self.rng.u64(..),
            attempts,
            deadline: (self.rng.u8(..5) == 0).then(|| self.rng.u64(..200_000)),
            named,
            name,
            request: if self.rng.u8(..12) == 0 { 2 } else { name },
            stalls: self.rng.u8(..5) == 0,
            paced: self.rng.u8(..4) == 0,
        };
        let books = self.rng.usize(..self.market.books.len());
        let run = Running::start(plan, &mut self.market, books);
        self.running.push(run);
    }

    fn meet_trouble(&mut self) {
        match self.rng.u8(..6) {
            0 | 1 if !self.running.is_empty() => {
                let place = self.rng.usize(..self.running.len());
                let mut run = self.running.swap_remove(place);
                run.die(&mut self.market);
                if self.rng.bool() {
                    run.release(&mut self.market);
                    self.market.tally.count("dropped");
                } else {
                    self.market.tally.count("killed");
                }
                // whoever called comes back
                self.calls = self.calls.saturating_add(1);
                self.trouble = self.trouble.saturating_sub(5);
            }
            2 if self.loses_records && self.market.books.len() < 3 => {
                self.market.lose_records();
                self.market.tally.count("lost records");
            }
            3 if self.jumps => {
                let by = self.rng.i64(-5 * 3_600_000..5 * 3_600_000);
                let by = if self.rng.bool() { by } else { by / 500 };
                self.market.jump(by);
                self.market.tally.count("jumped");
            }
            4 => self.resolve(),
            _ => self.market.pass(self.rng.u64(..40_000)),
        }
    }

    /// An operator ends a purchase by hand, or by proof.
    fn resolve(&mut self) {
        let books = self.rng.usize(..self.market.books.len());
        let open = ready(self.market.ledger(books).open_purchases()).unwrap();
        if open.is_empty() {
            return;
        }
        let record = &open[self.rng.usize(..open.len())];
        let stake = &record.stake;
        let space = stake.asset.network.chain_id();
        let proof = if self.market.chain.is_used(space, &stake.nonce.to_string()) {
            Some(Resolution::Settled)
        } else if self.market.now / 1_000 > stake.valid_before {
            Some(Resolution::Unused)
        } else {
            None
        };
        let word = [
            Resolution::Finished,
            Resolution::Presumed,
            Resolution::GivenUp,
        ][self.rng.usize(..3)];
        let resolution = proof.filter(|_| self.rng.bool()).unwrap_or(word);
        let least = self.market.least();
        let ledger = self.market.ledger(books);
        if ready(ledger.resolve(record.key, resolution, least)).is_ok() {
            self.market.tally.count("resolved");
            let exposure = self
                .market
                .exposures
                .entry((books, record.key))
                .or_default();
            exposure.resolved = true;
            exposure.unused |= resolution == Resolution::Unused;
        }
        self.market.check_holds(books);
    }
}

/// More half steps than any schedule has.
const MOST_STEPS: u32 = 40_000;
