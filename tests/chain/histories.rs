//! Every short history of one nonce: what is proven at any point of it holds in all that can follow.

use std::collections::BTreeMap;

use alloy_primitives::B256;
use paywait_x402::{NonceOf, Proof, prove};

use crate::buyer::{Buyer, Price, SELLER, Signed, usdc};
use crate::evm::Evm;
use crate::reader::facts;

/// One nonce that was signed twice, and how often each proof was met.
struct Histories {
    buyer: Buyer,
    signed: [Signed; 2],
    met: BTreeMap<&'static str, usize>,
}

impl Histories {
    /// Follows all that can happen in so many steps. Returns whether money moved in any of it.
    fn follow(&mut self, evm: &Evm, steps: usize) -> bool {
        let moved = evm.balance(SELLER);
        assert!([0, 10_000, 15_000].contains(&moved), "{moved} at once");
        let mut moves = moved > 0;
        if let Some(fewer) = steps.checked_sub(1) {
            for next in self.next(evm) {
                moves |= self.follow(&next, fewer);
            }
        }
        self.judge(evm, moves);
        moves
    }

    /// Whoever has the bytes shows them, the payer cancels, or time goes on.
    fn next(&self, evm: &Evm) -> Vec<Evm> {
        let mut all = Vec::new();
        for signed in &self.signed {
            let mut next = evm.clone();
            all.extend(signed.settle(&mut next).ok().map(|_| next));
        }
        let mut next = evm.clone();
        let cancelled = self.buyer.cancel(&mut next, NONCE);
        all.extend(cancelled.ok().map(|_| next));
        for seconds in [0, 30] {
            let mut next = evm.clone();
            next.set_time(evm.now().saturating_add(seconds));
            next.seal(1);
            all.push(next);
        }
        all
    }

    /// Holds what is proven against what happened and what can happen.
    fn judge(&mut self, evm: &Evm, moves: bool) {
        let nonce = NonceOf::new(usdc(), self.buyer.address(), NONCE);
        let proof = prove(&facts(evm, DEPTH, &nonce).unwrap(), LATEST);
        let name = match proof {
            Proof::Settled { transaction } => {
                assert!(transaction.is_some() && evm.balance(SELLER) > 0);
                "settled"
            }
            Proof::Cancelled | Proof::Unused => {
                assert!(!moves, "{proof:?}, and money moves");
                "nothing moves"
            }
            Proof::Open | _ => "open",
        };
        let met = self.met.entry(name).or_default();
        *met = met.saturating_add(1);
    }
}

#[tokio::test]
async fn what_is_proven_at_any_point_holds_in_all_that_can_follow() {
    let buyer = Buyer::random();
    let mut evm = Evm::deploy(usdc(), 1_000);
    evm.mint(buyer.address(), 50_000);
    evm.seal(DEPTH);
    let signed = [
        buyer.sign(Price::of(10_000), NONCE, 1_030).await,
        buyer.sign(Price::of(15_000), NONCE, LATEST).await,
    ];
    let met = BTreeMap::new();
    let mut histories = Histories { buyer, signed, met };

    assert!(histories.follow(&evm, STEPS));

    for name in ["open", "settled", "nothing moves"] {
        assert!(histories.met[name] > 10, "{:?}", histories.met);
    }
}

const NONCE: B256 = B256::repeat_byte(1);

/// When the later of the two signatures ends.
const LATEST: u64 = 1_060;

/// How many blocks stand on the final one.
const DEPTH: usize = 1;

/// Enough for both signatures to die, a settlement before that, and its block to become final.
const STEPS: usize = 5;
