//! What is said where a layer is made.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use alloy_signer_local::PrivateKeySigner;
use paywait::{Ledger, Limit, Limits, MemoryLedger, Pay, Period, SqliteLedger, Wallet};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::shop::{a_call, dollars};

/// Keeps what is said at the level of a warning.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

struct Words(String);

impl Visit for Words {
    fn record_debug(&mut self, _: &Field, value: &dyn Debug) {
        self.0 = format!("{value:?}");
    }
}

impl Subscriber for Heard {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut words = Words(String::new());
        event.record(&mut words);
        self.0.lock().unwrap().push(words.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// What is said where a layer with these limits is made on this ledger.
fn said(limits: Limits, ledger: Arc<dyn Ledger>) -> Vec<String> {
    let heard = Heard::default();
    tracing::subscriber::with_default(heard.clone(), || {
        drop(Pay::with_ledger(
            Wallet::evm(PrivateKeySigner::random()),
            limits,
            ledger,
        ));
    });
    heard.0.lock().unwrap().split_off(0)
}

#[test]
fn a_ledger_that_forgets_at_a_restart_says_so_where_limits_are_meant_to_outlive_it() {
    let folder = std::env::temp_dir().join(format!("paywait-words-{}", fastrand::u64(..)));
    let file = Arc::new(SqliteLedger::create(&folder).unwrap());
    let hour = || a_call("1").and(Limit::dollars(dollars("1"), Period::HOUR));
    let day = || Limits::per_call(dollars("1")).per_day(dollars("5"));
    let total = || a_call("1").and(Limit::dollars(dollars("9"), Period::Total));
    for (limits, says) in [(a_call("1"), 0), (hour(), 0), (day(), 1), (total(), 1)] {
        let words = said(limits.clone(), Arc::new(MemoryLedger::new()));
        assert_eq!(words.len(), says, "{limits:?}");
        assert!(
            words.iter().all(|words| words.contains("restart")),
            "{words:?}"
        );
        let file: Arc<dyn Ledger> = Arc::<SqliteLedger>::clone(&file);
        assert_eq!(said(limits, file), Vec::<String>::new());
    }
    drop(file);
    for end in ["", "-wal", "-shm"] {
        let mut path = folder.clone().into_os_string();
        path.push(end);
        std::fs::remove_file(path).ok();
    }
}
