//! Processes that buy, killed at any moment, and what their ledgers then say.

#[cfg(test)]
mod killed;
