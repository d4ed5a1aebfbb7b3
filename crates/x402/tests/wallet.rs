//! Wallets: whose signatures are believed, and which are checked.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use alloy_primitives::{Address, B256, Signature, U256, uint};
use alloy_signer::{Error, Signer};
use alloy_signer_local::PrivateKeySigner;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use paywait_signals::Timestamp;
use paywait_x402::{
    Offer, PaymentId, Purchase, PurchaseKey, SignError, SignedPayment, Terms, Wallet, headers,
};

/// A public test key of the Ethereum tools.
const KEY: &str = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";

fn key() -> PrivateKeySigner {
    KEY.parse().unwrap()
}

fn terms() -> Terms {
    let offer = r#"{"x402Version":2,"accepts":[{"scheme":"exact","network":"eip155:84532",
        "amount":"10000","asset":"0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "payTo":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C","maxTimeoutSeconds":60,
        "extra":{"name":"USDC","version":"2"}}]}"#;
    let offer = Offer::decode(STANDARD.encode(offer).as_bytes()).unwrap();
    Terms::new(
        &offer,
        0,
        key().address(),
        B256::ZERO,
        PaymentId::random(),
        1_000,
    )
    .unwrap()
}

/// The header that a payment goes out with.
fn shown(payment: SignedPayment, terms: Terms) -> String {
    let mut purchase = Purchase::new(PurchaseKey::named("x"), PaymentId::random());
    purchase.accept(terms, Timestamp::from_secs(0)).unwrap();
    purchase.handle_signed(payment.clone()).unwrap();
    purchase.handle_persisted(payment).unwrap();
    let mut fields = HeaderMap::new();
    purchase
        .show(Timestamp::from_secs(0))
        .unwrap()
        .write(&mut fields);
    let field = fields.get(headers::PAYMENT_SIGNATURE).unwrap();
    String::from_utf8(STANDARD.decode(field).unwrap()).unwrap()
}

/// A signer that does as it is told: whose keys it uses in turn, and how it behaves.
struct Scripted {
    says: Address,
    keys: Vec<PrivateKeySigner>,
    remote: bool,
    high_s: bool,
    chain_id: Option<u64>,
    calls: Arc<AtomicUsize>,
}

impl Scripted {
    fn with(keys: Vec<PrivateKeySigner>) -> Self {
        Self {
            says: key().address(),
            keys,
            remote: false,
            high_s: false,
            chain_id: None,
            calls: Arc::default(),
        }
    }
}

#[async_trait::async_trait]
impl Signer for Scripted {
    async fn sign_hash(&self, hash: &B256) -> Result<Signature, Error> {
        if self.remote {
            tokio::task::yield_now().await;
        }
        let turn = self.calls.fetch_add(1, Ordering::Relaxed);
        let Some(key) = self.keys.get(turn).or_else(|| self.keys.last()) else {
            return Err(Error::message("the secret is hunter2"));
        };
        let signature = key.sign_hash(hash).await?;
        if !self.high_s {
            return Ok(signature);
        }
        let high = ORDER.saturating_sub(signature.s());
        Ok(Signature::new(signature.r(), high, !signature.v()))
    }

    fn address(&self) -> Address {
        self.says
    }

    fn chain_id(&self) -> Option<u64> {
        self.chain_id
    }

    fn set_chain_id(&mut self, chain_id: Option<u64>) {
        self.chain_id = chain_id;
    }
}

#[tokio::test]
async fn the_first_signature_of_any_signer_is_checked() {
    let liar = Wallet::evm(Scripted::with(vec![PrivateKeySigner::random()]));
    assert_eq!(
        liar.sign(&terms()).await.err(),
        Some(SignError::NotThePayer)
    );
}

#[tokio::test]
async fn each_signature_of_a_remote_signer_is_checked_and_of_a_local_one_the_first() {
    for (remote, second) in [(true, Some(SignError::NotThePayer)), (false, None)] {
        let keys = vec![key(), PrivateKeySigner::random()];
        let wallet = Wallet::evm(Scripted {
            remote,
            ..Scripted::with(keys)
        });
        assert!(wallet.sign(&terms()).await.is_ok());
        assert_eq!(wallet.sign(&terms()).await.err(), second);
    }
}

#[tokio::test]
async fn a_wallet_signs_for_nobody_else() {
    let stranger = Wallet::evm(PrivateKeySigner::random());
    assert_eq!(
        stranger.sign(&terms()).await.err(),
        Some(SignError::OtherPayer)
    );
}

#[tokio::test]
async fn a_signer_bound_to_another_chain_is_not_asked() {
    let signer = Scripted {
        chain_id: Some(8453),
        ..Scripted::with(vec![key()])
    };
    let calls = Arc::clone(&signer.calls);
    let refused = Wallet::evm(signer).sign(&terms()).await;
    assert_eq!(
        refused.err(),
        Some(SignError::OtherChain {
            signer: 8453,
            offer: 84_532
        })
    );
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_high_s_is_made_low() {
    let terms = terms();
    let low = Wallet::evm(key()).sign(&terms).await.unwrap();
    let high = Scripted {
        high_s: true,
        ..Scripted::with(vec![key()])
    };
    let high = Wallet::evm(high).sign(&terms).await.unwrap();
    assert_eq!(shown(high, terms.clone()), shown(low, terms));
}

#[tokio::test]
async fn what_a_failing_signer_says_stays_with_it() {
    let error = Wallet::evm(Scripted::with(Vec::new()))
        .sign(&terms())
        .await
        .err()
        .unwrap();
    assert_eq!(error, SignError::Signer);
    assert!(!format!("{error} {error:?}").contains("hunter2"));
}

#[tokio::test]
async fn no_debug_text_holds_a_signature() {
    let (terms, wallet) = (terms(), Wallet::evm(key()));
    let payment = wallet.sign(&terms).await.unwrap();
    let printed = format!("{payment:?} {wallet:?} {terms:?}");
    let shown = shown(payment, terms);
    let (_, signature) = shown.split_once(r#""signature":"0x"#).unwrap();
    let (signature, _) = signature.split_at(130);
    assert!(signature.bytes().all(|digit| digit.is_ascii_hexdigit()));
    assert!(!printed.contains(signature), "{printed}");
}

/// The order of the group of secp256k1.
const ORDER: U256 = uint!(0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141_U256);
