//! Who is asked before a price above a threshold is signed for.

use std::error::Error as StdError;
use std::fmt::{self, Debug};
use std::future::Future;
use std::pin::Pin;

use paywait_x402::Quote;
use paywait_x402::alloy_primitives::Address;

/// Says yes or no to a price before it is signed for: a person, or another service.
///
/// It is asked of each price above the threshold that [`Pay::approve_above`](crate::Pay::approve_above)
/// sets, and of each in a token that is no dollar token: after an entry was chosen, before anything
/// is held or signed. Only a yes is a yes: an error, silence and a time-out are a no, and the call
/// ends with [`NotPaid::NotApproved`](crate::NotPaid::NotApproved). A yes holds for one call, and
/// for the same token, payee and flow at no more than the amount that was asked about. Whatever
/// else the seller comes back with is asked about again.
///
/// It runs outside the caller's [`Scope`](crate::Scope): calls that it makes itself are no part of the
/// purchase.
///
/// ```
/// use paywait::{Approve, Approval, Proposal};
///
/// /// Says yes to one origin.
/// #[derive(Debug)]
/// struct OneSeller;
///
/// impl Approve for OneSeller {
///     fn approve<'a>(&'a self, proposal: &'a Proposal) -> Approval<'a> {
///         Box::pin(async move { Ok(proposal.origin == "https://seller.example") })
///     }
/// }
/// ```
///
/// # Cancel safety
///
/// The future is dropped where the call is, and at the end of the time that it has. Nothing was held
/// or signed for it then, and a yes that comes later is not heard.
pub trait Approve: Debug + Send + Sync {
    /// Returns whether what is proposed may be signed.
    ///
    /// # Errors
    ///
    /// Any: it is a no. Its words are told to nobody, since they may quote what must not be told.
    fn approve<'a>(&'a self, proposal: &'a Proposal) -> Approval<'a>;
}

/// What [`Approve::approve`] returns.
pub type Approval<'a> =
    Pin<Box<dyn Future<Output = Result<bool, Box<dyn StdError + Send + Sync>>> + Send + 'a>>;

/// What is about to be signed, and for which call. It has no secrets.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Proposal {
    /// What would be signed: token, amount, dollars, payee, validity and flow.
    pub quote: Quote,
    /// Who pays.
    pub payer: Address,
    /// Whom the call asks: scheme, host and port of its URL, without path and query.
    pub origin: String,
    /// What the caller calls the purchase, or the namespace that it is in; none if it has no name.
    pub purchase: Option<String>,
}

/// As one sentence for a person.
impl fmt::Display for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (quote, origin) = (&self.quote, &self.origin);
        write!(f, "pay {quote} for a call to {origin}")?;
        let purchase = self.purchase.as_ref();
        purchase.map_or(Ok(()), |name| write!(f, " ({name:?})"))
    }
}
