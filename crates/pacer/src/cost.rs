//! What one send takes out of each window.

/// What one send takes out of each window. One request by default.
///
/// ```
/// use paywait_pacer::Cost;
///
/// assert_eq!(Cost::default().requests, 1);
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Cost {
    /// How many requests it counts for.
    pub requests: u64,
}

impl Cost {
    /// Returns the cost of `requests` requests.
    pub const fn requests(requests: u64) -> Self {
        Self { requests }
    }
}

impl Default for Cost {
    fn default() -> Self {
        Self::requests(1)
    }
}
