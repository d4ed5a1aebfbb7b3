//! What a caller sets for all requests made while a future runs, also those that an SDK makes.

use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;

use http::Extensions;
use task_local_extensions::{get_local_item, with_extensions};

tokio::task_local! {
    /// Whose items may be read here. The thread-local behind `task_local_extensions` keeps the
    /// items of a future of other code that panicked; this one does not.
    static CURRENT: Token;
}

/// Items that hold for all requests made while a future runs.
///
/// An SDK makes requests that its caller never sees and cannot set extensions on. A scope around
/// the call of the SDK reaches them.
///
/// # Reach
///
/// It holds in the future itself and in what that awaits or joins, on whatever thread it is
/// polled. It does not hold in a task that is spawned inside: hand it over with
/// [`Scope::current`]. A scope inside a scope inherits the items of the outer one; of two items of
/// one type the inner wins. An item on a request itself wins over both.
///
/// A future that other code runs under its own `task_local_extensions::with_extensions` sees no
/// scope around that. Without a scope the defaults hold: no scope is never "no limit".
///
/// ```
/// # async fn ask_the_model() {}
/// # async fn example() {
/// use paywait::Scope;
///
/// #[derive(Clone)]
/// struct Label(&'static str);
///
/// Scope::new().with(Label("research")).run(async {
///     ask_the_model().await;
///     // a spawned task is in no scope by itself
///     tokio::spawn(Scope::current().run(ask_the_model()));
/// }).await;
/// # }
/// ```
#[derive(Clone, Default)]
#[must_use = "a scope does nothing until something runs in it"]
pub struct Scope {
    items: Extensions,
}

impl Scope {
    /// Returns a scope without items.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the scope with `item`, in place of one of the same type.
    pub fn with<T: Clone + Send + Sync + 'static>(mut self, item: T) -> Self {
        self.items.insert(item);
        self
    }

    /// Returns the items that hold here, those of outer scopes included.
    pub fn current() -> Self {
        let items = Ambient::current().map(|ambient| Extensions::clone(&ambient.items));
        Self {
            items: items.unwrap_or_default(),
        }
    }

    /// Runs `future` in this scope, within the one that it is first polled in.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops `future` and leaves nothing behind, and so does a panic in `future`, which
    /// goes on from here.
    pub async fn run<F: Future>(self, future: F) -> F::Output {
        let mut items = Self::current().items;
        items.extend(self.items);
        run_with(items, future).await
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("items", &self.items.len())
            .finish_non_exhaustive()
    }
}

/// Returns the item of this type that holds here.
pub(crate) fn ambient<T: Clone + Send + Sync + 'static>() -> Option<T> {
    Ambient::current()?.items.get::<T>().cloned()
}

/// Runs `future` in no scope at all: a hook or a signer makes requests of its own.
pub(crate) async fn outside<F: Future>(future: F) -> F::Output {
    run_with(Extensions::new(), future).await
}

/// What holds in one run of a scope, as it lies in the task-local extensions.
#[derive(Clone)]
struct Ambient {
    token: Token,
    items: Arc<Extensions>,
}

impl Ambient {
    /// Returns what holds here: what lies in the extensions, if this task put it there.
    fn current() -> Option<Self> {
        let token = CURRENT.try_with(|token| *token).ok()?;
        // the function is async, and waits for nothing
        let lying = pin!(get_local_item::<Self>()).poll(&mut Context::from_waker(Waker::noop()));
        match lying {
            Poll::Ready(lying) => lying.filter(|ambient| ambient.token == token),
            Poll::Pending => None,
        }
    }
}

/// One run of one scope.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Token(u64);

impl Token {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Runs `future` with `items` and no others.
async fn run_with<F: Future>(items: Extensions, future: F) -> F::Output {
    let token = Token::new();
    let ambient = Ambient {
        token,
        items: Arc::new(items),
    };
    let extensions = task_local_extensions::Extensions::new().with(ambient);
    // a panic that passed through `with_extensions` would leave the items on the thread
    let caught = with_extensions(extensions, catch_panic(future));
    match CURRENT.scope(token, caught).await {
        (_, Ok(output)) => output,
        (_, Err(panic)) => resume_unwind(panic),
    }
}

/// Runs `future`, and catches a panic in it. It is not polled again after one.
async fn catch_panic<F: Future>(future: F) -> thread::Result<F::Output> {
    let mut future = pin!(future);
    poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        },
    )
    .await
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::task::yield_now;

    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Label(&'static str);

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Other(u8);

    fn label(text: &'static str) -> Scope {
        Scope::new().with(Label(text))
    }

    #[tokio::test]
    async fn an_item_holds_in_direct_calls_and_across_awaits() {
        let seen = label("a").run(async {
            yield_now().await;
            ambient::<Label>()
        });
        assert_eq!(seen.await, Some(Label("a")));
        assert_eq!(ambient::<Label>(), None);
    }

    #[tokio::test]
    async fn an_item_holds_in_joined_futures() {
        async fn look() -> Option<Label> {
            yield_now().await;
            ambient()
        }
        let seen = label("a").run(async { tokio::join!(look(), look()) }).await;
        assert_eq!(seen, (Some(Label("a")), Some(Label("a"))));
    }

    #[tokio::test]
    async fn joined_scopes_do_not_mix() {
        async fn look_twice() -> [Option<Label>; 2] {
            let before = ambient();
            yield_now().await;
            [before, ambient()]
        }
        let (a, b, none) = tokio::join!(
            label("a").run(look_twice()),
            label("b").run(look_twice()),
            look_twice()
        );
        assert_eq!(a, [Some(Label("a")); 2]);
        assert_eq!(b, [Some(Label("b")); 2]);
        assert_eq!(none, [None; 2]);
    }

    #[tokio::test]
    async fn a_spawned_task_is_in_no_scope_unless_it_is_handed_over() {
        let scope = label("a");
        let (lost, handed) = scope
            .run(async {
                let lost = tokio::spawn(async { ambient::<Label>() });
                let handed = tokio::spawn(Scope::current().run(async { ambient::<Label>() }));
                (lost.await.unwrap(), handed.await.unwrap())
            })
            .await;
        assert_eq!(lost, None);
        assert_eq!(handed, Some(Label("a")));
    }

    #[tokio::test]
    async fn an_inner_scope_inherits_and_its_own_items_win() {
        let outer = label("outer").with(Other(1));
        let inner = || label("inner").run(async { (ambient::<Label>(), ambient::<Other>()) });
        let (within, after) = outer
            .run(async { (inner().await, ambient::<Label>()) })
            .await;
        assert_eq!(within, (Some(Label("inner")), Some(Other(1))));
        assert_eq!(after, Some(Label("outer")));
    }

    #[tokio::test]
    async fn outside_hides_the_scope_for_as_long_as_it_runs() {
        let (out, within, back) = label("a")
            .run(async {
                let out = outside(async { ambient::<Label>() }).await;
                let within = outside(label("b").run(async { ambient::<Label>() })).await;
                (out, within, ambient::<Label>())
            })
            .await;
        assert_eq!(out, None);
        assert_eq!(within, Some(Label("b")));
        assert_eq!(back, Some(Label("a")));
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_panic_leaves_nothing_on_the_thread() {
        let victim = tokio::spawn(label("victim").run(async {
            yield_now().await;
            panic!("on purpose");
        }));
        let failure = victim.await.unwrap_err();
        assert_eq!(
            failure.into_panic().downcast_ref::<&str>(),
            Some(&"on purpose")
        );
        let unrelated = tokio::spawn(async { raw().is_none() && ambient::<Label>().is_none() });
        assert!(unrelated.await.unwrap());
    }

    #[tokio::test]
    async fn a_panic_inside_is_caught_by_an_outer_scope_too() {
        let nested = label("outer").run(async {
            let inner = catch_panic(label("inner").run(async { panic!("on purpose") }));
            assert!(inner.await.is_err());
            ambient::<Label>()
        });
        assert_eq!(nested.await, Some(Label("outer")));
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_cancelled_scope_leaves_nothing() {
        tokio::select! {
            biased;
            () = label("a").run(pending()) => unreachable!("it never ends"),
            () = yield_now() => {}
        }
        assert!(raw().is_none());
        assert_eq!(ambient::<Label>(), None);
    }

    #[tokio::test]
    async fn what_other_code_left_on_the_thread_is_not_read() {
        let leaked = label("victim").run(async { raw().unwrap() }).await;
        let with_leak = || task_local_extensions::Extensions::new().with(leaked.clone());
        let read = || async { ambient::<Label>() };
        let (_, no_scope) = with_extensions(with_leak(), read()).await;
        assert_eq!(no_scope, None);
        let other_scope = label("a").run(with_extensions(with_leak(), read()));
        assert_eq!(other_scope.await.1, None);
    }

    #[tokio::test]
    async fn a_scope_can_run_on_many_threads() {
        fn is_send<T: Send>(value: T) -> T {
            value
        }
        assert_eq!(
            is_send(label("a").run(async { ambient() })).await,
            Some(Label("a"))
        );
    }

    /// What lies in the extensions, whoever put it there.
    fn raw() -> Option<Ambient> {
        match pin!(get_local_item::<Ambient>()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(raw) => raw,
            Poll::Pending => None,
        }
    }
}
