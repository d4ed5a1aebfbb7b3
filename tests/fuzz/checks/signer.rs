//! A wallet that signs as fast as a target needs: the first signature is real, and the others are it.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use alloy_primitives::{Address, B256, ChainId, Signature, address};
use alloy_signer::Signer;
use alloy_signer_local::PrivateKeySigner;
use paywait_x402::{SignError, SignedPayment, Terms, Wallet};

/// Who pays in all targets.
pub(crate) const PAYER: Address = address!("f39Fd6e51aad88F6F4ce6aB8827279cffFb92266");

/// Signs terms; what is signed first is proven, and every other signature is a copy of it.
pub(crate) fn sign(terms: &Terms) -> Result<SignedPayment, SignError> {
    static WALLET: LazyLock<Wallet> = LazyLock::new(|| {
        Wallet::evm(Copying {
            key: key(),
            first: Arc::default(),
        })
    });
    ready(WALLET.sign(terms))
}

struct Copying {
    key: PrivateKeySigner,
    first: Arc<Mutex<Option<Signature>>>,
}

#[async_trait::async_trait]
impl Signer for Copying {
    async fn sign_hash(&self, hash: &B256) -> alloy_signer::Result<Signature> {
        let first = *self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = first {
            return Ok(first);
        }
        let signature = self.key.sign_hash(hash).await?;
        *self.first.lock().unwrap_or_else(PoisonError::into_inner) = Some(signature);
        Ok(signature)
    }

    fn address(&self) -> Address {
        self.key.address()
    }

    fn chain_id(&self) -> Option<ChainId> {
        None
    }

    fn set_chain_id(&mut self, _chain_id: Option<ChainId>) {}
}

fn key() -> PrivateKeySigner {
    let Ok(key) = KEY.parse() else {
        panic!("the test key is no key");
    };
    key
}

/// A signer in this process is ready at once.
fn ready<F: Future>(future: F) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

/// The first account of the usual test mnemonic: known to everybody.
const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
