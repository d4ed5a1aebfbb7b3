//! Attempts to make the layers pay twice, pay too much, pay somebody else, or say too much.

mod again;
mod elsewhere;
mod hedge;
mod limits;
mod signers;
