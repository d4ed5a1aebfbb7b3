//! What a caller says once for all calls that it makes inside a future.

use std::any::Any;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use http::Extensions;

tokio::task_local! {
    /// The scope that this task is in. What other code left on the thread is not believed.
    static TOKEN: Arc<()>;
}

/// What a caller says once for all calls that it makes inside a future: a
/// [`Namespace`](crate::Namespace) for purchases, a [`Deadline`](crate::Deadline), what a call may cost
/// ([`CallLimit`](crate::CallLimit)) and what it is tagged with ([`Labels`](crate::Labels)).
///
/// It reaches calls that an SDK makes on its own, without a way to mark them. It follows the
/// future, also through `join!`; it does not follow `tokio::spawn`, where a scope is to be run
/// again. Inside another scope, what is not said again holds on, and limits and tags hold beside what is
/// said again. What a request says itself wins; it loosens no limit. No scope never means no limit.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use std::time::Duration;
/// use paywait::{Deadline, Scope};
///
/// let answer = Scope::new()
///     .with(Deadline::after(Duration::from_secs(20)))
///     .run(async { 42 }) // calls in here
///     .await;
/// assert_eq!(answer, 42);
/// # }
/// ```
#[derive(Clone, Default)]
#[must_use = "a scope says nothing until a future is run in it"]
pub struct Scope {
    items: Extensions,
}

/// What stands on the thread while a scope's future runs.
#[derive(Clone)]
struct Ambient {
    token: Arc<()>,
    items: Extensions,
}

impl Scope {
    /// Returns a scope that says nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one thing; the last of a type counts.
    pub fn with<T: Any + Clone + Send + Sync>(mut self, item: T) -> Self {
        self.items.insert(item);
        self
    }

    /// Runs `future` in this scope.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves nothing behind; neither does a panic inside it.
    pub async fn run<F: Future>(self, future: F) -> F::Output {
        let outer = ambient_items().unwrap_or_default();
        let mut items = outer.clone();
        items.extend(self.items);
        #[cfg(feature = "pay")]
        {
            nest::<crate::CallLimit>(&mut items, &outer);
            nest::<crate::Labels>(&mut items, &outer);
        }
        // apart, so that scopes in scopes do not grow with each
        enter(items, Box::pin(future)).await
    }
}

/// What is said in a scope and holds beside what an outer one says, not in its place.
#[cfg(feature = "pay")]
pub(crate) trait Nests: Clone + Send + Sync + 'static {
    /// Returns what holds where this is said inside of `outer`.
    fn inside(self, outer: &Self) -> Self;
}

#[cfg(feature = "pay")]
fn nest<T: Nests>(items: &mut Extensions, outer: &Extensions) {
    if let (Some(inner), Some(outer)) = (items.get::<T>().cloned(), outer.get::<T>()) {
        items.insert(inner.inside(outer));
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("items", &self.items.len())
            .finish_non_exhaustive()
    }
}

/// Runs `future` outside any scope: a signer that calls its service is not part of the purchase.
#[cfg(feature = "pay")]
pub(crate) async fn outside<F: Future>(future: F) -> F::Output {
    if ambient_items().is_none() {
        return future.await;
    }
    enter(Extensions::new(), future).await
}

/// Returns what the scope around says of `T`.
pub(crate) fn ambient<T: Clone + Send + Sync + 'static>() -> Option<T> {
    ambient_items()?.get::<T>().cloned()
}

fn ambient_items() -> Option<Extensions> {
    let token = TOKEN.try_with(Arc::clone).ok()?;
    let ambient = local_item::<Ambient>()?;
    Arc::ptr_eq(&ambient.token, &token).then_some(ambient.items)
}

/// The crate's getter is asynchronous and never waits.
fn local_item<T: Clone + Send + Sync + 'static>() -> Option<T> {
    let mut item = pin!(task_local_extensions::get_local_item::<T>());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match item.as_mut().poll(&mut context) {
        Poll::Ready(item) => item,
        Poll::Pending => None,
    }
}

async fn enter<F: Future>(items: Extensions, future: F) -> F::Output {
    let token = Arc::new(());
    let ambient = Ambient {
        token: Arc::clone(&token),
        items,
    };
    let local = task_local_extensions::Extensions::new().with(ambient);
    // a panic that passes through the crate's poll would leave our items on the thread
    let inside = task_local_extensions::with_extensions(local, caught(future));
    let (_, output) = TOKEN.scope(token, inside).await;
    output.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Runs a future and catches its panic.
async fn caught<F: Future>(future: F) -> Result<F::Output, Box<dyn Any + Send>> {
    let mut future = pin!(future);
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        match polled {
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(panic) => Poll::Ready(Err(panic)),
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Name(u8);

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Other(u8);

    #[tokio::test]
    async fn it_follows_the_future_and_not_a_spawned_one() {
        let seen = Scope::new().with(Name(1)).run(async {
            let (a, b) = tokio::join!(async { ambient::<Name>() }, async {
                tokio::task::yield_now().await;
                ambient::<Name>()
            });
            (
                a,
                b,
                tokio::spawn(async { ambient::<Name>() }).await.unwrap(),
            )
        });
        assert_eq!(seen.await, (Some(Name(1)), Some(Name(1)), None));
        assert_eq!(ambient::<Name>(), None);
    }

    #[tokio::test]
    async fn the_inner_scope_wins_and_the_rest_holds_on() {
        let inner = Scope::new()
            .with(Name(2))
            .run(async { (ambient(), ambient()) });
        let seen = Scope::new().with(Name(1)).with(Other(1)).run(inner).await;
        assert_eq!(seen, (Some(Name(2)), Some(Other(1))));
    }

    #[cfg(feature = "pay")]
    #[tokio::test]
    async fn a_signer_is_outside() {
        let seen = Scope::new()
            .with(Name(1))
            .run(outside(async { ambient::<Name>() }))
            .await;
        assert_eq!(seen, None);
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_panic_leaves_nothing_on_the_thread() {
        let task = tokio::spawn(Scope::new().with(Name(1)).run(async {
            tokio::task::yield_now().await;
            if ambient::<Name>().is_some() {
                panic!("inside");
            }
        }));
        assert!(task.await.is_err());
        assert_eq!(
            tokio::spawn(async { ambient::<Name>() }).await.unwrap(),
            None
        );
        assert!(local_item::<Ambient>().is_none());
    }

    #[tokio::test(flavor = "current_thread")]
    async fn what_other_code_leaves_on_the_thread_is_not_believed() {
        let stolen = Scope::new()
            .with(Name(1))
            .run(async { local_item::<Ambient>() })
            .await;
        task_local_extensions::set_local_item(stolen.unwrap()).await;
        assert_eq!(ambient::<Name>(), None);
        let other = Scope::new()
            .with(Other(1))
            .run(async { ambient::<Name>() })
            .await;
        assert_eq!(other, None);
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_cancelled_scope_leaves_nothing() {
        let task = tokio::spawn(Scope::new().with(Name(1)).run(std::future::pending::<()>()));
        tokio::task::yield_now().await;
        task.abort();
        assert!(task.await.is_err());
        assert_eq!(ambient::<Name>(), None);
    }
}
