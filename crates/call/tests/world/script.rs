//! What a seller says and what time does, send by send; and random scripts of it.

use std::collections::VecDeque;

use paywait_call::FailureKind;
use proptest::prelude::*;
use proptest::sample::select;

/// How the seller answers one send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Says {
    /// As it should: an offer, or what was paid for.
    Fair,
    /// What was asked for, whether it was paid for or not. Nothing is settled.
    Gives,
    /// A status, with a wait in seconds, after the money moved or not.
    Refuses {
        status: u16,
        wait: Option<u64>,
        moves: bool,
        receipt: bool,
    },
    /// 402 and a receipt that says no.
    Fails {
        reason: &'static str,
        hash: bool,
        moves: bool,
    },
    /// 402 and an offer that gives a reason.
    OffersAnew { reason: &'static str, moves: bool },
    /// 402 and an offer that cannot be read.
    Nonsense { moves: bool },
    /// No answer.
    Lost {
        kind: FailureKind,
        left: bool,
        moves: bool,
    },
    /// A layer turns the send back.
    TurnedBack,
    /// 200 with a receipt that cannot be read.
    Garbled,
}

impl Says {
    /// Whether this tells, in the words of a facilitator, that the send moved nothing.
    pub(crate) fn denies(self) -> bool {
        match self {
            Self::Fails {
                reason,
                hash: false,
                ..
            }
            | Self::OffersAnew { reason, .. } => BEFORE_BROADCAST.contains(&reason),
            _ => false,
        }
    }
}

/// One step of a script.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) says: Says,
    /// What an offer asks for, in atomic units.
    pub(crate) price: u64,
    /// Whether an offer begins with ways to pay that nobody can take.
    pub(crate) others: bool,
    /// Whether another origin answers than the one that was asked.
    pub(crate) elsewhere: bool,
    /// How long the send takes, in milliseconds.
    pub(crate) takes: u64,
    /// When the pacer lets the send go, in milliseconds from when it is asked.
    pub(crate) slot: u64,
    /// A jump of the wall clock, in milliseconds; backward where negative.
    pub(crate) jump: i64,
    /// Whether it jumps before the send and not while it is out.
    pub(crate) jumps_early: bool,
}

pub(crate) const FAIR: Turn = Turn {
    says: Says::Fair,
    price: 10_000,
    others: false,
    elsewhere: false,
    takes: 20,
    slot: 0,
    jump: 0,
    jumps_early: false,
};

/// The turns to come; after the last all goes well.
#[derive(Clone, Debug)]
pub(crate) struct Script(VecDeque<Turn>);

impl Script {
    pub(crate) fn new(turns: &[Turn]) -> Self {
        Self(turns.iter().copied().collect())
    }

    pub(crate) fn of(says: &[Says]) -> Self {
        let turn = |says: &Says| Turn {
            says: *says,
            ..FAIR
        };
        Self(says.iter().map(turn).collect())
    }

    pub(crate) fn next(&mut self) -> Turn {
        self.0.pop_front().unwrap_or(FAIR)
    }

    /// When the next send may go: asked again, it may go at once.
    pub(crate) fn slot(&mut self) -> u64 {
        let slot = self.0.front_mut().map(|turn| &mut turn.slot);
        slot.map_or(0, std::mem::take)
    }

    /// How the clock jumps before the next send.
    pub(crate) fn early_jump(&mut self) -> i64 {
        let turn = self.0.front_mut().filter(|turn| turn.jumps_early);
        turn.map_or(0, |turn| std::mem::take(&mut turn.jump))
    }
}

/// All that a seller may say, in one word each: for scripts that are walked through one by one.
pub(crate) const VOCABULARY: [Says; 15] = [
    Says::Fair,
    refuses(429, Some(2), true, true),
    refuses(429, Some(2), true, false),
    refuses(429, None, false, false),
    refuses(500, None, true, true),
    refuses(502, None, true, false),
    fails("settlement_pending", true, true),
    fails("fetch failed", false, true),
    fails("insufficient_funds", false, false),
    fails("invalid_exact_evm_nonce_already_used", false, false),
    Says::OffersAnew {
        reason: "insufficient_funds",
        moves: false,
    },
    Says::Nonsense { moves: true },
    lost(FailureKind::Broken, true),
    lost(FailureKind::Timeout, false),
    Says::TurnedBack,
];

pub(crate) const fn refuses(status: u16, wait: Option<u64>, moves: bool, receipt: bool) -> Says {
    Says::Refuses {
        status,
        wait,
        moves,
        receipt,
    }
}

pub(crate) const fn fails(reason: &'static str, hash: bool, moves: bool) -> Says {
    Says::Fails {
        reason,
        hash,
        moves,
    }
}

pub(crate) const fn lost(kind: FailureKind, moves: bool) -> Says {
    Says::Lost {
        kind,
        left: true,
        moves,
    }
}

fn says() -> impl Strategy<Value = Says> {
    let status = select(vec![
        429_u16, 429, 503, 500, 502, 404, 409, 412, 307, 402, 403,
    ]);
    let wait = prop::option::of(0_u64..150);
    let reason = select(vec![
        "insufficient_funds",
        "settlement_pending",
        "fetch failed",
        "invalid_exact_evm_nonce_already_used",
        "invalid_exact_evm_payload_authorization_valid_before",
        "",
    ]);
    let kind = select(vec![
        FailureKind::Connect,
        FailureKind::Timeout,
        FailureKind::Broken,
        FailureKind::Final,
    ]);
    let yes = any::<bool>;
    prop_oneof![
        4 => Just(Says::Fair),
        1 => Just(Says::Gives),
        6 => (status, wait, yes(), yes())
            .prop_map(|(status, wait, moves, receipt)| refuses(status, wait, moves, receipt)),
        2 => (reason.clone(), yes(), yes())
            .prop_map(|(reason, hash, moves)| fails(reason, hash, moves)),
        2 => (reason, yes()).prop_map(|(reason, moves)| Says::OffersAnew { reason, moves }),
        1 => yes().prop_map(|moves| Says::Nonsense { moves }),
        4 => (kind, yes(), yes()).prop_map(|(kind, left, moves)| Says::Lost { kind, left, moves }),
        1 => Just(Says::TurnedBack),
        1 => Just(Says::Garbled),
    ]
}

/// A script that begins with an offer as often as not, so that many of them pay.
pub(crate) fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let price = prop_oneof![6 => Just(10_000_u64), 1 => Just(20_000), 1 => Just(50_001)];
    let slot = prop_oneof![4 => Just(0_u64), 1 => 1_u64..200_000];
    let jump =
        prop_oneof![6 => Just(0_i64), 1 => -1_800_000_i64..1_800_000, 1 => -9_000_i64..9_000];
    let turn = (
        (
            says(),
            price,
            prop::bool::weighted(0.2),
            prop::bool::weighted(0.1),
        ),
        (0_u64..3_000, slot, jump, any::<bool>()),
    );
    let turn = turn.prop_map(
        |((says, price, others, elsewhere), (takes, slot, jump, jumps_early))| Turn {
            says,
            price,
            others,
            elsewhere,
            takes,
            slot,
            jump,
            jumps_early,
        },
    );
    (any::<bool>(), prop::collection::vec(turn, 0..12)).prop_map(|(offers, mut turns)| {
        if offers {
            turns.insert(0, FAIR);
        }
        turns
    })
}

/// Codes that the reference facilitator gives before it broadcasts anything.
const BEFORE_BROADCAST: [&str; 2] = [
    "insufficient_funds",
    "invalid_exact_evm_payload_authorization_valid_before",
];
