//! What the driver does with a wallet and a ledger.

use std::collections::BTreeSet;
use std::sync::Arc;

use paywait_call::{End, Intended, Means, NotPaid, Recalled};
use paywait_ledger::{Durable, Fingerprint, Intent, Label, LedgerError, Note, Origin, Taken};
use paywait_x402::{Money, Policy, Purchase, PurchaseKey, Receipt, SignedPayment, Terms};

use super::Driver;
use super::reading::Read;
use crate::name::{self, Named, Unresolved};
use crate::part::Purse;
use crate::stake::Lease;
use crate::{CallLimit, Labels, kept, scope};

/// The means to pay, as this call has them.
#[derive(Debug)]
pub(crate) struct Till {
    purse: Arc<Purse>,
    /// The purse's, as this call lowers or raises it.
    policy: Arc<Policy>,
    labels: BTreeSet<Label>,
    key: PurchaseKey,
    named: bool,
    /// Of the caller's request, once it is needed.
    fingerprint: Option<Fingerprint>,
}

impl Till {
    /// Whether a paid response is kept for a later call of the same name.
    fn keeps(&self) -> bool {
        self.purse.keeps_responses && self.named
    }
}

impl Driver<'_> {
    /// Lends the call its means once they can be of use: it asks for a price, or has a name.
    /// A call that is free never draws a key.
    pub(super) fn lend_purse(&mut self, asks_price: bool) {
        let Some(purse) = &self.purse else {
            return;
        };
        let of_use = asks_price || self.running.named.is_some();
        if self.till.is_some() || self.running.brings_payment || !of_use {
            return;
        }
        let purse = Arc::clone(purse);
        let named = self.running.named;
        let key = named.map_or_else(PurchaseKey::random, |named| named.key);
        let extensions = self.extensions.get();
        let labels = Labels::of(extensions);
        let policy = match CallLimit::of(purse.policy.per_call(), extensions) {
            None => Arc::clone(&purse.policy),
            Some(most) => Arc::new(Policy::clone(&purse.policy).limited_to(most)),
        };
        let derivation = purse.derivation.clone();
        let means = Means::new(
            Arc::clone(&policy),
            purse.wallet.payer(),
            derivation,
            key,
            named.is_some(),
        );
        let means = means
            .asks_balances(purse.balances.is_some())
            .approve_above(purse.approver.is_some().then_some(purse.approve_above));
        self.call.lend_means(means);
        if named.is_some() {
            self.call.recall_first();
        }
        self.till = Some(Till {
            purse,
            policy,
            labels,
            key,
            named: named.is_some(),
            fingerprint: named.map(|named| named.fingerprint),
        });
    }

    /// Asks the ledger for the purchase of the caller's key.
    pub(super) async fn recall(&mut self) {
        let now = self.now();
        let (Some(till), Some(named)) = (&self.till, self.running.named) else {
            return self.call.handle_recalled(Recalled::Nothing, now);
        };
        let purse = Arc::clone(&till.purse);
        let owner = self.lease();
        let least = self.running.clock.least();
        let asked = purse
            .ledger
            .take(named.key, named.fingerprint, owner, least);
        let taken = purse.answer_of(asked).await;
        self.took(taken);
    }

    /// Passes on what the ledger has of the caller's key.
    pub(super) fn took(&mut self, taken: Result<Taken, LedgerError>) {
        let recalled = self.recalled(taken);
        self.call.handle_recalled(recalled, self.now());
    }

    fn recalled(&mut self, taken: Result<Taken, LedgerError>) -> Recalled {
        match taken {
            Ok(Taken::Standing(standing)) => {
                self.lease_of(standing.key);
                Recalled::Standing {
                    key: standing.key,
                    payments: standing.payments,
                    money: standing.money,
                    shown: standing.shown,
                }
            }
            Ok(Taken::InFlight) => Recalled::InFlight,
            Ok(Taken::Kept(paid)) => {
                let url = self.running.template.get().url();
                match kept::response(&paid, url) {
                    Some(response) => {
                        self.answer = Some(response);
                        self.call.give_up(End::Served);
                        Recalled::Nothing
                    }
                    None => Recalled::Spent,
                }
            }
            Ok(Taken::Spent(_)) => Recalled::Spent,
            Ok(_) => Recalled::Nothing,
            Err(error) => Recalled::Refused(not_paid(&error)),
        }
    }

    /// Writes the intent, and holds the price; or takes what an equal call left.
    pub(super) async fn intend(&mut self, terms: &Terms) {
        let intended = match self.intent(terms) {
            Ok((purse, intent)) => self.intend_or_take(&purse, intent).await,
            Err(why) => {
                return self
                    .call
                    .handle_intended(Intended::Refused(why), self.now());
            }
        };
        let answer = match intended {
            Ok(Taken::Intended) => Intended::New,
            Ok(Taken::Nothing) => {
                Intended::Refused(NotPaid::Ledger("it wrote no intent".to_owned()))
            }
            Err(error) => Intended::Refused(not_paid(&error)),
            taken => Intended::Stands(self.recalled(taken)),
        };
        self.call.handle_intended(answer, self.now());
    }

    /// Asks the ledger to write the intent. If it names a purchase that an equal call left, that one is
    /// taken; if others take each before, the intent is written after all.
    async fn intend_or_take(
        &mut self,
        purse: &Purse,
        intent: Intent,
    ) -> Result<Taken, LedgerError> {
        let (own, fingerprint) = (intent.key, intent.fingerprint);
        for tries in 0_u8.. {
            let owner = self.lease();
            let least = self.running.clock.least();
            let takes_over = intent.takes_over && tries < MOST_TAKEN_BEFORE;
            let intent = intent.clone().takes_over(takes_over);
            let asked = purse.ledger.intend(intent, owner, least);
            let intended = purse.answer_of(asked).await?;
            let Taken::Standing(left) = &intended else {
                return Ok(intended);
            };
            if left.key == own {
                return Ok(intended);
            }
            // from here on it is given back under its key, also where the answer is not waited for
            self.lease_of(left.key);
            let asked = purse.ledger.take(left.key, fingerprint, owner, least);
            let taken = purse.answer_of(asked).await;
            if matches!(taken, Ok(Taken::Standing(_))) {
                return taken;
            }
            self.lease_of(own);
            taken?;
        }
        Ok(Taken::Nothing)
    }

    fn intent(&mut self, terms: &Terms) -> Result<(Arc<Purse>, Intent), NotPaid> {
        let known = self
            .call
            .purchase()
            .map_or(0, |purchase| purchase.payments().len());
        let till = self.till.as_mut().ok_or(NotPaid::NoWallet)?;
        let fingerprint = till
            .fingerprint
            .or_else(|| name::fingerprint(self.running.template.get()));
        till.fingerprint = fingerprint;
        let fingerprint = fingerprint.ok_or(NotPaid::Once)?;
        let price = till.policy.check(terms.entry());
        let price = price.map_err(NotPaid::Policy)?;
        // what is paid for is read over a network
        let origin = Origin::of(self.running.template.get().url()).ok_or(NotPaid::Insecure)?;
        let intent = Intent::new(till.key, fingerprint, origin, terms, price.usd)
            .labels(till.labels.iter().cloned())
            .pins_payee(till.purse.pins_payees)
            .named(till.named)
            .known(known)
            .takes_over(till.purse.takes_over)
            .on_death(till.purse.on_death(terms.asset().network));
        Ok((Arc::clone(&till.purse), intent))
    }

    /// Asks the signer, out of the caller's scope and bounded in time.
    pub(super) async fn sign(&mut self, terms: &Terms) {
        self.leave_word();
        let (Some(till), Some(lease)) = (&self.till, &mut self.stake.lease) else {
            return self.call.handle_signed(Err("there is no lease".to_owned()));
        };
        lease.signer_asked = true;
        let cut_at = self.call.deadline();
        let too_late = async {
            match cut_at {
                Some(at) => self.running.clock.sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        // apart, so that a call that signs nothing does not carry room for it
        let signing = Box::pin(scope::outside(till.purse.wallet.sign(terms)));
        let signed = tokio::select! {
            biased;
            signed = signing => signed.map_err(|error| error.to_string()),
            // in the signer's own time, whatever clock the call goes by
            () = tokio::time::sleep(till.purse.signing_time) => Err("no answer in time".to_owned()),
            () = too_late => Err("no answer before the deadline".to_owned()),
        };
        self.call.handle_signed(signed);
    }

    /// Writes the signed bytes. Not before this is done may the first of them leave.
    pub(super) async fn persist(&mut self, payment: SignedPayment) {
        let (Some(till), Some(lease)) = (&self.till, &self.stake.lease) else {
            return self
                .call
                .handle_persisted(Err("there is no lease".to_owned()));
        };
        let written =
            till.purse
                .ledger
                .persist(lease.key, lease.owner, payment, self.running.clock.least());
        let stands = till.purse.answer_of(written).await;
        self.call
            .handle_persisted(stands.map_err(|error| error.to_string()));
    }

    /// Queues a note of what is known of the money; it is awaited later.
    pub(super) fn note_money(&self, paid: Option<kept::Paid<'_>>) -> Option<Noted> {
        let till = self.till.as_ref()?;
        let kept = paid.filter(|_| till.keeps()).map(kept::Paid::keep);
        // what is kept can be given out again, so nobody has to pay for it again
        let delivered = kept.is_some();
        self.note(|note| note.kept(kept).delivered(delivered))
    }

    /// Queues a note that what was paid for is handed out now. It is not awaited: a caller that drops
    /// the call while it waits has not got the response, and is to find the purchase undelivered.
    pub(super) fn note_delivered(&self) {
        if self.call.end() == Some(&End::Served) {
            drop(self.note(|note| note.delivered(true)));
        }
    }

    fn note(&self, add: impl FnOnce(Note) -> Note) -> Option<Noted> {
        let (till, lease) = (self.till.as_ref()?, self.stake.lease.as_ref()?);
        let purchase = self.call.purchase()?;
        if !purchase.is_signed() {
            return None;
        }
        let transaction = purchase.receipt().map(Receipt::transaction);
        let transaction = transaction.filter(|hash| !hash.is_empty());
        let note = Note::new(purchase.money(), purchase.shown());
        let note = add(note.transaction(transaction.map(str::to_owned)));
        let least = self.running.clock.least();
        Some(Noted {
            money: purchase.money(),
            write: till.purse.ledger.note(lease.key, lease.owner, note, least),
        })
    }

    /// Notes an answer that was read, if that says more than its head did, of which `first` was noted.
    pub(super) async fn note_answer(&mut self, first: Option<Noted>, read: &Read) {
        let served = self.call.end() == Some(&End::Served);
        let keeps = self.till.as_ref().is_some_and(Till::keeps);
        let known = self.call.purchase().map(Purchase::money);
        let says_more = (served && keeps) || first.as_ref().map(|first| first.money) != known;
        let second = says_more
            .then(|| {
                let response = &read.response;
                let body = read.body.as_ref().filter(|_| served);
                self.note_money(body.map(|body| kept::Paid {
                    status: response.status(),
                    headers: response.headers(),
                    body,
                }))
            })
            .flatten();
        self.noted(first).await;
        self.noted(second).await;
    }

    /// Awaits that what was noted is durable.
    pub(super) async fn noted(&mut self, note: Option<Noted>) {
        let (Some(note), Some(till)) = (note, &self.till) else {
            return;
        };
        if let Err(error) = till.purse.answer_of(note.write).await {
            self.call.note_trouble(error.to_string());
        }
    }

    /// Leaves word for a loop outside, before anybody signs: this may be dropped at any time.
    fn leave_word(&mut self) {
        if let Some(Till {
            key,
            fingerprint: Some(fingerprint),
            ..
        }) = &self.till
        {
            let named = Named {
                key: *key,
                fingerprint: *fingerprint,
            };
            Unresolved::leave(self.extensions.get(), named);
        }
    }

    /// What was served is resolved.
    pub(super) fn take_back_word(&mut self) {
        let served = self.call.end() == Some(&End::Served);
        let till = self.till.as_ref().filter(|_| served);
        if let Some(fingerprint) = till.and_then(|till| till.fingerprint) {
            Unresolved::take_back(self.extensions.get(), fingerprint);
        }
    }

    /// Returns the owner for which the ledger is asked. What it gives is given back at the end, also
    /// where its answer was not waited for.
    fn lease(&mut self) -> paywait_ledger::Owner {
        let owner = self.running.owner();
        if let (Some(till), None) = (&self.till, &self.stake.lease) {
            self.stake.lease = Some(Lease {
                ledger: Arc::clone(&till.purse.ledger),
                key: till.key,
                owner,
                signer_asked: false,
            });
        }
        owner
    }

    /// The ledger gave the purchase of `key`: where it was taken over, not the one asked for.
    fn lease_of(&mut self, key: PurchaseKey) {
        self.lease();
        if let (Some(till), Some(lease)) = (&mut self.till, &mut self.stake.lease) {
            till.key = key;
            lease.key = key;
        }
    }
}

/// A note that was queued.
pub(super) struct Noted {
    money: Money,
    write: Durable<Result<(), LedgerError>>,
}

/// So often another may be quicker to take what was left.
const MOST_TAKEN_BEFORE: u8 = 4;

fn not_paid(error: &LedgerError) -> NotPaid {
    match error {
        LedgerError::OverLimit(over) => NotPaid::Limit {
            what: over.to_string(),
            come_back: over.come_back,
            held_until: over.held_until,
        },
        LedgerError::OtherPayee { asked, pinned, .. } => NotPaid::OtherPayee {
            asked: *asked,
            pinned: *pinned,
        },
        LedgerError::Halted => NotPaid::Halted,
        LedgerError::OtherRequest => NotPaid::OtherRequest,
        LedgerError::Lost | LedgerError::InHand | LedgerError::Store(_) | _ => {
            NotPaid::Ledger(error.to_string())
        }
    }
}
