//! The machine of one call.
