//! What the reference's ledger says of one path.

use std::collections::BTreeSet;
use std::fmt;

use support::reference::Ledger;

/// What the reference's ledger says of one path.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Book {
    pub(crate) sends: usize,
    /// Distinct nonces: each is an authorization that can be cashed.
    pub(crate) nonces: usize,
    /// Distinct payment identifiers.
    pub(crate) identifiers: usize,
    pub(crate) settlements: usize,
    pub(crate) runs: u64,
}

impl Book {
    pub(crate) fn of(ledger: &Ledger, path: &str) -> Self {
        let requests = || {
            let all = ledger.requests.iter();
            all.filter(|request| request.path == path)
        };
        let nonces: BTreeSet<_> = requests()
            .filter_map(|request| request.nonce.as_ref())
            .collect();
        let identifiers: BTreeSet<_> = requests()
            .filter_map(|request| request.payment_id.as_ref())
            .collect();
        let settled = ledger.settlements.iter();
        Self {
            sends: requests().count(),
            settlements: settled
                .filter(|settlement| nonces.contains(&settlement.nonce))
                .count(),
            nonces: nonces.len(),
            identifiers: identifiers.len(),
            runs: ledger.runs(path),
        }
    }
}

impl fmt::Display for Book {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            sends,
            nonces,
            settlements,
            runs,
            ..
        } = self;
        write!(f, "{sends:5} {nonces:5} {settlements:7} {runs:4}")
    }
}
