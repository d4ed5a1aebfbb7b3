//! Which purchase is meant.

use std::str::FromStr;

use futures_executor::block_on;
use paywait_ledger::{Ledger as _, Line, Record, SqliteLedger};
use paywait_signals::Timestamp;

use crate::exit::Failure;

/// What somebody calls a purchase: its payment identifier, its key, or how one of them begins.
#[derive(Clone, Debug)]
pub(crate) struct Name(String);

impl FromStr for Name {
    type Err = TooShort;

    fn from_str(text: &str) -> Result<Self, TooShort> {
        match text.chars().count() < SHORTEST {
            true => Err(TooShort),
            false => Ok(Self(text.to_owned())),
        }
    }
}

/// A name is so short that it may well be a slip.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("a purchase is named by at least {SHORTEST} characters")]
pub(crate) struct TooShort;

impl Name {
    /// Finds the one purchase that is meant.
    pub(crate) fn find(&self, ledger: &SqliteLedger, now: Timestamp) -> Result<Record, Failure> {
        let all = ledger.lines(Timestamp::from_secs(0), Timestamp::MAX, now);
        let mut found = self.meant(block_on(all)?);
        let line = match found.len() {
            0 | 1 => found.pop(),
            _ => {
                let asked = self.0.clone();
                return Err(Failure::Ambiguous { asked, found });
            }
        };
        let none = || Failure::NotFound(format!("there is no purchase {}", self.0));
        let line = line.ok_or_else(none)?;
        let id = line.payment_id;
        block_on(ledger.purchase(line.key))?.ok_or_else(|| {
            Failure::NotFound(format!(
                "{id} is over and kept for statements alone: it can be resolved no more"
            ))
        })
    }

    /// Whole names come before beginnings, since one may be how another begins.
    fn meant(&self, lines: Vec<Line>) -> Vec<Line> {
        // keys are printed in small letters, and a chain's explorer may not
        let key = self.0.to_ascii_lowercase();
        let (whole, others): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| {
            line.payment_id.as_str() == self.0.as_str() || line.key.to_string() == key
        });
        if !whole.is_empty() {
            return whole;
        }
        let begins = |line: &Line| {
            line.payment_id.as_str().starts_with(&self.0) || line.key.to_string().starts_with(&key)
        };
        others.into_iter().filter(begins).collect()
    }
}

/// The shortest name: half of these characters are the same for all.
const SHORTEST: usize = 8;
