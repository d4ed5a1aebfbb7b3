//! The three layers in all orders, with foreign layers around and between them.

#[cfg(test)]
mod alone;
#[cfg(test)]
mod inside;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod outside;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod twice;
