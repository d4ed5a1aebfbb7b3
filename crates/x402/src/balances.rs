//! What a payer has of a token, as a chain or a service tells it.

use std::error::Error as StdError;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;

use alloy_primitives::Address;

use crate::{Amount, Asset};

/// Tells what a payer has of a token, so that what cannot be funded is not chosen.
///
/// It is asked before anything is signed. A balance that is too high costs a refused payment, one
/// that is too low a purchase that could have been made. An error, silence and `None` skip nothing.
///
/// # Cancel safety
///
/// The future may be dropped at any point, and several may run at a time.
pub trait Balances: Debug + Send + Sync {
    /// Returns what `payer` has of `asset`, in atomic units; none where that is not known.
    ///
    /// # Errors
    ///
    /// Any: it is taken as not known.
    fn balance(&self, payer: Address, asset: Asset) -> Balance<'_>;
}

/// What [`Balances::balance`] returns.
pub type Balance<'a> = Pin<Box<dyn Future<Output = Told> + Send + 'a>>;

type Told = Result<Option<Amount>, Box<dyn StdError + Send + Sync>>;
