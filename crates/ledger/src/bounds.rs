//! The limits that stand on a ledger.

use std::sync::Arc;

use crate::{Limit, Limits};

/// The limits that stand on a ledger: all that were registered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bounds {
    pub(crate) limits: Arc<[Limit]>,
    /// Which opening of the store this is.
    pub(crate) instance: u64,
}

impl Bounds {
    /// Returns no limits, for one opening of a store.
    #[cfg(feature = "sqlite")]
    pub(crate) fn of_instance(instance: u64) -> Self {
        Self {
            instance,
            ..Self::default()
        }
    }

    pub(crate) fn register(&mut self, limits: &Limits) {
        let mut all = self.limits.to_vec();
        for limit in limits.on_ledger() {
            if !all.contains(&limit) {
                all.push(limit);
            }
        }
        self.limits = all.into();
    }
}
