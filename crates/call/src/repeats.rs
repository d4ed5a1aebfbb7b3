//! Recognises a refusal that a seller has stored and gives again for ever.

use std::hash::{DefaultHasher, Hash, Hasher};

use paywait_signals::{Action, Decision};

/// The refusals of paid sends that came in a row, each alike and after the wait that the one before
/// had asked for.
///
/// A seller that stores its answers by payment identifier may have stored a *429*: then no wait helps,
/// and a fresh purchase would be a second one. A limiter that is only slow changes its words, its
/// wait, or its mind.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    last: Option<u64>,
    alike: u32,
}

impl Repeats {
    /// Takes one more refusal, and returns whether it is a stored one.
    pub(crate) fn are_stored(&mut self, decision: &Decision, body: &[u8]) -> bool {
        let Action::Wait(floor) = decision.action else {
            *self = Self::default();
            return false;
        };
        let mut hasher = DefaultHasher::new();
        (floor, decision.reason, body).hash(&mut hasher);
        let print = hasher.finish();
        if self.last != Some(print) {
            self.alike = 0;
        }
        self.last = Some(print);
        self.alike = self.alike.saturating_add(1);
        self.alike > MOST_ALIKE
    }
}

/// The same refusal may come so often: the first, and once more.
const MOST_ALIKE: u32 = 2;
