//! Ends a purchase by hand.

use std::io::{BufRead, IsTerminal as _, Write};

use clap::{Args, ValueEnum};
use futures_executor::block_on;
use paywait_ledger::{Ledger as _, Record, Resolution, SqliteLedger, printable};
use paywait_signals::Timestamp;
use serde_json::json;

use crate::answer::Answer;
use crate::exit::Failure;
use crate::find::Name;
use crate::{moment, purchase};

/// Which purchase is ended, and how.
#[derive(Args, Debug)]
pub(crate) struct Order {
    /// Its payment identifier or its key, or how one of them begins, if no other begins so.
    purchase: Name,
    /// What became of it.
    resolution: Word,
    /// Do not ask before `unused`, which lets go of a hold.
    #[arg(long)]
    yes: bool,
}

/// A resolution as it is said.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Word {
    /// What was paid for has come by another way. It counts as spent from now on.
    Finished,
    /// Nothing more is expected. It is held until it expires, and counts as spent from then on.
    Presumed,
    /// Nothing more is expected. It is held until it expires, and then becomes what its client
    /// chose: it counts as spent, unless the client lets go of what expires.
    GivenUp,
    /// The chain shows that it settled. It counts as spent from now on.
    Settled,
    /// The chain proves that it did not settle and cannot any more. Its hold is let go at once and
    /// counts no more; if it settles all the same, that is spent beside all limits. Asks first.
    Unused,
}

/// Ends the purchase that is meant.
pub(crate) fn resolve(ledger: &SqliteLedger, order: &Order, json: bool) -> Result<Answer, Failure> {
    let word = order.resolution;
    let record = order.purchase.find(ledger, moment::now())?;
    if record.is_in_hand(moment::now()) {
        return Err(Failure::InHand);
    }
    if word == Word::Unused && !order.yes {
        confirm(&record, json)?;
    }
    // a person may have thought for long
    let now = moment::now();
    block_on(ledger.resolve(record.key, word.resolution(), now))?;
    let (id, name, meaning) = (&record.stake.payment_id, word.name(), word.meaning());
    let record = block_on(ledger.purchase(record.key))?;
    let purchase = record.map(|record| purchase::to_json(&record, now));
    Ok(Answer::new(
        format!("{id} is {name}: {meaning}\n"),
        json!({ "resolved": name, "purchase": purchase }),
    ))
}

/// Asks a person, where one is there.
fn confirm(record: &Record, json: bool) -> Result<(), Failure> {
    let stdin = std::io::stdin();
    if json || !stdin.is_terminal() {
        let why =
            "`unused` lets go of a hold: say --yes if the chain proves it, nothing was changed";
        return Err(Failure::Unconfirmed(why.to_owned()));
    }
    let question = question(record, moment::now());
    ask(&question, &mut stdin.lock(), &mut std::io::stderr())
}

fn question(record: &Record, now: Timestamp) -> String {
    let (id, amount, origin) = (
        &record.stake.payment_id,
        purchase::amount(record),
        &record.origin,
    );
    let expires = purchase::expires(record);
    let life = match now < expires {
        true => format!("IT CAN STILL BE CASHED, until {expires}"),
        false => format!("it expired at {expires}"),
    };
    let what = printable(&format!("{id}, {amount} at {origin}: {life}"));
    format!(
        "{what}\nIf it settled after all, that is spent beside all limits.\nType `unused` if the chain proves that it did not settle and cannot: "
    )
}

fn ask(
    question: &str,
    answers: &mut impl BufRead,
    questions: &mut impl Write,
) -> Result<(), Failure> {
    let mut answer = String::new();
    let asked = write!(questions, "{question}").and_then(|()| questions.flush());
    let heard = asked.and_then(|()| answers.read_line(&mut answer));
    match heard.is_ok() && answer.trim() == Word::Unused.name() {
        true => Ok(()),
        false => Err(Failure::Unconfirmed("nothing was changed".to_owned())),
    }
}

impl Word {
    pub(crate) const fn of(resolution: Resolution) -> Option<Self> {
        match resolution {
            Resolution::Finished => Some(Self::Finished),
            Resolution::Presumed => Some(Self::Presumed),
            Resolution::GivenUp => Some(Self::GivenUp),
            Resolution::Settled => Some(Self::Settled),
            Resolution::Unused => Some(Self::Unused),
            // one that has no word here yet
            _ => None,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Presumed => "presumed",
            Self::GivenUp => "given-up",
            Self::Settled => "settled",
            Self::Unused => "unused",
        }
    }

    const fn resolution(self) -> Resolution {
        match self {
            Self::Finished => Resolution::Finished,
            Self::Presumed => Resolution::Presumed,
            Self::GivenUp => Resolution::GivenUp,
            Self::Settled => Resolution::Settled,
            Self::Unused => Resolution::Unused,
        }
    }

    /// What it does to the money.
    const fn meaning(self) -> &'static str {
        match self {
            Self::Finished => "what was paid for has come, and it counts as spent",
            Self::Presumed => "nothing more is expected, and it counts as spent",
            Self::GivenUp => "nothing more is expected, and what it holds goes on to count",
            Self::Settled => "it counts as spent",
            Self::Unused => "its hold is let go",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_word_itself_confirms() {
        for (answer, confirms) in [
            ("unused\n", true),
            (" unused \r\n", true),
            ("unused", true),
            ("yes\n", false),
            ("y\n", false),
            ("UNUSED\n", false),
            ("\n", false),
            ("", false),
            ("\nunused\n", false),
        ] {
            let mut asked = Vec::new();
            let heard = ask("sure? ", &mut answer.as_bytes(), &mut asked);
            assert_eq!(heard.is_ok(), confirms, "{answer:?}");
            assert_eq!(asked, b"sure? ");
        }
    }

    #[test]
    fn each_word_says_the_resolution_of_its_name() {
        for word in Word::value_variants() {
            assert_eq!(Word::of(word.resolution()), Some(*word));
            let said = word.to_possible_value().unwrap();
            assert_eq!(said.get_name(), word.name());
        }
    }
}
