//! What is read of the chain proves what the chain then does.

use std::sync::{Arc, Mutex, MutexGuard};

use alloy_primitives::B256;
use paywait_x402::{Asset, ChainError, ChainReader, Network, NonceOf, Proof, death_margin, prove};

use crate::buyer::{Buyer, Price, Signed, usdc};
use crate::evm::{Evm, Reverted};
use crate::reader::EvmReader;

/// A buyer with money, and a chain that is read from some depth.
struct Scene {
    evm: Arc<Mutex<Evm>>,
    buyer: Buyer,
    reader: Arc<dyn ChainReader>,
}

impl Scene {
    /// A chain at second 1,000, whose blocks are final once `depth` others stand on them.
    fn with_depth(depth: usize) -> Self {
        let (mut evm, buyer) = (Evm::deploy(usdc(), 1_000), Buyer::random());
        evm.mint(buyer.address(), 50_000);
        evm.seal(depth);
        let evm = Arc::new(Mutex::new(evm));
        let reader = Arc::new(EvmReader::new(&evm, depth));
        Self { evm, buyer, reader }
    }

    fn evm(&self) -> MutexGuard<'_, Evm> {
        self.evm.lock().unwrap()
    }

    /// Seals blocks at a time.
    fn seal_at(&self, time: u64, count: usize) {
        let mut evm = self.evm();
        evm.set_time(time);
        evm.seal(count);
    }

    async fn sign(&self, valid_before: u64) -> Signed {
        let price = Price::of(10_000);
        self.buyer.sign(price, NONCE, valid_before).await
    }

    async fn proof(&self, latest_valid_before: u64) -> Proof {
        let nonce = NonceOf::new(usdc(), self.buyer.address(), NONCE);
        let facts = self.reader.read(&nonce).await.unwrap();
        prove(&facts, latest_valid_before)
    }

    fn settle(&self, signed: &Signed) -> Result<B256, Reverted> {
        signed.settle(&mut self.evm())
    }
}

#[tokio::test]
async fn an_unused_nonce_is_open_while_it_lives_and_may_settle_yet() {
    let scene = Scene::with_depth(0);
    let signed = scene.sign(1_060).await;
    assert_eq!(scene.proof(1_060).await, Proof::Open);
    scene.seal_at(1_059, 1);
    assert_eq!(scene.proof(1_060).await, Proof::Open);
    assert!(scene.settle(&signed).is_ok());
}

#[tokio::test]
async fn an_unused_nonce_whose_time_is_over_is_unused_for_ever() {
    let scene = Scene::with_depth(0);
    let signed = scene.sign(1_060).await;
    scene.seal_at(1_060, 1);

    assert_eq!(scene.proof(1_060).await, Proof::Unused);

    // the next block may have the very same time
    for time in [1_060, 1_061, 10_000, u64::MAX] {
        scene.evm().set_time(time);
        assert_eq!(scene.settle(&signed), Err(Reverted::Expired));
        scene.evm().seal(1);
        assert_eq!(scene.proof(1_060).await, Proof::Unused);
    }
}

#[tokio::test]
async fn a_used_nonce_settled_in_its_transaction_before_and_after_its_time() {
    let scene = Scene::with_depth(0);
    let signed = scene.sign(1_060).await;
    let transaction = Some(scene.settle(&signed).unwrap());
    assert_eq!(scene.proof(1_060).await, Proof::Settled { transaction });
    scene.seal_at(2_000, 1);
    assert_eq!(scene.proof(1_060).await, Proof::Settled { transaction });
}

#[tokio::test]
async fn a_cancelled_nonce_is_cancelled_before_and_after_its_time() {
    let scene = Scene::with_depth(0);
    let signed = scene.sign(1_060).await;
    scene.buyer.cancel(&mut scene.evm(), NONCE).unwrap();
    assert_eq!(scene.proof(1_060).await, Proof::Cancelled);
    assert_eq!(scene.settle(&signed), Err(Reverted::NonceUsed));
    scene.seal_at(2_000, 1);
    assert_eq!(scene.proof(1_060).await, Proof::Cancelled);
}

#[tokio::test]
async fn what_settled_in_a_block_that_is_not_final_is_open_until_it_is() {
    let scene = Scene::with_depth(2);
    let signed = scene.sign(1_060).await;
    let transaction = Some(scene.settle(&signed).unwrap());
    assert!(
        scene
            .evm()
            .authorization_state(scene.buyer.address(), NONCE)
    );

    assert_eq!(scene.proof(1_060).await, Proof::Open);
    scene.evm().seal(1);
    assert_eq!(scene.proof(1_060).await, Proof::Open);
    scene.evm().seal(1);
    assert_eq!(scene.proof(1_060).await, Proof::Settled { transaction });
}

#[tokio::test]
async fn the_time_of_the_head_proves_nothing_before_its_block_is_final() {
    let scene = Scene::with_depth(2);
    let signed = scene.sign(1_060).await;
    // settled in its last second, then two blocks long after: the head is past its time
    scene.evm().set_time(1_059);
    let transaction = Some(scene.settle(&signed).unwrap());
    scene.seal_at(5_000, 1);
    assert_eq!(scene.proof(1_060).await, Proof::Open);
    scene.seal_at(5_000, 1);
    assert_eq!(scene.proof(1_060).await, Proof::Settled { transaction });
}

#[tokio::test]
async fn a_chain_that_stood_still_settles_after_the_clocks_say_that_it_is_dead() {
    let scene = Scene::with_depth(0);
    let signed = scene.sign(1_060).await;
    // clocks went on to 5,000 while no block was made; then the missing ones are made, with the
    // times that they would have had
    let clock = 5_000;
    assert_eq!(scene.proof(1_060).await, Proof::Open);
    scene.evm().set_time(1_002);
    assert!(scene.settle(&signed).is_ok());
    // without a reader, the margin covers as long a halt
    let margin = death_margin(usdc().network).as_secs();
    assert!(clock < 1_060 + margin);
}

#[tokio::test]
async fn the_last_of_all_authorizations_with_a_nonce_decides() {
    let scene = Scene::with_depth(0);
    let (first, second) = (scene.sign(1_060).await, scene.sign(1_120).await);
    scene.seal_at(1_060, 1);
    assert_eq!(scene.settle(&first), Err(Reverted::Expired));
    assert_eq!(scene.proof(1_120).await, Proof::Open);
    let transaction = Some(scene.settle(&second).unwrap());
    assert_eq!(scene.proof(1_120).await, Proof::Settled { transaction });
}

#[tokio::test]
async fn a_refusal_for_want_of_money_is_open_while_the_authorization_lives() {
    let scene = Scene::with_depth(0);
    let price = Price::of(60_000);
    let signed = scene.buyer.sign(price, NONCE, 1_060).await;
    assert_eq!(scene.settle(&signed), Err(Reverted::BalanceTooSmall));
    assert_eq!(scene.proof(1_060).await, Proof::Open);
    scene.evm().mint(scene.buyer.address(), 10_000);
    let transaction = Some(scene.settle(&signed).unwrap());
    assert_eq!(scene.proof(1_060).await, Proof::Settled { transaction });
}

#[tokio::test]
async fn what_another_payer_does_with_the_nonce_proves_nothing_of_ours() {
    let scene = Scene::with_depth(0);
    let other = Buyer::random();
    scene.evm().mint(other.address(), 50_000);
    let signed = other.sign(Price::of(10_000), NONCE, 1_060).await;
    scene.settle(&signed).unwrap();
    assert_eq!(scene.proof(1_060).await, Proof::Open);
    scene.seal_at(1_060, 1);
    assert_eq!(scene.proof(1_060).await, Proof::Unused);
}

#[tokio::test]
async fn a_reader_answers_for_its_own_chain_only() {
    let scene = Scene::with_depth(0);
    let elsewhere = Asset::new(Network::evm(8_453), usdc().contract);
    let nonce = NonceOf::new(elsewhere, scene.buyer.address(), NONCE);
    assert_eq!(
        scene.reader.read(&nonce).await,
        Err(ChainError::OtherChain {
            reader: usdc().network,
            asked: elsewhere.network
        })
    );
}

#[tokio::test]
async fn a_chain_without_a_final_block_proves_nothing() {
    let evm = Arc::new(Mutex::new(Evm::deploy(usdc(), 1_000)));
    let reader = EvmReader::new(&evm, 1);
    let nonce = NonceOf::new(usdc(), Buyer::random().address(), NONCE);
    assert_eq!(reader.read(&nonce).await, Err(ChainError::NothingFinal));
    evm.lock().unwrap().seal(1);
    assert!(reader.read(&nonce).await.is_ok());
}

const NONCE: B256 = B256::repeat_byte(1);
