//! Attempts to make the layers pay twice, pay too much, pay somebody else, or say too much.

#[cfg(test)]
mod again;
#[cfg(test)]
mod elsewhere;
#[cfg(test)]
mod hedge;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod replies;
#[cfg(test)]
mod signers;
