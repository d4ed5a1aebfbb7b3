//! Reads the chain of this process as a node would be read.

use std::future::ready;
use std::sync::{Arc, Mutex};

use paywait_x402::{ChainError, ChainReader, NonceEvent, NonceFacts, NonceOf, Reading};

use crate::evm::{Event, Evm};

/// Reads a chain whose blocks are final once so many stand on them.
#[derive(Clone, Debug)]
pub(crate) struct EvmReader {
    evm: Arc<Mutex<Evm>>,
    depth: usize,
}

impl EvmReader {
    pub(crate) fn new(evm: &Arc<Mutex<Evm>>, depth: usize) -> Self {
        let evm = Arc::clone(evm);
        Self { evm, depth }
    }
}

impl ChainReader for EvmReader {
    fn read<'a>(&'a self, nonce: &'a NonceOf) -> Reading<'a> {
        Box::pin(ready(facts(&self.evm.lock().unwrap(), self.depth, nonce)))
    }
}

/// Reads what stood `depth` blocks before the last.
pub(crate) fn facts(evm: &Evm, depth: usize, nonce: &NonceOf) -> Result<NonceFacts, ChainError> {
    let (reader, asked) = (evm.asset().network, nonce.asset.network);
    if asked != reader {
        return Err(ChainError::OtherChain { reader, asked });
    }
    let block = evm.last(depth).ok_or(ChainError::NothingFinal)?;
    let event = block.events().get(&(nonce.payer, nonce.nonce)).copied();
    let event = event.map(|event| match event {
        Event::Used { transaction } => NonceEvent::Used { transaction },
        Event::Cancelled { .. } => NonceEvent::Cancelled,
    });
    let is_used = block.authorization_state(nonce.payer, nonce.nonce);
    Ok(NonceFacts::new(block.time(), is_used, event))
}
