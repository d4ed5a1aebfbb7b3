//! The layers.

#[cfg_attr(
    not(test),
    expect(dead_code, reason = "the driver that peeks comes with it")
)]
mod peek;
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "the layers that read it come with it")
)]
mod scope;

pub use scope::Scope;
