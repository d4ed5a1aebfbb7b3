//! What the driver does with a wallet and a ledger.

use std::sync::Arc;

use paywait_call::{End, Intended, Means, NotPaid};
use paywait_ledger::{Epoch, Fingerprint, Intent, LedgerError, Taken};
use paywait_signals::Timestamp;
use paywait_x402::{KnownAsset, PurchaseKey, SignedPayment, Terms, Usd};

use super::Driver;
use crate::name::{self, Named, Unresolved};
use crate::part::Purse;
use crate::scope;
use crate::stake::Lease;

/// The means to pay, as this call has them.
#[derive(Debug)]
pub(crate) struct Till {
    purse: Arc<Purse>,
    key: PurchaseKey,
    named: bool,
    /// Of the caller's request, once it is needed.
    fingerprint: Option<Fingerprint>,
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
        let named = self.running.named;
        let key = named.map_or_else(PurchaseKey::random, |named| named.key);
        let policy = Arc::clone(&purse.policy);
        let derivation = purse.derivation.clone();
        self.call.lend_means(Means::new(
            policy,
            purse.wallet.payer(),
            derivation,
            key,
            named.is_some(),
        ));
        self.till = Some(Till {
            purse: Arc::clone(purse),
            key,
            named: named.is_some(),
            fingerprint: named.map(|named| named.fingerprint),
        });
    }

    /// Looks for a purchase of the caller's key before anything is sent.
    pub(super) async fn take_named(&mut self) {
        let (Some(till), Some(named)) = (&self.till, self.running.named) else {
            return;
        };
        let ledger = &till.purse.ledger;
        let taken = ledger.take(named.key, named.fingerprint, self.now()).await;
        self.took(taken);
    }

    /// What stands in the ledger is shown; what another caller holds, or holds for another request,
    /// ends the call.
    pub(super) fn took(&mut self, taken: Result<Taken, LedgerError>) {
        match taken {
            Ok(Taken::Standing {
                epoch,
                payment,
                money,
            }) => {
                self.lease(epoch);
                self.call.resume(*payment, money);
            }
            Ok(Taken::InFlight) => self.call.give_up(End::InFlight),
            Ok(_) => {}
            Err(error) => self.call.give_up(End::NotPaid(not_paid(&error))),
        }
    }

    /// Writes the intent, and holds the price.
    pub(super) async fn intend(&mut self, terms: &Terms) {
        let intended = match self.intent(terms) {
            Ok((till, intent)) => {
                let ledger = Arc::clone(&till.purse.ledger);
                ledger.intend(intent, self.now()).await
            }
            Err(why) => return self.call.handle_intended(Intended::Refused(why)),
        };
        let answer = match intended {
            Ok(Taken::Intended(epoch)) => {
                self.lease(epoch);
                Intended::New
            }
            Ok(Taken::Standing {
                epoch,
                payment,
                money,
            }) => {
                self.lease(epoch);
                Intended::Standing(*payment, money)
            }
            Ok(Taken::InFlight) => Intended::InFlight,
            Ok(_) => Intended::Refused(NotPaid::Ledger("it wrote no intent".to_owned())),
            Err(error) => Intended::Refused(not_paid(&error)),
        };
        self.call.handle_intended(answer);
    }

    fn intent(&mut self, terms: &Terms) -> Result<(&Till, Intent), NotPaid> {
        let till = self.till.as_mut().ok_or(NotPaid::NoWallet)?;
        let fingerprint = till
            .fingerprint
            .or_else(|| name::fingerprint(self.running.template.get()));
        till.fingerprint = fingerprint;
        let fingerprint = fingerprint.ok_or(NotPaid::Once)?;
        let price = price(terms).ok_or(NotPaid::Policy(paywait_x402::Refusal::Uncountable))?;
        let intent = Intent::new(till.key, fingerprint, terms, price).named(till.named);
        Ok((till, intent))
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
        let Some(lease) = &self.stake.lease else {
            return self
                .call
                .handle_persisted(Err("there is no lease".to_owned()));
        };
        let stands = lease
            .ledger
            .persist(lease.key, lease.epoch, payment, self.now())
            .await;
        self.call
            .handle_persisted(stands.map_err(|error| error.to_string()));
    }

    /// Writes what is known of the money. The write is queued before anything else is awaited.
    pub(super) async fn book_money(&mut self, now: Timestamp) {
        let (Some(lease), Some(purchase)) = (&self.stake.lease, self.call.purchase()) else {
            return;
        };
        if !purchase.is_signed() {
            return;
        }
        let written = lease
            .ledger
            .note(lease.key, lease.epoch, purchase.money(), now)
            .await;
        if let Err(error) = written {
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

    fn lease(&mut self, epoch: Epoch) {
        if let Some(till) = &self.till {
            self.stake.lease = Some(Lease {
                ledger: Arc::clone(&till.purse.ledger),
                key: till.key,
                epoch,
                signer_asked: false,
            });
        }
    }
}

/// What the terms cost in dollars, rounded up.
fn price(terms: &Terms) -> Option<Usd> {
    KnownAsset::find(terms.asset())?.usd(terms.amount()).ok()
}

fn not_paid(error: &LedgerError) -> NotPaid {
    if let LedgerError::OverLimit { come_back, .. } = error {
        return NotPaid::Limit {
            what: error.to_string(),
            come_back: *come_back,
        };
    }
    if *error == LedgerError::OtherRequest {
        return NotPaid::OtherRequest;
    }
    NotPaid::Ledger(error.to_string())
}
