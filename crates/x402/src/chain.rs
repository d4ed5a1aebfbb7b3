//! What a chain proves of a nonce: that it settled, was cancelled, or can never settle any more.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use alloy_primitives::{Address, B256};

use crate::{Asset, Network};

/// Reads of a chain what became of a nonce.
///
/// An implementation asks a node for one *final* block, one that the chain does not take back, and
/// for what stood at that block: all of [`NonceFacts`] as of the same one. The JSON-RPC of
/// Ethereum calls it the `finalized` block.
pub trait ChainReader: Debug + Send + Sync {
    /// Reads what is known of `nonce` at a final block.
    ///
    /// # Errors
    ///
    /// A [`ChainError`]. An error proves nothing of the nonce.
    fn read<'a>(&'a self, nonce: &'a NonceOf) -> Reading<'a>;
}

/// What [`ChainReader::read`] returns.
pub type Reading<'a> = Pin<Box<dyn Future<Output = Result<NonceFacts, ChainError>> + Send + 'a>>;

/// A nonce, and the space where it settles once: a token contract on a chain, and the payer.
///
/// EIP-3009 keeps used nonces in the token, for each authorizer on its own.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct NonceOf {
    /// The chain and the token contract.
    pub asset: Asset,
    /// Who signed: the authorizer of EIP-3009.
    pub payer: Address,
    /// The nonce.
    pub nonce: B256,
}

impl NonceOf {
    /// Returns the nonce of `payer` at `asset`.
    pub const fn new(asset: Asset, payer: Address, nonce: B256) -> Self {
        Self {
            asset,
            payer,
            nonce,
        }
    }
}

/// What stood at one final block.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct NonceFacts {
    /// The time of the final block, in seconds since the Unix epoch.
    pub final_time: u64,
    /// What `authorizationState(payer, nonce)` of the token returns at that block.
    pub is_used: bool,
    /// What the token logged of the nonce, up to that block; nothing if the log was not found.
    pub event: Option<NonceEvent>,
}

impl NonceFacts {
    /// Returns what stood at the final block of `final_time`, in seconds since the Unix epoch.
    pub const fn new(final_time: u64, is_used: bool, event: Option<NonceEvent>) -> Self {
        Self {
            final_time,
            is_used,
            event,
        }
    }
}

/// What the token logged when the nonce was used up.
///
/// `authorizationState` is the same after both: the log alone tells them apart (EIP-3009, events).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum NonceEvent {
    /// `AuthorizationUsed(authorizer, nonce)`: a transfer by this nonce was made.
    Used {
        /// The hash of the transaction that made it.
        transaction: B256,
    },
    /// `AuthorizationCanceled(authorizer, nonce)`: the payer took the nonce back.
    Cancelled,
}

/// What is proven of all authorizations that were ever signed with one nonce.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Proof {
    /// One of them settled, and no other can.
    Settled {
        /// The hash of the transaction, if its event was found.
        transaction: Option<B256>,
    },
    /// The payer cancelled the nonce before it settled: nothing moved, and nothing can.
    Cancelled,
    /// None of them settled, and none can any more.
    Unused,
    /// Nothing is proven: one of them may settle yet, or may have settled after the final block.
    Open,
}

/// Returns what `facts` prove of the authorizations that were signed with one nonce, of which the
/// last to expire says `latest_valid_before` (seconds since the Unix epoch).
///
/// `latest_valid_before` must cover **every** authorization that was signed with the nonce,
/// whatever its amount and payee; one that is forgotten can settle after a proof of
/// [`Unused`](Proof::Unused).
///
/// # Why this is proof
///
/// * EIP-3009 marks a nonce as used when a transfer is made or the nonce is cancelled, refuses
///   both for a used nonce, and never unmarks it. So a used nonce was used once, by the event that
///   was logged, and settles no second time.
/// * The state of a final block holds everything up to that block. A nonce that is unused there did
///   not settle in it or before it.
/// * EIP-3009 refuses a transfer unless `block.timestamp < validBefore`, and the time of a block
///   is never before that of its parent. So after a final block whose time is `latest_valid_before`
///   or later, every block refuses. The comparison is by block time on both sides: clocks do
///   not enter into it, a halt of the chain does not either, and **no margin is needed**.
///
/// A used nonce without an event counts as settled: logs are pruned sooner than state, and money
/// that may have moved is not to be spent again. An unused nonce *with* an event is a contradiction,
/// as by a reader that asked two nodes or two blocks, and proves nothing.
///
/// ```
/// use paywait_x402::{NonceFacts, Proof, prove};
/// let unused_at = |final_time| NonceFacts::new(final_time, false, None);
/// assert_eq!(prove(&unused_at(999), 1_000), Proof::Open); // the next block may settle it
/// assert_eq!(prove(&unused_at(1_000), 1_000), Proof::Unused);
/// ```
pub const fn prove(facts: &NonceFacts, latest_valid_before: u64) -> Proof {
    match (facts.is_used, facts.event) {
        (true, Some(NonceEvent::Used { transaction })) => Proof::Settled {
            transaction: Some(transaction),
        },
        (true, Some(NonceEvent::Cancelled)) => Proof::Cancelled,
        (true, None) => Proof::Settled { transaction: None },
        (false, None) if facts.final_time >= latest_valid_before => Proof::Unused,
        (false, _) => Proof::Open,
    }
}

/// Why nothing could be read of a nonce.
///
/// The words of a node and of its client are left out: they quote URLs, and URLs of nodes hold keys.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainError {
    /// The reader reads another chain.
    #[error("the reader reads {reader}, and the nonce is on {asked}")]
    OtherChain {
        /// The chain that is read.
        reader: Network,
        /// The chain of the nonce.
        asked: Network,
    },
    /// No node answered, or it answered that it cannot.
    #[error("the chain could not be asked")]
    Unreachable,
    /// A node answered with something that is not an answer to what was asked.
    #[error("the answer of the chain cannot be read")]
    Unreadable,
    /// The node knows no final block yet.
    #[error("the chain has no final block yet")]
    NothingFinal,
}

/// Returns how long after `validBefore` an authorization is taken for dead where no
/// [`ChainReader`] is at hand and death frees money.
///
/// A token compares `validBefore` with block time (EIP-3009), and we have a clock only: the
/// margin is by how much blocks that are yet to come can be behind it.
///
/// | chains | margin | why |
/// | --- | --- | --- |
/// | OP Stack: Base, OP Mainnet, and their Sepolia networks | 2 h | blocks have a fixed distance in time, and those that a halt left out are made afterwards, with the times that they would have had; halts of 33 to 116 minutes were reported |
/// | Polygon PoS and Amoy | 600 s | blocks are not filled in afterwards; some minutes are for stalls and reorganizations |
/// | Arbitrum One and Arbitrum Sepolia | 900 s | the sequencer stamps the blocks, and may hold a transaction back; it is bound to a day only, so a strict margin would be 24 h |
/// | any other | 2 h | nothing is known, so the longest of these |
///
/// ```
/// use paywait_x402::{Network, death_margin};
/// assert_eq!(death_margin(Network::evm(8453)).as_secs(), 7_200);
/// ```
pub const fn death_margin(network: Network) -> Duration {
    match network.chain_id() {
        BASE | BASE_SEPOLIA | OP | OP_SEPOLIA => OP_STACK_MARGIN,
        POLYGON | POLYGON_AMOY => POLYGON_MARGIN,
        ARBITRUM | ARBITRUM_SEPOLIA => ARBITRUM_MARGIN,
        _ => OP_STACK_MARGIN,
    }
}

const OP_STACK_MARGIN: Duration = Duration::from_hours(2);
const POLYGON_MARGIN: Duration = Duration::from_mins(10);
const ARBITRUM_MARGIN: Duration = Duration::from_mins(15);

const BASE: u64 = 8_453;
const BASE_SEPOLIA: u64 = 84_532;
const OP: u64 = 10;
const OP_SEPOLIA: u64 = 11_155_420;
const POLYGON: u64 = 137;
const POLYGON_AMOY: u64 = 80_002;
const ARBITRUM: u64 = 42_161;
const ARBITRUM_SEPOLIA: u64 = 421_614;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const TRANSACTION: B256 = B256::repeat_byte(7);
    const USED: Option<NonceEvent> = Some(NonceEvent::Used {
        transaction: TRANSACTION,
    });

    #[test]
    fn a_used_nonce_with_its_event_settled_in_that_transaction() {
        let settled = Proof::Settled {
            transaction: Some(TRANSACTION),
        };
        for final_time in [0, 999, 1_000, u64::MAX] {
            assert_eq!(
                prove(&NonceFacts::new(final_time, true, USED), 1_000),
                settled
            );
        }
    }

    #[test]
    fn a_used_nonce_without_an_event_counts_as_settled() {
        let facts = NonceFacts::new(2_000, true, None);
        assert_eq!(prove(&facts, 1_000), Proof::Settled { transaction: None });
    }

    #[test]
    fn a_cancelled_nonce_moved_nothing_at_any_time() {
        for final_time in [0, 1_000] {
            let facts = NonceFacts::new(final_time, true, Some(NonceEvent::Cancelled));
            assert_eq!(prove(&facts, 1_000), Proof::Cancelled);
        }
    }

    #[test]
    fn an_unused_nonce_is_proven_from_the_second_of_its_valid_before_on() {
        let at = |final_time| prove(&NonceFacts::new(final_time, false, None), 1_000);
        assert_eq!(at(0), Proof::Open);
        assert_eq!(at(999), Proof::Open);
        assert_eq!(at(1_000), Proof::Unused);
        assert_eq!(at(1_001), Proof::Unused);
    }

    #[test]
    fn an_unused_nonce_with_an_event_is_a_contradiction_and_proves_nothing() {
        for event in [USED, Some(NonceEvent::Cancelled)] {
            let facts = NonceFacts::new(2_000, false, event);
            assert_eq!(prove(&facts, 1_000), Proof::Open);
        }
    }

    #[test]
    fn the_margins_are_those_of_the_chains() {
        let cases = [
            (8_453, 7_200),
            (84_532, 7_200),
            (10, 7_200),
            (11_155_420, 7_200),
            (137, 600),
            (80_002, 600),
            (42_161, 900),
            (421_614, 900),
            (1, 7_200),
            (u64::MAX, 7_200),
        ];
        for (chain_id, seconds) in cases {
            assert_eq!(
                death_margin(Network::evm(chain_id)),
                Duration::from_secs(seconds),
                "{chain_id}"
            );
        }
    }

    #[test]
    fn a_reader_can_be_shared_behind_its_trait() {
        fn shared(_: Option<std::sync::Arc<dyn ChainReader>>) {}
        shared(None);
    }

    /// What arrives in a block, of a nonce of which several authorizations were signed.
    #[derive(Clone, Copy, Debug)]
    enum Arrives {
        /// Somebody shows the authorization with this `validBefore`.
        Transfer(u64),
        /// The payer takes the nonce back.
        Cancel,
    }

    /// A block: seconds since its parent, and what arrives in it.
    type Step = (u64, Vec<Arrives>);

    fn arrives() -> impl Strategy<Value = Arrives> {
        prop_oneof![
            8 => (0_u64..60).prop_map(Arrives::Transfer),
            1 => Just(Arrives::Cancel),
        ]
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        vec((0_u64..20, vec(arrives(), 0..3)), 1..12)
    }

    /// A token as EIP-3009 has it, for one nonce of one payer: what stood after each block.
    fn run(steps: &[Step]) -> Vec<NonceFacts> {
        let (mut time, mut event) = (0_u64, None);
        let mut facts = Vec::new();
        for (later, arrived) in steps {
            time = time.saturating_add(*later);
            for arrival in arrived {
                let outcome = match arrival {
                    Arrives::Transfer(valid_before) => (time < *valid_before).then_some(USED),
                    Arrives::Cancel => Some(Some(NonceEvent::Cancelled)),
                };
                event = event.or_else(|| outcome.flatten());
            }
            facts.push(NonceFacts::new(time, event.is_some(), event));
        }
        facts
    }

    fn latest(steps: &[Step]) -> u64 {
        let arrived = steps.iter().flat_map(|(_, arrived)| arrived);
        let valid_before = arrived.map(|arrival| match arrival {
            Arrives::Transfer(valid_before) => *valid_before,
            Arrives::Cancel => 0,
        });
        valid_before.max().unwrap_or(0)
    }

    proptest! {
        #[test]
        fn no_later_block_settles_what_was_proven_not_to(steps in steps()) {
            let latest = latest(&steps);
            let facts = run(&steps);
            for (place, at) in facts.iter().enumerate() {
                let proof = prove(at, latest);
                let settles = facts[place..].iter().any(|later| later.event == USED);
                match proof {
                    Proof::Unused | Proof::Cancelled => prop_assert!(!settles, "{proof:?}"),
                    Proof::Settled { .. } => prop_assert!(at.event == USED),
                    Proof::Open => prop_assert!(at.final_time < latest),
                }
            }
        }

        #[test]
        fn of_a_pruned_log_nothing_is_freed_that_was_not_free(steps in steps()) {
            let latest = latest(&steps);
            for at in run(&steps) {
                let pruned = prove(&NonceFacts { event: None, ..at }, latest);
                let is_free = matches!(pruned, Proof::Unused | Proof::Cancelled);
                prop_assert!(!is_free || at.event != USED);
            }
        }

        #[test]
        fn a_later_expiry_never_proves_more(
            final_time in any::<u64>(),
            is_used in any::<bool>(),
            expiries in any::<[u64; 2]>(),
        ) {
            let facts = NonceFacts::new(final_time, is_used, None);
            let [sooner, later] = [expiries[0].min(expiries[1]), expiries[0].max(expiries[1])];
            if prove(&facts, later) == Proof::Unused {
                prop_assert_eq!(prove(&facts, sooner), Proof::Unused);
            }
        }
    }
}
