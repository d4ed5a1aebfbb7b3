//! The layers.

#[cfg_attr(
    not(test),
    expect(dead_code, reason = "the driver that peeks comes with it")
)]
mod peek;
