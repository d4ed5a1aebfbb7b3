//! A hand-made buyer drives the seller: over the pure answer, raw sockets and wiremock.

#[cfg(test)]
mod buyer;
#[cfg(test)]
mod claims;
#[cfg(test)]
mod flows;
#[cfg(test)]
mod identifier;
#[cfg(test)]
mod script;
#[cfg(test)]
mod sockets;
#[cfg(test)]
mod v1;
