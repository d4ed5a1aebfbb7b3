//! A call that is under way, as the layers inside it find it.

use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::Extensions;
#[cfg(feature = "pace")]
use paywait_pacer::{Cost, PaceKey, Permit, QuotaStore};
use reqwest::{Body, Request};
use reqwest_middleware::Error;
#[cfg(any(feature = "pay", feature = "pace"))]
use std::sync::OnceLock;
#[cfg(feature = "pay")]
use {
    crate::name::Named,
    crate::part::Purse,
    crate::request::same_origin,
    paywait_ledger::{LedgerError, Owner, Taken},
    paywait_x402::headers,
};

use crate::Clock;
use crate::part::{Part, Parts};
use crate::request::Template;

tokio::task_local! {
    /// The call whose send is under way in this task. It finds the call again where a layer
    /// between ours hands on other extensions.
    static SENDING: Arc<Running>;
}

/// A call that is under way: who lent what, and what became of the send that is out.
pub(crate) struct Running {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) template: Template,
    /// Whether the caller brings a payment of his own: then none of ours is added.
    #[cfg(feature = "pay")]
    pub(crate) brings_payment: bool,
    #[cfg(feature = "pay")]
    pub(crate) named: Option<Named>,
    /// For whom the ledger is asked, once it is.
    #[cfg(feature = "pay")]
    owner: OnceLock<Owner>,
    #[cfg(feature = "pace")]
    pace_key: OnceLock<PaceKey>,
    is_closed: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    parts: Parts,
    /// Something was lent that the driver has not picked up yet.
    has_news: bool,
    /// A layer turned the send that is out back: nothing of it may leave.
    turned_back: bool,
    /// The body of a request that can be sent once, until it goes.
    stream: Option<Body>,
    /// How often the send that is out has passed each layer.
    passes: Vec<(LayerId, u32)>,
    /// The most of them: more than one shows that a foreign layer sends by itself.
    most_passes: u32,
    #[cfg(feature = "pace")]
    permit: Option<Permit>,
    #[cfg(feature = "pay")]
    taken: Option<Result<Taken, LedgerError>>,
    /// A joining layer has asked the ledger for the purchase of the caller's key, and may have got it.
    #[cfg(feature = "pay")]
    asked_for_purchase: bool,
}

/// Which layer: two of a kind are told apart, and one that a send passes twice shows that a
/// foreign layer sends by itself.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct LayerId(usize);

impl LayerId {
    /// Returns the identity of an attached layer: where it stands in memory.
    pub(crate) fn of<T>(layer: &T) -> Self {
        Self(std::ptr::from_ref(layer).addr())
    }
}

/// Where a request that meets one of our layers belongs.
pub(crate) enum Found {
    /// To the call that is under way.
    Inside(Arc<Running>),
    /// To some other middleware, which sends it while a call of ours is under way. Inside a running
    /// call nothing of ours starts another.
    Beside,
    /// To nobody yet: it starts a call.
    Outside,
}

/// What joining layers left for the driver to pick up.
#[derive(Default)]
pub(crate) struct Gathered {
    /// All parts, where one is new.
    pub(crate) parts: Option<Parts>,
    pub(crate) turned_back: bool,
    #[cfg(feature = "pace")]
    pub(crate) permit: Option<Permit>,
    #[cfg(feature = "pay")]
    pub(crate) taken: Option<Result<Taken, LedgerError>>,
}

impl Running {
    /// Starts a call that the layer of `part` drives.
    pub(crate) fn new(
        clock: Arc<dyn Clock>,
        request: Request,
        part: &Part,
        #[cfg(feature = "pay")] named: Option<Named>,
    ) -> Arc<Self> {
        #[cfg(feature = "pay")]
        let brings_payment = headers::carries_payment(request.headers());
        let (template, stream) = Template::new(request);
        let mut state = State {
            stream,
            ..State::default()
        };
        state.lend(part);
        Arc::new(Self {
            clock,
            template,
            #[cfg(feature = "pay")]
            brings_payment,
            #[cfg(feature = "pay")]
            named: named.filter(|_| !brings_payment),
            #[cfg(feature = "pay")]
            owner: OnceLock::new(),
            #[cfg(feature = "pace")]
            pace_key: OnceLock::new(),
            is_closed: AtomicBool::new(false),
            state: Mutex::new(state),
        })
    }

    /// Finds the running call that a request belongs to.
    pub(crate) fn find(extensions: &Extensions, request: &Request) -> Found {
        let carried = extensions
            .get::<Arc<Self>>()
            .filter(|running| running.is_open());
        if let Some(running) = carried {
            return Found::Inside(Arc::clone(running));
        }
        let around = SENDING
            .try_with(Arc::clone)
            .ok()
            .filter(|running| running.is_open());
        match around {
            None => Found::Outside,
            Some(running) if running.is_of(request) => Found::Inside(running),
            Some(_) => Found::Beside,
        }
    }

    /// Runs one send of this call, so that layers inside find it.
    pub(crate) async fn around<F: Future>(self: &Arc<Self>, send: F) -> F::Output {
        self.state().begin_send();
        SENDING.scope(Arc::clone(self), send).await
    }

    /// Returns the request for one more send, or `None` if its body has gone.
    pub(crate) fn copy_request(&self) -> Option<Request> {
        self.template.copy(&mut self.state().stream)
    }

    /// Takes the body of a send back before a byte of it left, and says that it was turned back.
    pub(crate) fn turn_back(&self, mut request: Request) -> Error {
        self.state().stream = request.body_mut().take();
        Error::middleware(TurnedBack)
    }

    /// Takes what joining layers left since the last time.
    pub(crate) fn gather(&self) -> Gathered {
        let mut state = self.state();
        let has_news = std::mem::take(&mut state.has_news);
        Gathered {
            parts: has_news.then(|| state.parts.clone()),
            turned_back: std::mem::take(&mut state.turned_back),
            #[cfg(feature = "pace")]
            permit: state.permit.take(),
            #[cfg(feature = "pay")]
            taken: state.taken.take(),
        }
    }

    /// Ends the call: a request that still carries it starts anew, and what a joining layer took for
    /// a driver that is gone is given back.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        #[cfg(feature = "pace")]
        let left = self.gather();
        #[cfg(feature = "pace")]
        if let Some(permit) = left.permit
            && let Some(pacer) = self.parts().pacer
        {
            // whoever got it here let the send go on
            if left.turned_back {
                pacer.release(permit);
            } else {
                pacer.spend(permit);
            }
        }
        // whether it was given is not known where the answer was not waited for; what the driver has
        // given back is not given back twice
        #[cfg(feature = "pay")]
        {
            let asked = self.state().asked_for_purchase;
            if let (true, Some(named), Some(purse)) = (asked, &self.named, self.parts().purse) {
                purse.ledger.release(named.key, self.owner(), true);
            }
        }
    }

    /// Returns for whom the ledger is asked: this call.
    #[cfg(feature = "pay")]
    pub(crate) fn owner(&self) -> Owner {
        *self.owner.get_or_init(Owner::random)
    }

    /// Returns what the pacer keeps this call's origin under.
    #[cfg(feature = "pace")]
    pub(crate) fn pace_key(&self) -> &PaceKey {
        self.pace_key.get_or_init(|| {
            let url = self.template.get().url();
            let port = url.port_or_known_default().unwrap_or_default();
            PaceKey::origin(url.scheme(), url.host_str().unwrap_or_default(), port)
        })
    }

    /// A layer that meets a send, and lends its part: true if the send may go on.
    #[cfg_attr(
        not(any(feature = "pay", feature = "pace")),
        expect(
            clippy::unused_async,
            unused_variables,
            reason = "there is no pacer and no ledger to ask"
        )
    )]
    pub(crate) async fn enter(&self, layer: LayerId, part: &Part) -> bool {
        let Some(passed) = self.state().pass(layer, part) else {
            return false;
        };
        #[cfg(feature = "pace")]
        if let Some(pacer) = passed.unasked {
            pacer
                .book(self.pace_key(), Cost::default(), self.clock.now())
                .await;
        }
        match part {
            #[cfg(feature = "pay")]
            Part::Pay(purse) if passed.first => self.enter_pay(purse).await,
            #[cfg(feature = "pace")]
            Part::Pace(pacer) if passed.first => self.enter_pace(pacer.as_ref()).await,
            _ => true,
        }
    }

    /// A purchase of the caller's key may stand in the ledger: then it is shown before all else.
    #[cfg(feature = "pay")]
    async fn enter_pay(&self, purse: &Purse) -> bool {
        let Some(named) = &self.named else {
            return true;
        };
        let (key, owner) = (named.key, self.owner());
        let least = self.clock.least();
        self.state().asked_for_purchase = true;
        let asked = purse.ledger.take(key, named.fingerprint, owner, least);
        let taken = purse.answer_of(asked).await;
        let nothing = matches!(taken, Ok(Taken::Nothing));
        let mut state = self.state();
        state.taken = Some(taken);
        // another copy of this send may have been turned back meanwhile: that stands
        state.turned_back |= !nothing;
        !state.turned_back
    }

    /// The pacer joins in the middle of a send: it may go now, or it is turned back to wait.
    #[cfg(feature = "pace")]
    async fn enter_pace(&self, pacer: &dyn QuotaStore) -> bool {
        let now = self.clock.now();
        let slot = pacer.admit(self.pace_key(), Cost::default(), now).await;
        let permit = match slot.at() <= now {
            true => pacer.confirm(slot, now).await.ok(),
            false => {
                pacer.cancel(slot);
                None
            }
        };
        let mut state = self.state();
        state.turned_back |= permit.is_none();
        state.permit = permit;
        !state.turned_back
    }

    /// Lets nothing pass that a layer between ours has sent, with a payment of ours, on its way to
    /// another origin than the one that was asked.
    #[cfg(feature = "pay")]
    pub(crate) fn guard_payment(&self, request: &Request) -> Result<(), Error> {
        let ours = !self.brings_payment && headers::carries_payment(request.headers());
        if ours && !same_origin(request.url(), self.template.get().url()) {
            return Err(Error::middleware(Diverted));
        }
        Ok(())
    }

    #[cfg(any(feature = "pay", feature = "pace"))]
    fn parts(&self) -> Parts {
        self.state().parts.clone()
    }

    fn is_of(&self, request: &Request) -> bool {
        let own = self.template.get();
        own.method() == request.method() && own.url() == request.url()
    }

    fn is_open(&self) -> bool {
        !self.is_closed.load(Ordering::Acquire)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // no code of ours can panic while it holds the lock
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes a part, and says whether it is the first of its kind.
    fn lend(&mut self, part: &Part) -> bool {
        let first = self.parts.lend(part);
        self.has_news |= first;
        first
    }

    fn begin_send(&mut self) {
        self.turned_back = false;
        self.passes.clear();
        self.most_passes = 0;
    }

    /// Counts a layer that meets the send, and takes its part; nothing if the send was turned back.
    #[cfg_attr(
        not(feature = "pace"),
        expect(unused_variables, reason = "no pacer to tell")
    )]
    fn pass(&mut self, layer: LayerId, part: &Part) -> Option<Passed> {
        if self.turned_back {
            return None;
        }
        let unasked = self.passes_unasked(layer);
        let first = self.lend(part);
        Some(Passed {
            #[cfg(any(feature = "pay", feature = "pace"))]
            first,
            #[cfg(feature = "pace")]
            unasked: self.parts.pacer.clone().filter(|_| unasked),
        })
    }

    /// Counts a pass of the send that is out, and says whether it shows a further send that no one
    /// asked the pacer for. Several layers see the same one; it is told once.
    fn passes_unasked(&mut self, layer: LayerId) -> bool {
        let place = self.passes.iter().position(|(passed, _)| *passed == layer);
        let count = match place.and_then(|place| self.passes.get_mut(place)) {
            Some((_, count)) => {
                *count = count.saturating_add(1);
                *count
            }
            None => {
                self.passes.push((layer, 1));
                1
            }
        };
        let more = count > self.most_passes;
        self.most_passes = self.most_passes.max(count);
        more && count > 1
    }
}

/// What a layer that met the send finds.
struct Passed {
    /// It is the first of its kind.
    #[cfg(any(feature = "pay", feature = "pace"))]
    first: bool,
    /// The pacer to tell of a send that nobody asked for.
    #[cfg(feature = "pace")]
    unasked: Option<Arc<dyn QuotaStore>>,
}

/// A layer must act before this send can go: the driver starts it over.
#[derive(Debug)]
struct TurnedBack;

impl fmt::Display for TurnedBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("turned back by a layer that joins the call, before anything was sent")
    }
}

impl std::error::Error for TurnedBack {}

/// A payment was on its way to somebody who was not asked: it does not leave.
#[cfg(feature = "pay")]
#[derive(Debug)]
struct Diverted;

#[cfg(feature = "pay")]
impl fmt::Display for Diverted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a layer changed the origin of a request that carries a payment")
    }
}

#[cfg(feature = "pay")]
impl std::error::Error for Diverted {}
