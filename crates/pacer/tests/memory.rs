//! The memory store through its trait.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use paywait_pacer::{Cost, MemoryStore, PaceKey, QuotaStore, Seen};
use paywait_signals::Timestamp;

/// The memory store never waits: each of its futures is ready at once.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the memory store waited"),
    }
}

#[test]
fn a_send_goes_through_the_whole_road() {
    let memory = Arc::new(MemoryStore::default());
    let store: Arc<dyn QuotaStore> = Arc::<MemoryStore>::clone(&memory);
    let key = PaceKey::origin("https", "api.example", 443);
    let now = Timestamp::from_secs(0);
    let slot = ready(store.admit(&key, Cost::default(), now));
    let permit = ready(store.confirm(slot, now)).unwrap();
    let mut seen = Seen::default();
    seen.remaining = Some(0);
    seen.reset_in = Some(Duration::from_secs(9));
    ready(store.observe(&key, Some(permit), seen, now));
    let slot = ready(store.admit(&key, Cost::default(), now));
    assert_eq!(slot.at(), Timestamp::from_secs(9));
    store.cancel(slot);
    assert_eq!(memory.admissions(), 1);
}

#[test]
fn threads_share_what_is_left() {
    let store = MemoryStore::default();
    let key = PaceKey::origin("https", "api.example", 443);
    let now = Timestamp::from_secs(0);
    let mut seen = Seen::default();
    seen.remaining = Some(5);
    seen.reset_in = Some(Duration::from_secs(60));
    ready(store.observe(&key, None, seen, now));
    let went = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| ready(store.admit(&key, Cost::default(), now)).at() == now))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .filter(|went| *went)
            .count()
    });
    assert_eq!(went, 5);
}
