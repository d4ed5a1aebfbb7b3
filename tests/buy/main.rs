//! The example `buy` as a person runs it: exit status, one sentence a failure, and no key anywhere.

mod program;
mod refused;
mod sold;
mod stall;
