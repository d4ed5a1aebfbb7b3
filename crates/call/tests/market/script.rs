//! What the seller says and what the wire does, send by send: listed, or drawn from a seed.

use std::collections::VecDeque;

use fastrand::Rng;

use crate::seller::{
    ASKS, Asks, BEFORE_BROADCAST, FAIR, Moves, OTHER_REASONS, Receipt, Says, Turn, Way,
};

/// The turns to come.
pub(crate) struct Script {
    /// What comes first.
    listed: VecDeque<Turn>,
    /// What comes then; without it all goes well.
    drawn: Option<Mood>,
}

/// What a schedule is like.
struct Mood {
    rng: Rng,
    /// Of a hundred turns, so many are fair, and so many go whole over the wire.
    fair: u8,
    whole: u8,
    /// Whether two chains are offered.
    two_chains: bool,
    /// Whether prices and payees change.
    changes: bool,
}

/// How the store of a ledger fails.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fault {
    None,
    /// It writes nothing.
    Unwritten,
    /// It writes, and its answer is not heard.
    Unheard,
}

impl Script {
    pub(crate) fn of(says: &[Turn]) -> Self {
        Self {
            listed: says.iter().copied().collect(),
            drawn: None,
        }
    }

    pub(crate) fn drawn(mut rng: Rng, two_chains: bool) -> Self {
        let drawn = Mood {
            fair: rng.u8(10..90),
            whole: rng.u8(40..100),
            two_chains,
            changes: rng.bool(),
            rng,
        };
        Self {
            listed: VecDeque::new(),
            drawn: Some(drawn),
        }
    }

    pub(crate) fn turn(&mut self) -> Turn {
        let listed = self.listed.pop_front();
        listed.unwrap_or_else(|| self.drawn.as_mut().map_or(FAIR, Mood::turn))
    }

    pub(crate) fn slot(&mut self) -> u64 {
        let drawn = self.drawn.as_mut();
        drawn.map_or(0, |mood| mood.one_of(&[0, 0, 0, 5_000, 60_000, 130_000]))
    }

    pub(crate) fn fault(&mut self) -> Fault {
        match self.drawn.as_mut().map(|mood| mood.rng.u8(..100)) {
            Some(0) => Fault::Unwritten,
            Some(1) => Fault::Unheard,
            _ => Fault::None,
        }
    }

    pub(crate) fn signer_fails(&mut self) -> bool {
        let drawn = self.drawn.as_mut();
        drawn.is_some_and(|mood| mood.rng.u8(..100) < 2)
    }
}

impl Mood {
    fn turn(&mut self) -> Turn {
        let fair = self.rng.u8(..100) < self.fair;
        let says = if fair { Says::Fair } else { self.says() };
        let whole = self.rng.u8(..100) < self.whole;
        Turn {
            says,
            moves: if fair {
                self.moves_fairly()
            } else {
                self.moves()
            },
            way: if whole { Way::Whole } else { self.way() },
            asks: self.asks(),
            takes: self.one_of(&[1, 20, 300, 300, 2_000, 2_000, 25_000, 45_000]),
            date: (self.rng.u8(..10) == 0).then(|| self.rng.i64(-7_200..7_200)),
        }
    }

    fn says(&mut self) -> Says {
        let wait = self.one_of(&[None, None, Some(0), Some(2), Some(20), Some(110), Some(500)]);
        let receipt = self.receipt();
        match self.rng.u8(..12) {
            0 => Says::Status(200, None, receipt),
            1 => Says::Status(429, wait, receipt),
            2 => Says::Status(503, wait, receipt),
            3 => Says::Status(self.one_of(&[500, 502]), None, receipt),
            4 => Says::Status(self.one_of(&[302, 307, 404, 409]), None, receipt),
            5 | 6 => Says::Status(402, None, receipt),
            7 | 8 => Says::Anew(self.reason()),
            9 => Says::Failed(self.reason()),
            10 => Says::Bare,
            _ => Says::TurnedBack,
        }
    }

    fn receipt(&mut self) -> Receipt {
        match self.rng.u8(..8) {
            0 | 1 => Receipt::None,
            2 => Receipt::Yes,
            3 => Receipt::Garbled,
            4 => Receipt::Broadcast(self.one_of(&["settlement_pending", "settlement_pending", ""])),
            _ => Receipt::No(self.reason()),
        }
    }

    fn reason(&mut self) -> &'static str {
        if self.rng.bool() {
            self.one_of(&BEFORE_BROADCAST)
        } else {
            self.one_of(&OTHER_REASONS)
        }
    }

    fn moves(&mut self) -> Moves {
        match self.rng.u8(..6) {
            0..3 => Moves::Never,
            3 => Moves::Now,
            _ => self.later(),
        }
    }

    fn moves_fairly(&mut self) -> Moves {
        if self.rng.u8(..6) == 0 {
            self.later()
        } else {
            Moves::Now
        }
    }

    /// A block that comes late, or a seller that keeps what it was shown.
    fn later(&mut self) -> Moves {
        Moves::Later(self.one_of(&[500, 2_000, 30_000, 100_000, 119_000, 500_000, 8_000_000]))
    }

    fn way(&mut self) -> Way {
        self.one_of(&[
            Way::RequestLost,
            Way::AnswerLost,
            Way::AnswerLost,
            Way::AnswerLost,
            Way::Unconnected,
            Way::BodyCut,
            Way::Doubled,
            Way::DoubledLast,
            Way::Elsewhere,
            Way::Redirected,
        ])
    }

    fn asks(&mut self) -> Asks {
        let mut asks = ASKS;
        asks.identifier = self.rng.bool();
        if self.changes {
            asks.price = self.one_of(&[10_000, 10_000, 10_000, 7_000, 15_000, 40_000, 60_000]);
            asks.payee = self.one_of(&[1, 1, 1, 1, 2]);
            asks.window = self.one_of(&[120, 120, 60, 20, 10, 300, 1_000_000_000]);
            asks.extra = self.rng.u8(..4) == 0;
        }
        if self.two_chains {
            asks.other = Some(self.one_of(&[9_000, 10_000, 12_000, 50_000]));
            asks.other_only = self.rng.u8(..5) == 0;
        }
        asks
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.rng.usize(..all.len())]
    }
}
