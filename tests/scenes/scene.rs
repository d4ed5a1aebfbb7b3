//! One scene: what a seller does, in how many ways it is driven, and what is right.

use std::future::Future;
use std::ops::RangeInclusive;
use std::pin::Pin;

use crate::mode::Mode;

/// What came of one scene, on the sellers' side first.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// Physical requests, over all sellers.
    pub(crate) sends: usize,
    /// Distinct nonces, over all nonce spaces and sellers.
    pub(crate) nonces: usize,
    /// Distinct signatures: those that sellers saw, or those that the signer gave if that is more.
    pub(crate) signatures: usize,
    /// Settlements, over all nonce spaces and sellers.
    pub(crate) settlements: usize,
    /// Whether the buyer holds a 2xx with its whole body.
    pub(crate) delivered: bool,
    /// How the last call ended; in scenes of two callers, both.
    pub(crate) ends: Vec<String>,
    /// What the last report knows of the money.
    pub(crate) money: String,
    /// What counts as spent or held on the buyer's ledger.
    pub(crate) counted: String,
    /// What the scene itself finds wrong.
    pub(crate) objections: Vec<&'static str>,
}

impl Outcome {
    /// Adds an objection of the scene's own.
    pub(crate) fn object_if(mut self, wrong: bool, objection: &'static str) -> Self {
        if wrong {
            self.objections.push(objection);
        }
        self
    }
}

/// What must come of a scene where our layers are alone.
#[derive(Clone, Debug)]
pub(crate) struct Right {
    pub(crate) nonces: usize,
    pub(crate) signatures: RangeInclusive<usize>,
    signatures_in_the_dark: usize,
    settlements: RangeInclusive<usize>,
    delivered: Option<bool>,
    ends: &'static [&'static str],
    money: Option<&'static str>,
    counted: Option<&'static str>,
    most_sends: Option<usize>,
}

impl Right {
    /// Nothing is signed.
    pub(crate) const fn unsigned() -> Self {
        Self {
            nonces: 0,
            signatures: 0..=0,
            signatures_in_the_dark: 0,
            settlements: 0..=0,
            delivered: Some(false),
            ends: &[],
            money: None,
            counted: None,
            most_sends: None,
        }
    }

    /// One nonce, one signature, and one settlement.
    pub(crate) const fn one_purchase() -> Self {
        Self {
            nonces: 1,
            signatures: 1..=1,
            settlements: 1..=1,
            delivered: None,
            counted: Some("0.01"),
            ..Self::unsigned()
        }
    }

    /// One purchase that is served.
    pub(crate) const fn served() -> Self {
        Self {
            delivered: Some(true),
            ends: &["Served"],
            money: Some("Settled"),
            ..Self::one_purchase()
        }
    }

    /// One purchase whose money moved and that is not served, and the caller knows both.
    pub(crate) const fn paid_not_delivered() -> Self {
        Self {
            delivered: Some(false),
            ends: &["PaidNotDelivered"],
            money: Some("Settled"),
            ..Self::one_purchase()
        }
    }

    /// One purchase that is not served, and whose end is one of these.
    pub(crate) const fn undelivered(ends: &'static [&'static str]) -> Self {
        Self {
            delivered: Some(false),
            ends,
            ..Self::one_purchase()
        }
    }

    /// Other numbers of settlements.
    pub(crate) const fn settled(mut self, times: RangeInclusive<usize>) -> Self {
        self.settlements = times;
        self
    }

    /// A second signature, with the same nonce.
    pub(crate) const fn signed(mut self, times: RangeInclusive<usize>) -> Self {
        self.signatures = times;
        self
    }

    /// As many signatures, with one nonce, where a loop inside ours keeps answers from us: what we
    /// are told last is then all that can be judged.
    pub(crate) const fn signed_in_the_dark(mut self, times: usize) -> Self {
        self.signatures_in_the_dark = times;
        self
    }

    /// One of these ends.
    pub(crate) const fn ends(mut self, ends: &'static [&'static str]) -> Self {
        self.ends = ends;
        self
    }

    /// Other dollars that are counted as spent or held; `None` does not look.
    pub(crate) const fn counted(mut self, dollars: Option<&'static str>) -> Self {
        self.counted = dollars;
        self
    }

    /// As many sends at most.
    pub(crate) const fn within(mut self, sends: usize) -> Self {
        self.most_sends = Some(sends);
        self
    }

    /// Returns what is wrong with the outcome of a call that our layers made alone.
    pub(crate) fn faults(&self, outcome: &Outcome) -> Vec<String> {
        let mut faults = self.faults_in_any_mode(Mode::Alone, outcome);
        let mut must = |holds: bool, what: String| {
            if !holds {
                faults.push(what);
            }
        };
        let (least, most) = (self.signatures.start(), self.settlements.end());
        must(
            outcome.nonces >= self.nonces && outcome.signatures >= *least,
            format!("at least {} nonces, {least} signatures", self.nonces),
        );
        must(
            self.settlements.contains(&outcome.settlements),
            format!("settlements must be {}..={most}", self.settlements.start()),
        );
        if let Some(delivered) = self.delivered {
            must(
                outcome.delivered == delivered,
                format!("delivered must be {delivered}"),
            );
        }
        must(
            self.ends.is_empty()
                || outcome
                    .ends
                    .iter()
                    .all(|end| self.ends.contains(&end.as_str())),
            format!("the end must be one of {:?}", self.ends),
        );
        if let Some(money) = self.money {
            must(
                outcome.money == money,
                format!("money must be {money}, is {}", outcome.money),
            );
        }
        if let Some(counted) = self.counted {
            must(
                outcome.counted == counted,
                format!("{counted} must be counted, is {}", outcome.counted),
            );
        }
        if let Some(sends) = self.most_sends {
            must(outcome.sends <= sends, format!("at most {sends} sends"));
        }
        faults
    }

    /// Returns what is wrong with an outcome, however the call was driven: one purchase at most.
    pub(crate) fn faults_in_any_mode(&self, mode: Mode, outcome: &Outcome) -> Vec<String> {
        let mut faults: Vec<_> = outcome.objections.iter().map(ToString::to_string).collect();
        if outcome.settlements > 1 {
            faults.push("paid more than once".to_owned());
        }
        if outcome.nonces > self.nonces {
            faults.push(format!("at most {} nonces", self.nonces));
        }
        let mut signatures = *self.signatures.end();
        if mode == Mode::RetryInside {
            signatures = signatures.max(self.signatures_in_the_dark);
        }
        if outcome.signatures > signatures {
            faults.push(format!("at most {signatures} signatures"));
        }
        faults
    }
}

/// Plays a scene in a mode.
pub(crate) type Play = fn(Mode) -> Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// One scene.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    /// Its number; letters tell variants apart.
    pub(crate) number: &'static str,
    /// What the seller does.
    pub(crate) words: &'static str,
    /// How it is played.
    pub(crate) play: Play,
    /// What must come of it.
    pub(crate) right: Right,
    /// In what ways it makes sense.
    pub(crate) modes: &'static [Mode],
    /// What of it cannot be tested before a feature is there: the rest is.
    pub(crate) pending: Option<&'static str>,
}

impl Scene {
    /// Returns a scene that makes sense in all modes.
    pub(crate) const fn new(
        number: &'static str,
        words: &'static str,
        right: Right,
        play: Play,
    ) -> Self {
        Self {
            number,
            words,
            play,
            right,
            modes: &Mode::ALL,
            pending: None,
        }
    }

    /// Plays it only in these.
    pub(crate) const fn in_modes(mut self, modes: &'static [Mode]) -> Self {
        self.modes = modes;
        self
    }

    /// Tests only the half that is about safety.
    pub(crate) const fn pending(mut self, what: &'static str) -> Self {
        self.pending = Some(what);
        self
    }
}
