//! How much one call may cost, in place of what its layer says.

use http::Extensions;
use paywait_x402::Usd;

use crate::scope::{self, Nests};

/// How much one call may cost, put on a request or a [`Scope`](crate::Scope).
///
/// It can only lower what the layer allows, unless it says in so many words that it raises it.
/// Limits nest: what a scope around, or an outer one, allows at most is never passed by what is said
/// inside. Limits of a day and all others that stand on the ledger hold as ever.
///
/// ```
/// # async fn example(client: reqwest_middleware::ClientWithMiddleware) -> Result<(), Box<dyn std::error::Error>> {
/// use paywait::{CallLimit, usd};
///
/// let reply = client
///     .get("https://seller.example/report")
///     .with_extension(CallLimit::at_most(usd("0.001")?))
///     .send()
///     .await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CallLimit {
    at_most: Option<Usd>,
    raised: Option<Usd>,
}

impl CallLimit {
    /// Allows a call no more than this, and no more than the layer does. With zero nothing is paid.
    pub const fn at_most(most: Usd) -> Self {
        Self {
            at_most: Some(most),
            raised: None,
        }
    }

    /// Allows a call as much as this where the layer allows less: for one that a person has agreed to.
    /// It passes no limit that a [`Scope`](crate::Scope) sets by [`at_most`](Self::at_most), and none of
    /// the ledger's.
    pub const fn raised_to(most: Usd) -> Self {
        Self {
            at_most: None,
            raised: Some(most),
        }
    }

    /// Returns the limit that holds for a call whose layer says `layer`, if it is another one: what the
    /// scope around and the request itself say.
    pub(crate) fn of(layer: Usd, extensions: &Extensions) -> Option<Usd> {
        let own = extensions.get::<Self>().copied().unwrap_or_default();
        let said = own.inside(&scope::ambient::<Self>().unwrap_or_default());
        let raised = said.raised.map_or(layer, |raised| raised.max(layer));
        let most = said.at_most.map_or(raised, |most| most.min(raised));
        (most != layer).then_some(most)
    }
}

impl Nests for CallLimit {
    /// The least that is said holds. Of what raises, the innermost does: it was said last.
    fn inside(self, outer: &Self) -> Self {
        let both = self.at_most.into_iter().chain(outer.at_most);
        Self {
            at_most: both.min(),
            raised: self.raised.or(outer.raised),
        }
    }
}
