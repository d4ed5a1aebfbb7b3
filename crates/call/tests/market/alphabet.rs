//! All sequences of answers to a small depth, with a death at each half step of them.

use crate::market::{Market, Opens};
use crate::process::{PLAN, Running, Went};
use crate::script::Script;
use crate::seller::{FAIR, Moves, Receipt, Says, Turn, Way};
use crate::tally::Tally;

/// How a call is cut short.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Death {
    /// Its future is dropped: the purchase is given back.
    Dropped,
    /// Its process dies: nothing is given back, and the records are opened anew.
    Killed,
}

/// Walks through all sequences of an offer and `depth` more answers.
pub(crate) fn each_sequence(depth: u32, mut visit: impl FnMut(&[Turn])) {
    let letters = u32::try_from(ALPHABET.len()).unwrap();
    for number in 0..letters.pow(depth) {
        let letter = |place: u32| number / letters.pow(place) % letters;
        let mut turns = vec![FAIR];
        turns.extend((0..depth).map(|place| ALPHABET[usize::try_from(letter(place)).unwrap()]));
        visit(&turns);
    }
}

/// Runs one sequence, with a death after `half_steps` of it if it is so long, and lets another call
/// of the same key go on; then a third. Returns whether it was so long.
pub(crate) fn run(
    turns: &[Turn],
    death: Option<(Death, u32)>,
    opens: Opens,
    tally: &mut Tally,
) -> bool {
    let mut market = Market::new(Script::of(turns), 7, opens);
    let died = match death {
        Some((death, half_steps)) => {
            let mut first = Running::start(PLAN, &mut market, 0);
            if drive(&mut first, &mut market, half_steps) {
                return false;
            }
            first.die(&mut market);
            match death {
                Death::Dropped => first.release(&mut market),
                Death::Killed => market.reopen(),
            }
            true
        }
        None => false,
    };
    for _ in 0..2 {
        let mut next = Running::start(PLAN, &mut market, 0);
        assert!(drive(&mut next, &mut market, u32::MAX), "it does not end");
    }
    market.pass_all();
    tally.count("sequences");
    tally.add(market.tally);
    died
}

/// Drives a call until it ends, or for so many half steps. Returns whether it ended.
pub(crate) fn drive(run: &mut Running, market: &mut Market, half_steps: u32) -> bool {
    for _ in 0..half_steps {
        while run.wakes > market.now {
            let next = run.next_event();
            market.pass(next.saturating_sub(market.now));
            run.renew_if_due(market);
        }
        let went = run.step(market);
        market.check_holds(run.books);
        if let Went::Ended(end) = went {
            market.check_end(run, &end);
            run.release(market);
            return true;
        }
    }
    false
}

/// What a seller may say in one word.
pub(crate) const ALPHABET: [Turn; 12] = [
    FAIR,
    says(Says::Status(429, Some(2), Receipt::Yes), Moves::Now),
    says(Says::Status(429, Some(2), Receipt::None), Moves::Never),
    says(Says::Status(500, None, Receipt::Yes), Moves::Now),
    says(Says::Status(502, None, Receipt::None), Moves::Later(3_000)),
    says(
        Says::Status(402, None, Receipt::Broadcast("settlement_pending")),
        Moves::Later(60_000),
    ),
    says(
        Says::Status(402, None, Receipt::No("fetch failed")),
        Moves::Now,
    ),
    says(
        Says::Status(402, None, Receipt::No("insufficient_funds")),
        Moves::Never,
    ),
    says(
        Says::Anew("invalid_exact_evm_payload_authorization_valid_before"),
        Moves::Never,
    ),
    dearer(says(
        Says::Anew("No matching payment requirements"),
        Moves::Never,
    )),
    says(
        Says::Anew("invalid_exact_evm_nonce_already_used"),
        Moves::Never,
    ),
    lost(FAIR),
];

const fn says(says: Says, moves: Moves) -> Turn {
    Turn {
        says,
        moves,
        ..FAIR
    }
}

const fn dearer(mut turn: Turn) -> Turn {
    turn.asks.price = 20_000;
    turn
}

const fn lost(mut turn: Turn) -> Turn {
    turn.way = Way::AnswerLost;
    turn
}
