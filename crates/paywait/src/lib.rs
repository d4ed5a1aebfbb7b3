//! `reqwest-middleware` layers for agents that pay per call.

mod client;
mod clock;
mod driver;
mod error;
mod failure;
mod layer;
#[cfg(feature = "pay")]
mod name;
#[cfg(feature = "pace")]
mod pace;
mod part;
#[cfg(feature = "pay")]
mod pay;
mod peek;
mod report;
mod request;
#[cfg(feature = "retry")]
mod retry;
mod running;
mod scope;
mod stake;
