//! Which of the entries that may be paid is paid.

use std::cmp::Reverse;
use std::fmt;

use crate::{Amount, Entry, Network, PaymentFlow, Price, Usd};

/// An entry of an offer that the policy allows to be paid.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Candidate<'a> {
    /// Its place among [`Offer::entries`](crate::Offer::entries).
    pub place: usize,
    /// The entry.
    pub entry: &'a Entry,
    /// What it costs.
    pub price: Price,
}

impl<'a> Candidate<'a> {
    pub(crate) const fn new(place: usize, entry: &'a Entry, price: Price) -> Self {
        Self {
            place,
            entry,
            price,
        }
    }
}

/// Chooses among entries that may be paid. It never sees one that may not.
///
/// ```
/// use paywait_x402::{Candidate, Choose};
///
/// /// Pays the seller's first choice, whatever the others cost.
/// #[derive(Debug)]
/// struct SellersFirst;
///
/// impl Choose for SellersFirst {
///     fn choose(&self, candidates: &[Candidate<'_>]) -> Option<usize> {
///         (!candidates.is_empty()).then_some(0)
///     }
/// }
/// ```
pub trait Choose: fmt::Debug + Send + Sync {
    /// Returns the place in `candidates` of the one to pay, or none to pay none of them.
    ///
    /// There is at least one, and they stand in the seller's order. A place that is not there chooses
    /// none.
    fn choose(&self, candidates: &[Candidate<'_>]) -> Option<usize>;
}

/// The default: who settles after serving before who settles first, then the cheapest in dollars,
/// then the preferred networks in their order, then the seller's order.
///
/// What has no price in dollars comes after what has one: of one such token the least is chosen, and
/// between two the seller's order decides.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Cheapest {
    preferred: Vec<Network>,
}

impl Cheapest {
    /// Returns the default, without preferred networks.
    pub const fn new() -> Self {
        Self {
            preferred: Vec::new(),
        }
    }

    /// Prefers `networks`, the first of them most, where prices are equal.
    #[must_use]
    pub fn prefer(mut self, networks: impl IntoIterator<Item = Network>) -> Self {
        self.preferred = networks.into_iter().collect();
        self
    }

    fn rank(&self, candidates: &[Candidate<'_>], this: &Candidate<'_>) -> Rank {
        let Price { asset, amount, usd } = this.price;
        let mut preferred = self.preferred.iter();
        let preferred = preferred.position(|network| *network == asset.network);
        let first_of_token = candidates.iter().position(|one| one.price.asset == asset);
        Rank {
            settles_first: this.entry.payment_flow() != PaymentFlow::Authorization,
            no_dollars: usd.is_none(),
            usd: usd.unwrap_or_default(),
            network: Reverse(preferred.map(Reverse)),
            first_of_token,
            amount,
            place: this.place,
        }
    }
}

impl Choose for Cheapest {
    fn choose(&self, candidates: &[Candidate<'_>]) -> Option<usize> {
        let ranked = candidates.iter().enumerate();
        ranked
            .min_by_key(|(_, this)| self.rank(candidates, this))
            .map(|(at, _)| at)
    }
}

/// Compared field by field, the smallest is chosen.
#[derive(Eq, Ord, PartialEq, PartialOrd)]
struct Rank {
    settles_first: bool,
    no_dollars: bool,
    usd: Usd,
    /// A preferred network before one that is not.
    network: Reverse<Option<Reverse<usize>>>,
    /// Amounts of two tokens cannot be compared: the seller names first what it prefers.
    first_of_token: Option<usize>,
    amount: Amount,
    place: usize,
}
