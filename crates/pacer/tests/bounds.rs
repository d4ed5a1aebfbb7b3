//! How much a pacer remembers.

use paywait_pacer::{Cost, PaceKey, Pacer};
use paywait_signals::Timestamp;

#[test]
fn ten_thousand_origins_are_remembered_and_no_more() {
    let mut pacer = Pacer::default();
    for host in 0..10_001 {
        if host == 10_000 {
            assert_eq!(pacer.keys(), 10_000);
        }
        let key = PaceKey::origin("https", &format!("{host}.example"), 443);
        let slot = pacer.admit(&key, Cost::default(), Timestamp::from_secs(1));
        pacer.cancel(slot);
    }
    assert_eq!(pacer.keys(), 10_000);
}
