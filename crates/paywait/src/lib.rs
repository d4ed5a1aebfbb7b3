//! The layers.
