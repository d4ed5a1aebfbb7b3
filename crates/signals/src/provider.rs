//! What is known of each provider: where its codes stand in a reply, and what they mean.
//!
//! A provider is data: one file with its places and its codes, and a line in [`PROVIDERS`].

mod anthropic;
mod gateway;
mod openai;
mod openrouter;
mod problem;

use crate::Reason;

/// Where the codes of one provider stand, and what they mean.
#[derive(Debug)]
pub(crate) struct Provider {
    /// Where its codes stand; within one [`Specificity`] the most specific first.
    pub(crate) places: &'static [Place],
    /// Its codes. One that is not here says nothing beyond the status.
    pub(crate) codes: &'static [(&'static str, Meaning)],
}

impl Provider {
    /// Returns the entry of `code`, if it is known here.
    pub(crate) fn entry(&self, code: &str) -> Option<(&'static str, Meaning)> {
        self.codes.iter().copied().find(|(known, _)| *known == code)
    }
}

/// One place at which a code may stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) specificity: Specificity,
    /// An RFC 6901 pointer into the body.
    pub(crate) pointer: &'static str,
}

/// How much a place tells: a specific one is read before a broad one, over all providers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Specificity {
    /// The cause, where the provider singles it out.
    Cause,
    /// The whole answer of an upstream, as JSON in a text.
    Upstream,
    /// The code.
    Code,
    /// The class of the code, which cannot tell a wall from a window.
    Class,
    /// A problem type (RFC 9457): the fragment or the last part of the path counts.
    Problem,
}

impl Specificity {
    /// All of them, the most specific first.
    pub(crate) const ALL: [Self; 5] = [
        Self::Cause,
        Self::Upstream,
        Self::Code,
        Self::Class,
        Self::Problem,
    ];

    const fn at(self, pointer: &'static str) -> Place {
        Place {
            specificity: self,
            pointer,
        }
    }
}

/// What a code means for the next step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Meaning {
    /// Money is held by calls in flight, and comes free when they end.
    Hold,
    /// A wall: waiting does not help, whatever the status and the headers say.
    Wall(Reason),
    /// It passes: the status and the hints say when.
    Passing(Reason),
    /// A wall unless the server names a wait.
    WallWithoutHint(Reason),
}

/// All providers. Of two with a code at one place the first that knows the code counts.
pub(crate) const PROVIDERS: &[&Provider] = &[
    &openrouter::OPENROUTER,
    &gateway::GATEWAY,
    &anthropic::ANTHROPIC,
    &openai::OPENAI,
    &problem::PROBLEM,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_a_pointer_and_no_code_stands_twice_in_one_table() {
        for provider in PROVIDERS {
            assert!(!provider.places.is_empty());
            for place in provider.places {
                let is_plain = place.pointer.starts_with('/') && !place.pointer.contains('~');
                assert!(is_plain, "{}", place.pointer);
            }
            for (index, (code, _)) in provider.codes.iter().enumerate() {
                let first = provider.codes.iter().position(|(other, _)| other == code);
                assert_eq!(first, Some(index), "{code}");
            }
        }
    }

    #[test]
    fn providers_that_share_a_place_do_not_disagree_on_a_code() {
        let mut seen: Vec<(&str, &str, Meaning)> = Vec::new();
        for provider in PROVIDERS {
            for place in provider.places {
                for (code, meaning) in provider.codes {
                    let other = seen
                        .iter()
                        .find(|(p, c, _)| (p, c) == (&place.pointer, code));
                    if let Some((_, _, other)) = other {
                        assert_eq!(meaning, other, "{code} at {}", place.pointer);
                    }
                    seen.push((place.pointer, code, *meaning));
                }
            }
        }
    }
}
