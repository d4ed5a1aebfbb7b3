//! The one driver: it does what the machine of the call asks, and tells it how that went.

use http::Extensions;
#[cfg(feature = "pay")]
use http::StatusCode;
use paywait_call::{Action, Answered, Call, End, Failure, FailureKind, Outgoing};
use paywait_signals::{Reply, Timestamp};
use reqwest::{Request, Response};
use reqwest_middleware::{Next, Result};
use std::sync::Arc;

use crate::part::{Part, Parts};
use crate::running::{Gathered, Running};
#[cfg(feature = "pay")]
use crate::stake::Lease;
#[cfg(any(feature = "pay", feature = "pace"))]
use crate::stake::Stake;
use crate::{Clock, Error, failure, request};
use reading::Read;

#[cfg(feature = "pay")]
mod asking;
#[cfg(feature = "pace")]
mod pacing;
#[cfg(feature = "pay")]
mod paying;
mod reading;

/// One call on its way: the machine, what it is about, and what is at stake.
///
/// # Cancel safety
///
/// Dropped at any point, it gives back its permit and its lease, lets go of a hold only if the
/// signer was never asked, and leaves the caller's extensions as they were, but for word of what may
/// have been signed.
pub(crate) struct Driver<'a> {
    call: Call,
    running: Arc<Running>,
    #[cfg(any(feature = "pay", feature = "pace"))]
    stake: Stake,
    /// The last answer, kept whole until the next send.
    answer: Option<Response>,
    /// A paid answer whose body was cut short: what is handed back if no whole one comes.
    #[cfg(feature = "pay")]
    cut: Option<Response>,
    /// Why the last send got no answer.
    cause: Option<reqwest_middleware::Error>,
    /// Whether this call loops, so that what it hands back is final to a loop outside.
    loops: bool,
    #[cfg(feature = "pay")]
    purse: Option<Arc<crate::part::Purse>>,
    #[cfg(feature = "pay")]
    till: Option<paying::Till>,
    extensions: Entered<'a>,
}

impl<'a> Driver<'a> {
    /// Starts a call that the layer of `part` drives.
    pub(crate) fn start(
        part: &Part,
        clock: &Arc<dyn Clock>,
        request: Request,
        extensions: &'a mut Extensions,
    ) -> Box<Self> {
        let now = clock.now();
        let mut call = Call::new(request::facts(&request), fastrand::u64(..), now);
        for after in request::deadlines(extensions) {
            call.set_deadline(now.saturating_add(after));
        }
        #[cfg(feature = "pay")]
        let named = crate::name::Named::of(&request, extensions);
        let running = Running::new(
            Arc::clone(clock),
            request,
            part,
            #[cfg(feature = "pay")]
            named,
        );
        Box::new(Self {
            call,
            #[cfg(any(feature = "pay", feature = "pace"))]
            stake: Stake::default(),
            answer: None,
            #[cfg(feature = "pay")]
            cut: None,
            cause: None,
            loops: false,
            #[cfg(feature = "pay")]
            purse: None,
            #[cfg(feature = "pay")]
            till: None,
            extensions: Entered::new(extensions, &running),
            running,
        })
    }

    /// Runs the call to its end.
    pub(crate) async fn run(mut self: Box<Self>, next: Next<'_>) -> Result<Response> {
        self.pick_up();
        loop {
            let now = self.now();
            match self.call.next(now) {
                #[cfg(feature = "pace")]
                Action::Admit => self.admit(now).await,
                #[cfg(feature = "pay")]
                Action::Recall => self.recall().await,
                #[cfg(feature = "pay")]
                Action::Balances(tokens) => self.balances(tokens).await,
                #[cfg(feature = "pay")]
                Action::Approve(quote) => self.approve(*quote).await,
                #[cfg(feature = "pay")]
                Action::Intend(terms) => self.intend(&terms).await,
                #[cfg(feature = "pay")]
                Action::Sign(terms) => self.sign(&terms).await,
                #[cfg(feature = "pay")]
                Action::Persist(payment) => self.persist(payment).await,
                Action::Send(outgoing) => self.send(outgoing, next.clone()).await,
                Action::Sleep(until) => self.sleep(until).await,
                // what is left is the end: without its feature no other action is handed out
                _ => {
                    #[cfg(feature = "pay")]
                    {
                        self.note_delivered();
                        self.take_back_word();
                    }
                    return self.finish();
                }
            }
        }
    }

    fn now(&self) -> Timestamp {
        self.running.clock.now()
    }

    /// Sends once, through the layers below, and tells the machine what came of it.
    async fn send(&mut self, outgoing: Outgoing, next: Next<'_>) {
        self.answer = None;
        self.cause = None;
        let cut_at = outgoing.cut_at;
        let Some(request) = self.load(outgoing) else {
            self.call
                .handle_failure(Failure::unsent(FailureKind::Final), self.now());
            return;
        };
        #[cfg(feature = "pace")]
        self.is_out(true);
        let send = self
            .running
            .around(next.run(request, self.extensions.get()));
        #[cfg(feature = "pay")]
        let send = Lease::kept_while(self.stake.lease.as_ref(), send, &*self.running.clock);
        let sent = match cut_at {
            None => Some(send.await),
            Some(at) => tokio::select! {
                biased;
                sent = send => Some(sent),
                () = self.running.clock.sleep_until(at) => None,
            },
        };
        #[cfg(feature = "pace")]
        self.is_out(false);
        let turned_back = self.was_turned_back(matches!(sent, Some(Err(_))));
        match sent {
            _ if turned_back => {}
            Some(Ok(response)) => self.answered(response).await,
            Some(Err(error)) => self.failed(failure::of(&error), Some(error)).await,
            None => self.failed(Failure::lost(FailureKind::Timeout), None).await,
        }
    }

    /// Returns the request for one send, with what goes with it; `None` if its body has gone.
    fn load(&self, outgoing: Outgoing) -> Option<Request> {
        let mut request = self.running.copy_request()?;
        outgoing.write(request.headers_mut());
        Some(request)
    }

    /// Takes what joining layers left. If the send `failed` because one of them must act before it,
    /// nothing has left.
    fn was_turned_back(&mut self, failed: bool) -> bool {
        let gathered = self.pick_up();
        let turned_back = gathered.turned_back && failed;
        if turned_back {
            #[cfg(feature = "pace")]
            self.give_back_permit();
            self.call.handle_turned_back();
        }
        #[cfg(feature = "pay")]
        if let Some(taken) = gathered.taken {
            self.took(taken);
        }
        turned_back
    }

    /// An answer came. What it says of the money is noted before its body is read.
    async fn answered(&mut self, response: Response) {
        let asked = self.running.template.get().url();
        let same_origin = request::same_origin(response.url(), asked);
        let redirected = !request::same_place(response.url(), asked);
        let now = self.now();
        #[cfg(feature = "pay")]
        self.lend_purse(response.status() == StatusCode::PAYMENT_REQUIRED);
        let head = Reply::new(response.status(), response.headers(), &[]);
        let head = Answered::new(head).same_origin(same_origin);
        self.call.handle_head(&head, now);
        #[cfg(feature = "pay")]
        let first_note = self.note_money(None);

        let paid = self.call.is_paying();
        let read = Read::of(response, paid).await;
        let now = self.now();
        let body = read.body.as_deref().unwrap_or_default();
        let reply = Reply::new(read.response.status(), read.response.headers(), body);
        let answer = Answered::new(reply)
            .same_origin(same_origin)
            .redirected(redirected)
            .cut(read.is_cut);
        self.call.handle_reply(&answer, now);
        #[cfg(feature = "pay")]
        self.note_answer(first_note, &read).await;
        #[cfg(feature = "pace")]
        self.observe(now).await;
        self.keep_answer(read.response, read.is_cut);
    }

    #[cfg_attr(
        not(feature = "pay"),
        expect(unused_variables, reason = "nothing is paid for")
    )]
    fn keep_answer(&mut self, response: Response, is_cut: bool) {
        #[cfg(feature = "pay")]
        if is_cut {
            self.cut.get_or_insert(response);
            return;
        }
        self.answer = Some(response);
    }

    /// Sleeps, and keeps what it has in hand.
    async fn sleep(&self, until: Timestamp) {
        let sleep = self.running.clock.sleep_until(until);
        #[cfg(feature = "pay")]
        if let Some(lease) = &self.stake.lease {
            return Lease::kept_while(Some(lease), sleep, &*self.running.clock).await;
        }
        sleep.await;
    }

    /// No answer came.
    #[cfg_attr(
        not(feature = "pay"),
        expect(clippy::unused_async, reason = "there is no ledger to tell")
    )]
    async fn failed(&mut self, failure: Failure, cause: Option<reqwest_middleware::Error>) {
        #[cfg(feature = "pace")]
        if failure.may_have_left && failure.kind != FailureKind::Final {
            self.spend_permit();
        } else {
            self.give_back_permit();
        }
        self.call.handle_failure(failure, self.now());
        self.cause = cause;
        #[cfg(feature = "pay")]
        {
            let note = self.note_money(None);
            self.noted(note).await;
        }
    }

    /// Takes what joining layers have lent since the last time, and passes it to the machine.
    fn pick_up(&mut self) -> Gathered {
        #[cfg_attr(
            not(feature = "pace"),
            expect(unused_mut, reason = "only permits are taken out")
        )]
        let mut gathered = self.running.gather();
        if let Some(parts) = &gathered.parts {
            self.borrow(parts);
        }
        #[cfg(feature = "pace")]
        if let (Some(pacing), Some(permit)) = (&mut self.stake.pacing, gathered.permit.take()) {
            pacing.permit = Some(permit);
        }
        gathered
    }

    /// Takes what was lent: the first of a kind counts.
    fn borrow(&mut self, parts: &Parts) {
        #[cfg(feature = "retry")]
        if let Some(patience) = &parts.retry {
            self.loops = true;
            self.call.lend_patience(patience);
        }
        #[cfg(feature = "pace")]
        if let Some(pacer) = &parts.pacer {
            self.lend_pacer(pacer);
        }
        #[cfg(feature = "pay")]
        if let Some(purse) = &parts.purse {
            self.purse.get_or_insert_with(|| Arc::clone(purse));
            self.lend_purse(false);
        }
    }

    /// Hands back the last answer with the report beside it, or the typed end where there is none.
    fn finish(self: Box<Self>) -> Result<Response> {
        let Self {
            call,
            answer,
            cause,
            loops,
            #[cfg(feature = "pay")]
            cut,
            ..
        } = *self;
        let report = Arc::new(call.into_report());
        // half of what was paid for is more than a later refusal
        #[cfg(feature = "pay")]
        let answer = cut.filter(|_| report.end != End::Served).or(answer);
        if let Some(mut response) = answer {
            response.extensions_mut().insert(report);
            return Ok(response);
        }
        match cause {
            // a layer that does not loop hands back what it met, as if it were not there
            Some(cause) if report.end == End::Unanswered && !loops => Err(cause),
            cause => Err(Error::new(report, cause).into()),
        }
    }
}

/// The caller's extensions while a call runs in them. At the end, dropped or not, what stood there
/// before comes back, and what joining layers left in the call is given back.
struct Entered<'a> {
    extensions: &'a mut Extensions,
    before: Option<Arc<Running>>,
    running: Arc<Running>,
}

impl<'a> Entered<'a> {
    fn new(extensions: &'a mut Extensions, running: &Arc<Running>) -> Self {
        let before = extensions.insert(Arc::clone(running));
        let running = Arc::clone(running);
        Self {
            extensions,
            before,
            running,
        }
    }

    const fn get(&mut self) -> &mut Extensions {
        self.extensions
    }

    #[cfg(feature = "pay")]
    const fn peek(&self) -> &Extensions {
        self.extensions
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.running.close();
        match self.before.take() {
            Some(before) => {
                self.extensions.insert(before);
            }
            None => {
                self.extensions.remove::<Arc<Running>>();
            }
        }
    }
}
