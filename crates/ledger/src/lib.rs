//! One record per purchase.
