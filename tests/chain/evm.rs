//! A chain in this process: an EVM with one token, and blocks that can be looked back to.

use std::collections::BTreeMap;

use alloy_primitives::{Address, B256, Bytes, Log, Signature, TxKind, U256, keccak256};
use alloy_sol_types::{SolCall, SolEvent, SolInterface};
use paywait_x402::Asset;
use paywait_x402::evm::Authorization;
use revm::context::TxEnv;
use revm::context::result::ExecutionResult;
use revm::database::{CacheDB, EmptyDB};
use revm::{Context, ExecuteCommitEvm, MainBuilder, MainContext};

use crate::token::{Token, creation_code};

/// A chain in this process, with one token on it.
///
/// Each transaction that succeeds is a block of its own. A transaction that would revert is
/// refused and leaves no block, as facilitators simulate before they send.
#[derive(Clone, Debug)]
pub(crate) struct Evm {
    asset: Asset,
    blocks: Vec<Block>,
    next_time: u64,
}

/// One block, and what stood after it.
#[derive(Clone, Debug)]
struct Block {
    time: u64,
    state: CacheDB<EmptyDB>,
    logs: Vec<(B256, Log)>,
}

/// What the token logged of one nonce.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Event {
    Used { transaction: B256 },
    Cancelled { transaction: B256 },
}

/// Why the token refused a transaction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Reverted {
    NotYetValid,
    Expired,
    NonceUsed,
    WrongSignature,
    BalanceTooSmall,
}

impl Evm {
    /// Returns a chain with the token at the address of `asset`, and `time` on its clock.
    pub(crate) fn deploy(asset: Asset, time: u64) -> Self {
        let mut evm = Self {
            asset,
            blocks: Vec::new(),
            next_time: time,
        };
        // the creation code runs, and what it leaves is moved to where the asset is said to be
        let (mut state, creation) = (CacheDB::default(), Bytes::from(creation_code()));
        let created = evm.run(time, &mut state, TxKind::Create, creation);
        let created = created.created_address().expect("the token is created");
        let token = state.cache.accounts.remove(&created).unwrap().info;
        state.insert_account_info(asset.contract, token);
        evm.push(state, Vec::new());
        evm
    }

    /// Returns which token is on it.
    pub(crate) const fn asset(&self) -> Asset {
        self.asset
    }

    /// Returns the hash of the token's code.
    pub(crate) fn code_hash(&self) -> B256 {
        let accounts = &self.head().state.cache.accounts;
        accounts[&self.asset.contract].info.code_hash
    }

    /// Returns the time of the next block.
    pub(crate) const fn now(&self) -> u64 {
        self.next_time
    }

    /// Sets the time of the next block, which is never before the time of the last.
    pub(crate) fn set_time(&mut self, time: u64) {
        assert!(time >= self.head().time, "block time does not run back");
        self.next_time = time;
    }

    /// Seals blocks with nothing in them.
    pub(crate) fn seal(&mut self, count: usize) {
        for _ in 0..count {
            let state = self.head().state.clone();
            self.push(state, Vec::new());
        }
    }

    /// Makes money.
    pub(crate) fn mint(&mut self, to: Address, value: u64) {
        let value = U256::from(value);
        self.transact(&Token::mintCall { to, value })
            .expect("anybody may mint");
    }

    /// Shows an authorization to the token. Returns the hash of the transaction.
    pub(crate) fn settle(
        &mut self,
        authorization: &Authorization,
        signature: &Signature,
    ) -> Result<B256, Reverted> {
        let (v, r, s) = parts(signature);
        self.transact(&Token::transferWithAuthorizationCall {
            from: authorization.from,
            to: authorization.to,
            value: authorization.value,
            validAfter: authorization.valid_after,
            validBefore: authorization.valid_before,
            nonce: authorization.nonce,
            v,
            r,
            s,
        })
    }

    /// Takes a nonce back. Returns the hash of the transaction.
    pub(crate) fn cancel(
        &mut self,
        authorizer: Address,
        nonce: B256,
        signature: &Signature,
    ) -> Result<B256, Reverted> {
        let (v, r, s) = parts(signature);
        self.transact(&Token::cancelAuthorizationCall {
            authorizer,
            nonce,
            v,
            r,
            s,
        })
    }

    /// Returns what somebody has, in atomic units.
    pub(crate) fn balance(&self, of: Address) -> u64 {
        let balance = call(self, self.head(), &Token::balanceOfCall { account: of });
        balance.to()
    }

    /// Returns whether a nonce is used, as of the last block.
    pub(crate) fn authorization_state(&self, authorizer: Address, nonce: B256) -> bool {
        let asked = Token::authorizationStateCall { authorizer, nonce };
        call(self, self.head(), &asked)
    }

    /// Returns what was logged of nonces up to the last block, by payer and nonce.
    pub(crate) fn events(&self) -> BTreeMap<(Address, B256), Event> {
        self.last(0).unwrap().events()
    }

    /// Returns what stood `depth` blocks before the last.
    pub(crate) fn last(&self, depth: usize) -> Option<View<'_>> {
        let height = self.blocks.len().checked_sub(depth)?;
        let blocks = &self.blocks[..height];
        let (head, _) = blocks.split_last()?;
        Some(View {
            evm: self,
            blocks,
            head,
        })
    }

    fn head(&self) -> &Block {
        self.blocks.last().unwrap()
    }

    fn transact<C: SolCall>(&mut self, asked: &C) -> Result<B256, Reverted> {
        let mut state = self.head().state.clone();
        let data = Bytes::from(asked.abi_encode());
        // what a transaction is hashed over differs for each, though its call may not
        let transaction = keccak256([&self.blocks.len().to_be_bytes(), data.as_ref()].concat());
        let kind = TxKind::Call(self.asset.contract);
        match self.run(self.next_time, &mut state, kind, data) {
            ExecutionResult::Success { logs, .. } => {
                let logs = logs.into_iter().map(|log| (transaction, log)).collect();
                self.push(state, logs);
                Ok(transaction)
            }
            ExecutionResult::Revert { output, .. } => Err(Reverted::read(&output)),
            halted @ ExecutionResult::Halt { .. } => panic!("{halted:?}"),
        }
    }

    fn push(&mut self, state: CacheDB<EmptyDB>, logs: Vec<(B256, Log)>) {
        let time = self.next_time;
        self.blocks.push(Block { time, state, logs });
    }

    /// Runs a transaction on a state, in a block of some time.
    fn run(
        &self,
        time: u64,
        state: &mut CacheDB<EmptyDB>,
        kind: TxKind,
        data: Bytes,
    ) -> ExecutionResult {
        let chain_id = self.asset.network.chain_id();
        let transaction = TxEnv::builder()
            .chain_id(Some(chain_id))
            .gas_limit(GAS)
            .kind(kind)
            .data(data)
            .build()
            .unwrap();
        Context::mainnet()
            .with_db(state)
            .modify_cfg_chained(|cfg| {
                cfg.chain_id = chain_id;
                cfg.disable_nonce_check = true;
            })
            .modify_block_chained(|block| block.timestamp = U256::from(time))
            .build_mainnet()
            .transact_commit(transaction)
            .unwrap()
    }
}

/// What stood at one block: the state after it, and the logs up to it.
#[derive(Debug)]
pub(crate) struct View<'a> {
    evm: &'a Evm,
    blocks: &'a [Block],
    head: &'a Block,
}

impl View<'_> {
    pub(crate) const fn time(&self) -> u64 {
        self.head.time
    }

    pub(crate) fn authorization_state(&self, authorizer: Address, nonce: B256) -> bool {
        let asked = Token::authorizationStateCall { authorizer, nonce };
        call(self.evm, self.head, &asked)
    }

    pub(crate) fn events(&self) -> BTreeMap<(Address, B256), Event> {
        let logs = self.blocks.iter().flat_map(|block| &block.logs);
        logs.filter_map(|(transaction, log)| event(*transaction, log))
            .collect()
    }
}

/// Asks the token as of a block, and changes nothing.
fn call<C: SolCall>(evm: &Evm, block: &Block, asked: &C) -> C::Return {
    let (kind, data) = (TxKind::Call(evm.asset.contract), asked.abi_encode());
    let result = evm.run(block.time, &mut block.state.clone(), kind, data.into());
    C::abi_decode_returns(result.output().unwrap()).unwrap()
}

fn event(transaction: B256, log: &Log) -> Option<((Address, B256), Event)> {
    if let Ok(used) = Token::AuthorizationUsed::decode_log(log) {
        let of = (used.authorizer, used.nonce);
        return Some((of, Event::Used { transaction }));
    }
    let cancelled = Token::AuthorizationCanceled::decode_log(log).ok()?;
    let of = (cancelled.authorizer, cancelled.nonce);
    Some((of, Event::Cancelled { transaction }))
}

impl Reverted {
    fn read(output: &[u8]) -> Self {
        match Token::TokenErrors::abi_decode(output).expect("one of the token's own errors") {
            Token::TokenErrors::NotYetValid(_) => Self::NotYetValid,
            Token::TokenErrors::Expired(_) => Self::Expired,
            Token::TokenErrors::NonceUsed(_) => Self::NonceUsed,
            Token::TokenErrors::WrongSignature(_) => Self::WrongSignature,
            Token::TokenErrors::BalanceTooSmall(_) => Self::BalanceTooSmall,
        }
    }
}

/// The signature as a contract takes it.
fn parts(signature: &Signature) -> (u8, B256, B256) {
    let v = 27_u8.saturating_add(u8::from(signature.v()));
    (v, signature.r().into(), signature.s().into())
}

/// More than any call of the token takes, and less than the cap of a transaction (EIP-7825).
const GAS: u64 = 5_000_000;
