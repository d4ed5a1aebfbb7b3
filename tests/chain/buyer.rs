//! Who pays: a key, our wallet over it, and what it signs as a facilitator would read it.

use alloy_primitives::{Address, B256, Signature, address};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use alloy_sol_types::SolStruct;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use paywait_signals::Timestamp;
use paywait_x402::evm::{Authorization, domain};
use paywait_x402::{
    Asset, KnownAsset, Offer, PaymentId, Purchase, PurchaseKey, SignedPayment, Terms, Wallet,
    headers,
};
use serde_json::{Value, json};

use crate::evm::{Evm, Reverted};
use crate::token::CancelAuthorization;

/// Where the tests pay: USDC on Base Sepolia.
pub(crate) fn usdc() -> Asset {
    KnownAsset::all()[1].asset
}

/// Who is paid.
pub(crate) const SELLER: Address = address!("209693Bc6afc0C5328bA36FaF03C514EF312287C");

/// What a seller offers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Price {
    pub(crate) chain_id: u64,
    pub(crate) domain_name: &'static str,
    pub(crate) amount: u64,
}

impl Price {
    pub(crate) const fn of(amount: u64) -> Self {
        Self {
            chain_id: 84_532,
            domain_name: "USDC",
            amount,
        }
    }

    /// The offer as it goes over the wire, decoded.
    fn offer(self) -> Offer {
        let offer = json!({
            "x402Version": 2,
            "accepts": [{
                "scheme": "exact",
                "network": format!("eip155:{}", self.chain_id),
                "amount": self.amount.to_string(),
                "asset": usdc().contract,
                "payTo": SELLER,
                "maxTimeoutSeconds": 60,
                "extra": { "name": self.domain_name, "version": "2" },
            }],
        });
        Offer::decode(STANDARD.encode(offer.to_string()).as_bytes()).unwrap()
    }
}

/// Who pays.
#[derive(Debug)]
pub(crate) struct Buyer {
    key: PrivateKeySigner,
    wallet: Wallet,
}

impl Buyer {
    /// Returns a buyer with a key of its own.
    pub(crate) fn random() -> Self {
        let key = PrivateKeySigner::random();
        let wallet = Wallet::evm(key.clone());
        Self { key, wallet }
    }

    /// Returns who pays.
    pub(crate) const fn address(&self) -> Address {
        self.wallet.payer()
    }

    /// Signs an offer by the wallet, and reads what is put on the wire.
    pub(crate) async fn sign(&self, price: Price, nonce: B256, valid_before: u64) -> Signed {
        let terms = self.terms(price, nonce, valid_before);
        let payment = self.payment(&terms).await;
        Signed::read(&on_the_wire(payment, terms))
    }

    /// Returns what this buyer accepts of an offer.
    pub(crate) fn terms(&self, price: Price, nonce: B256, valid_before: u64) -> Terms {
        let (offer, id) = (price.offer(), PaymentId::random());
        Terms::new(&offer, 0, self.address(), nonce, id, valid_before).unwrap()
    }

    /// Signs what was accepted.
    pub(crate) async fn payment(&self, terms: &Terms) -> SignedPayment {
        self.wallet.sign(terms).await.unwrap()
    }

    /// Signs what no offer asks for.
    pub(crate) fn sign_by_hand(&self, authorization: Authorization) -> Signed {
        let hash = authorization.signing_hash(&domain("USDC", "2", usdc()));
        Signed {
            authorization,
            signature: self.key.sign_hash_sync(&hash).unwrap(),
        }
    }

    /// Takes a nonce back on a chain.
    pub(crate) fn cancel(&self, evm: &mut Evm, nonce: B256) -> Result<B256, Reverted> {
        let authorizer = self.address();
        let hash = CancelAuthorization { authorizer, nonce }.eip712_signing_hash(&domain(
            "USDC",
            "2",
            usdc(),
        ));
        let signature = self.key.sign_hash_sync(&hash).unwrap();
        evm.cancel(authorizer, nonce, &signature)
    }
}

/// A signed authorization, as whoever has its bytes can show it to the token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signed {
    pub(crate) authorization: Authorization,
    pub(crate) signature: Signature,
}

impl Signed {
    /// Reads the payment of a request's header.
    pub(crate) fn read(header: &[u8]) -> Self {
        let payment: Value = serde_json::from_slice(&STANDARD.decode(header).unwrap()).unwrap();
        let text = |pointer: &str| payment.pointer(pointer).unwrap().as_str().unwrap();
        let mut authorization = Authorization::new(
            text("/payload/authorization/from").parse().unwrap(),
            text("/payload/authorization/to").parse().unwrap(),
            text("/payload/authorization/value").parse().unwrap(),
            text("/payload/authorization/validBefore").parse().unwrap(),
            text("/payload/authorization/nonce").parse().unwrap(),
        );
        authorization.valid_after = text("/payload/authorization/validAfter").parse().unwrap();
        Self {
            authorization,
            signature: text("/payload/signature").parse().unwrap(),
        }
    }

    /// Shows it to the token. Returns the hash of the transaction.
    pub(crate) fn settle(&self, evm: &mut Evm) -> Result<B256, Reverted> {
        evm.settle(&self.authorization, &self.signature)
    }
}

/// The header that a payment goes out with.
pub(crate) fn on_the_wire(payment: SignedPayment, terms: Terms) -> Vec<u8> {
    let mut purchase = Purchase::new(PurchaseKey::random(), terms.payment_id().clone());
    purchase.accept(terms, Timestamp::from_secs(0)).unwrap();
    purchase.handle_signed(payment.clone()).unwrap();
    purchase.handle_persisted(payment).unwrap();
    let mut fields = HeaderMap::new();
    let showing = purchase.show(Timestamp::from_secs(0)).unwrap();
    showing.write(&mut fields);
    let header = fields.get(headers::PAYMENT_SIGNATURE).unwrap();
    header.as_bytes().to_vec()
}
