//! Who signs: any signer of the alloy family, behind typed data.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use alloy_primitives::{Address, Signature};
use alloy_signer::Signer;
use alloy_sol_types::Eip712Domain;

use crate::evm::TransferWithAuthorization;
use crate::payload::PayloadError;
use crate::{SignedPayment, Terms};

/// Who pays, and signs for it.
///
/// Cheap to clone; clones share the signer.
#[derive(Clone)]
pub struct Wallet {
    signer: Arc<dyn SignTyped>,
    payer: Address,
    /// Whether a signature of this signer was recovered and found right.
    proven: Arc<AtomicBool>,
}

type Signing<'a> =
    Pin<Box<dyn Future<Output = Result<Signature, alloy_signer::Error>> + Send + 'a>>;

/// A signer that is asked for typed data: hardware wallets refuse bare hashes.
trait SignTyped: Send + Sync {
    fn chain_id(&self) -> Option<u64>;
    fn sign<'a>(
        &'a self,
        transfer: &'a TransferWithAuthorization,
        domain: &'a Eip712Domain,
    ) -> Signing<'a>;
}

impl<S: Signer + Send + Sync> SignTyped for S {
    fn chain_id(&self) -> Option<u64> {
        Signer::chain_id(self)
    }

    fn sign<'a>(
        &'a self,
        transfer: &'a TransferWithAuthorization,
        domain: &'a Eip712Domain,
    ) -> Signing<'a> {
        self.sign_typed_data(transfer, domain)
    }
}

impl Wallet {
    /// Returns a wallet that signs with `signer`: a local key, a hardware wallet, a key service.
    pub fn evm(signer: impl Signer + Send + Sync + 'static) -> Self {
        let payer = signer.address();
        Self {
            signer: Arc::new(signer),
            payer,
            proven: Arc::default(),
        }
    }

    /// Returns who pays.
    pub const fn payer(&self) -> Address {
        self.payer
    }

    /// Signs terms. From the moment this is called, a payment may exist.
    ///
    /// The signature is recovered and compared with [`payer`](Self::payer): the first of each
    /// wallet, and every one of a signer that is not in this process. A signer whose answer is
    /// ready the first time it is asked did no I/O, and is taken to be in this process.
    ///
    /// # Errors
    ///
    /// A [`SignError`]. Nothing is returned that could be cashed; what a remote signer made and
    /// lost may exist all the same.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future asks no further, and does not unmake what a remote signer made.
    pub async fn sign(&self, terms: &Terms) -> Result<SignedPayment, SignError> {
        if terms.payer() != self.payer {
            return Err(SignError::OtherPayer);
        }
        let domain_chain = terms.asset().network.chain_id();
        if let Some(signer_chain) = self.signer.chain_id()
            && signer_chain != domain_chain
        {
            return Err(SignError::OtherChain {
                signer: signer_chain,
                offer: domain_chain,
            });
        }
        let authorization = terms.authorization();
        let domain = terms.domain();
        let transfer = authorization.typed();
        let (signed, at_once) = ready_at_once(self.signer.sign(&transfer, &domain)).await;
        let signature = signed.map_err(|error| SignError::of(&error))?;
        let signature = signature.normalized_s();
        if !at_once || !self.proven.load(Ordering::Relaxed) {
            if authorization.signer(&domain, &signature) != Some(self.payer) {
                return Err(SignError::NotThePayer);
            }
            self.proven.store(true, Ordering::Relaxed);
        }
        Ok(SignedPayment::new(terms, &signature)?)
    }
}

impl fmt::Debug for Wallet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wallet")
            .field("payer", &self.payer)
            .finish_non_exhaustive()
    }
}

/// Runs a future, and says whether it was ready the first time it was asked.
async fn ready_at_once<F: Future>(future: F) -> (F::Output, bool) {
    let mut future = pin!(future);
    let mut polls = 0_u32;
    poll_fn(|context| {
        polls = polls.saturating_add(1);
        match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready((output, polls == 1)),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

impl SignError {
    const fn of(error: &alloy_signer::Error) -> Self {
        let unsupported = matches!(error, alloy_signer::Error::UnsupportedOperation(_));
        if unsupported {
            Self::Unsupported
        } else {
            Self::Signer
        }
    }
}

/// Why nothing was signed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    /// The signer is bound to another chain than the offer asks for.
    #[error("the signer is bound to chain {signer}, and the offer asks for chain {offer}")]
    OtherChain {
        /// The signer's chain id.
        signer: u64,
        /// The offer's chain id.
        offer: u64,
    },
    /// The terms are for another payer.
    #[error("the terms are for another payer than this wallet")]
    OtherPayer,
    /// The signature is not by the account that the signer says it is.
    #[error("the signature is not by the account of the signer")]
    NotThePayer,
    /// The signer cannot sign typed data.
    #[error("the signer does not support typed data (EIP-712)")]
    Unsupported,
    /// The signer, or the service behind it, failed. Its own words are left out: they may quote
    /// what must not be told.
    #[error("the signer failed")]
    Signer,
    /// The payment cannot be written.
    #[error(transparent)]
    Payload(#[from] PayloadError),
}
