//! What quotas are kept under.

use std::fmt;
use std::sync::Arc;

/// What quotas are kept under: an origin (RFC 6454), that is scheme, host and port. Cheap to clone.
///
/// ```
/// use paywait_pacer::PaceKey;
///
/// let key = PaceKey::origin("https", "api.example", 443);
/// assert_eq!(key.as_str(), "https://api.example:443");
/// ```
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PaceKey(Arc<str>);

impl PaceKey {
    /// Returns the key of an origin. Scheme and host are taken as a URL parser gives them: lower
    /// case, the host in its ASCII form.
    pub fn origin(scheme: &str, host: &str, port: u16) -> Self {
        Self(format!("{scheme}://{host}:{port}").into())
    }

    /// Returns the key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PaceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
