//! What one quota is kept under.

use std::fmt;

/// What one quota is kept under: an origin.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PaceKey(String);

impl PaceKey {
    /// Returns the key of an origin (RFC 6454).
    pub fn origin(scheme: &str, host: &str, port: u16) -> Self {
        Self(format!("{scheme}://{host}:{port}"))
    }
}

impl fmt::Display for PaceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
