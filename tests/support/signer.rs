//! A signer that counts what it is asked, and can keep its caller waiting.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use alloy_primitives::{Address, B256, ChainId, Signature};
use alloy_signer::Signer;
use alloy_signer_local::PrivateKeySigner;

/// What is done before each signature.
type Before = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// A signer that counts what it is asked, and does something else first. Clones count together.
#[derive(Clone)]
pub struct CountingSigner {
    key: PrivateKeySigner,
    asked: Arc<AtomicUsize>,
    fails: usize,
    before: Option<Before>,
}

impl CountingSigner {
    /// Returns a signer with a key of its own.
    pub fn random() -> Self {
        Self {
            key: PrivateKeySigner::random(),
            asked: Arc::default(),
            fails: 0,
            before: None,
        }
    }

    /// Does something before each signature.
    #[must_use]
    pub fn before<F>(mut self, act: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.before = Some(Arc::new(move || Box::pin(act())));
        self
    }

    /// Fails the first so many `times`.
    #[must_use]
    pub const fn failing(mut self, times: usize) -> Self {
        self.fails = times;
        self
    }

    /// Returns how often it was asked to sign.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

#[async_trait::async_trait]
impl Signer for CountingSigner {
    async fn sign_hash(&self, hash: &B256) -> alloy_signer::Result<Signature> {
        let asked_before = self.asked.fetch_add(1, Ordering::SeqCst);
        if asked_before < self.fails {
            return Err(alloy_signer::Error::other("the device is locked"));
        }
        if let Some(before) = &self.before {
            before().await;
        }
        self.key.sign_hash(hash).await
    }

    fn address(&self) -> Address {
        self.key.address()
    }

    fn chain_id(&self) -> Option<ChainId> {
        None
    }

    fn set_chain_id(&mut self, _chain_id: Option<ChainId>) {}
}

impl fmt::Debug for CountingSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountingSigner")
            .field("asked", &self.asked)
            .finish_non_exhaustive()
    }
}
