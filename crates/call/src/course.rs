//! Where a decision leads: to the offer, to a wait, or to the end.

use paywait_signals::{Action as Verdict, Decision, Reason, Signal, Timestamp};

use crate::call::Step;
use crate::{Call, End, Failure, FailureKind};

impl Call {
    /// A refusal: what the machine knows beside the reply comes first.
    pub(crate) fn judge_refusal(
        &mut self,
        mut decision: Decision,
        body: &[u8],
        now: Timestamp,
    ) -> Decision {
        if self.paying && decision.action == Verdict::Stop && self.buyer.mends(now) {
            decision.action = Verdict::Pay;
        } else if self.paying && self.repeats.are_stored(&decision, body) {
            decision.action = Verdict::Stop;
            decision.reason = Reason::StoredRefusal;
        }
        decision
    }

    /// A paid response whose body was cut short: the same bytes ask for it again.
    pub(crate) const fn judge_cut() -> Decision {
        Decision::new(Verdict::Backoff, Reason::ServerError, Signal::Transport)
    }

    /// A send without an answer: whether it may be sent again depends on what may have been done.
    pub(crate) fn judge_failure(&self, failure: Failure, paid: bool) -> Decision {
        let reason = match failure.kind {
            FailureKind::Timeout => Reason::Timeout,
            FailureKind::Connect | FailureKind::Broken | FailureKind::Final => Reason::ServerError,
        };
        let resends = self.facts.idempotent
            || self
                .patience
                .as_ref()
                .is_some_and(|patience| patience.resend_unanswered);
        // the same signed bytes settle at most once, so showing them again risks nothing
        let harmless = paid || !failure.may_have_left || resends;
        let goes_on = harmless && failure.kind != FailureKind::Final;
        let action = if goes_on {
            Verdict::Backoff
        } else {
            Verdict::Stop
        };
        Decision::new(action, reason, Signal::Transport)
    }

    /// Goes where a decision points.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is not known is a stop"
    )]
    pub(crate) fn follow(&mut self, decision: &Decision, now: Timestamp) -> Step {
        match decision.action {
            Verdict::Pay => match self.buyer.objection(&self.facts) {
                None => Step::Admit,
                // what was signed before is what it was
                Some(why) => Step::Done(self.buyer.conclude(End::NotPaid(why))),
            },
            Verdict::Wait(floor) => {
                let (Some(patience), rng) = (&self.patience, &mut self.rng) else {
                    return self.stop(decision);
                };
                let wait = patience.wait(floor, rng);
                self.again(decision, now.saturating_add(wait), now)
            }
            // no other target is configured: the server's trouble is waited out, and a hint that
            // is too long is the end
            Verdict::Failover if decision.reason == Reason::WaitTooLong => {
                let end = decision.come_back.map(End::Deferred);
                Step::Done(
                    self.buyer
                        .conclude(end.unwrap_or(End::Stopped(decision.reason))),
                )
            }
            Verdict::Backoff | Verdict::Failover => {
                let (Some(patience), rng) = (&self.patience, &mut self.rng) else {
                    return self.stop(decision);
                };
                let wait = patience.backoff(self.report.attempts, rng);
                self.again(decision, now.saturating_add(wait), now)
            }
            _ => self.stop(decision),
        }
    }

    fn stop(&self, decision: &Decision) -> Step {
        let unanswered = decision.signal == Signal::Transport;
        let end = match decision.come_back {
            _ if unanswered => End::Unanswered,
            Some(at) if decision.reason == Reason::WaitTooLong => End::Deferred(at),
            _ => End::Stopped(decision.reason),
        };
        Step::Done(self.buyer.conclude(end))
    }

    /// Tries again at `at` or as soon after as it can go, if there is a try left and it fits.
    fn again(&mut self, decision: &Decision, at: Timestamp, now: Timestamp) -> Step {
        let attempts = self
            .patience
            .as_ref()
            .map_or(1, |patience| patience.attempts.get());
        if !self.facts.replayable {
            return self.stop(decision);
        }
        let goes_at = (self.report.attempts < attempts).then(|| self.buyer.goes_at(at));
        let Some(at) = goes_at.flatten() else {
            let unanswered = decision.signal == Signal::Transport;
            let end = if unanswered {
                End::Unanswered
            } else {
                End::Exhausted(decision.reason)
            };
            return Step::Done(self.buyer.conclude(end));
        };
        if at > self.not_after() {
            let come_back = decision.come_back.unwrap_or(at);
            return Step::Done(self.buyer.conclude(End::Deferred(come_back)));
        }
        self.report.attempts = self.report.attempts.saturating_add(1);
        self.sleep_until(at, now);
        Step::Sleep(at)
    }
}
