//! A real EVM and an EIP-3009 token judge what our wallet signs, and what our reading of a chain proves.

#[cfg(test)]
mod buyer;
#[cfg(test)]
mod cancelled;
#[cfg(test)]
mod evm;
#[cfg(test)]
mod histories;
#[cfg(test)]
mod once;
#[cfg(test)]
mod prove;
#[cfg(test)]
mod reader;
#[cfg(test)]
mod reconciled;
#[cfg(test)]
mod settle;
#[cfg(test)]
mod token;
