//! What the driver of a call does with the ledger, the signer and the wire.

use http::HeaderMap;
use paywait_call::{End, Intended, NotPaid, Outgoing, Recalled};
use paywait_ledger::{Intent, LedgerError, Note, Taken};
use paywait_x402::{KnownAsset, Money, SignedPayment, Terms, Usd};

use crate::chain::Auth;
use crate::market::{Market, fingerprint, origin, ready, wallet};
use crate::process::{RENEWED_EVERY, Running, Told};
use crate::script::Fault;
use crate::seller::{Answer, Says, Turn, Way};

impl Running {
    /// What the ledger has, as the machine is told of it.
    pub(crate) fn recalled(
        &mut self,
        taken: Result<Taken, LedgerError>,
        market: &mut Market,
    ) -> Recalled {
        match taken {
            Ok(Taken::Nothing) => Recalled::Nothing,
            Ok(Taken::Standing(standing)) => {
                if standing.key != self.key {
                    market.tally.count("taken over".to_owned());
                }
                self.key = standing.key;
                market.check_recalled(self, &standing.payments);
                let last = standing.payments.last().unwrap();
                if last.valid_before().saturating_sub(10) <= market.wall().as_secs() {
                    market.tally.count("dead resume".to_owned());
                }
                Recalled::Standing {
                    key: standing.key,
                    payments: standing.payments,
                    money: standing.money,
                    shown: standing.shown,
                }
            }
            Ok(Taken::InFlight) => Recalled::InFlight,
            Ok(Taken::Spent(_)) => Recalled::Spent,
            Ok(other) => panic!("{other:?}"),
            Err(error) => Recalled::Refused(not_paid(&error)),
        }
    }

    pub(crate) fn intend(&mut self, terms: &Terms, market: &mut Market) -> Intended {
        let known = self.call.purchase().unwrap().payments().len();
        let fingerprint = fingerprint(self.request);
        let mut intent = Intent::new(self.key, fingerprint, origin(), terms, Some(price(terms)))
            .named(self.named)
            .known(known)
            .takes_over(true)
            .on_death(market.on_death);
        let ledger = market.ledger(self.books);
        let fault = market.script.fault();
        if fault == Fault::Unwritten {
            return Intended::Refused(NotPaid::Ledger("full".to_owned()));
        }
        let least = market.least();
        let mut intended = ready(ledger.intend(intent.clone(), self.owner, least));
        // what an equal call left is named only: it is taken under its own key
        if let Ok(Taken::Standing(left)) = &intended
            && left.key != self.key
        {
            let taken = ready(ledger.take(left.key, fingerprint, self.owner, least));
            if matches!(taken, Ok(Taken::Standing(_))) {
                return Intended::Stands(self.recalled(taken, market));
            }
            intent = intent.takes_over(false);
            intended = ready(ledger.intend(intent, self.owner, least));
        }
        match intended {
            Ok(Taken::Intended) => {
                market.check_intended(self);
                match fault {
                    Fault::Unheard => Intended::Refused(NotPaid::Ledger("late".to_owned())),
                    _ => Intended::New,
                }
            }
            Ok(Taken::Nothing) => panic!("it wrote no intent"),
            Err(error) => Intended::Refused(not_paid(&error)),
            taken => Intended::Stands(self.recalled(taken, market)),
        }
    }

    pub(crate) fn sign(
        &mut self,
        terms: &Terms,
        market: &mut Market,
    ) -> Result<SignedPayment, String> {
        self.signer_asked = true;
        market.check_signing(self, terms);
        if market.script.signer_fails() {
            return Err("no".to_owned());
        }
        Ok(ready(wallet().sign(terms)).unwrap())
    }

    pub(crate) fn persist(
        &mut self,
        payment: SignedPayment,
        market: &mut Market,
    ) -> Result<SignedPayment, String> {
        let ledger = market.ledger(self.books);
        let fault = market.script.fault();
        if fault == Fault::Unwritten {
            return Err("full".to_owned());
        }
        let stands = ready(ledger.persist(self.key, self.owner, payment, market.least()));
        if let Ok(payment) = &stands {
            market.leased(self);
            market.check_persisted(self, payment);
        }
        if fault == Fault::Unheard {
            return Err("late".to_owned());
        }
        stands.map_err(|error| error.to_string())
    }

    pub(crate) fn send(&mut self, outgoing: Outgoing, market: &mut Market) -> (Turn, bool, Answer) {
        let mut fields = HeaderMap::new();
        outgoing.write(&mut fields);
        let payment = fields.remove("payment-signature");
        let payment = payment.map(|header| Auth::read(&header));
        let turn = market.script.turn();
        if let Some(auth) = &payment {
            market.check_showing(self, auth);
        }
        let paid = payment.is_some();
        let leaves = turn.says != Says::TurnedBack && turn.way != Way::Unconnected;
        let arrives = leaves && turn.way != Way::RequestLost;
        market.tell(|| format!("paid {paid}: {turn:?}"));
        let answer = market.serve(&turn, payment.as_ref().filter(|_| arrives));
        self.wakes = market.now + turn.takes;
        (turn, paid, answer)
    }

    /// Writes what is known of the money.
    pub(crate) fn note(&mut self, market: &mut Market) {
        let Some(purchase) = self.call.purchase().filter(|purchase| purchase.is_signed()) else {
            return;
        };
        let delivered = self.call.end() == Some(&End::Served);
        let note = Note::new(purchase.money(), purchase.shown()).delivered(delivered);
        let ledger = market.ledger(self.books);
        if market.script.fault() == Fault::Unwritten {
            self.untold = true;
            return;
        }
        self.untold = false;
        let noted = ready(ledger.note(self.key, self.owner, note, market.least()));
        if noted == Err(LedgerError::Lost) {
            market.tally.count("lost its lease".to_owned());
        }
        if noted.is_ok() {
            market.noted(self, purchase.money() == Money::Settled, delivered);
        }
    }

    /// When it can go on, or is to say that it lives.
    pub(crate) fn next_event(&self) -> u64 {
        self.renews.unwrap_or(u64::MAX).min(self.wakes)
    }

    /// Says that the purchase is still in hand.
    pub(crate) fn renew_if_due(&mut self, market: &mut Market) {
        if self.renews.is_none_or(|at| at > market.now) {
            return;
        }
        let ledger = market.ledger(self.books);
        if ready(ledger.renew(self.key, self.owner, market.least())).is_ok() {
            market.leased(self);
        }
        self.renews = Some(market.now + RENEWED_EVERY);
    }

    /// The process dies, or the driver is dropped: what was out stays out.
    pub(crate) fn die(&mut self, market: &mut Market) {
        market.tell(|| format!("{:?} dies", self.owner));
        let out =
            matches!(&self.told, Some(Told::Sent(turn, true, _)) if turn.says != Says::TurnedBack);
        if out {
            market.heard(self, false);
        }
    }

    /// What a driver does when it is dropped: what is out is noted, and the purchase given back.
    pub(crate) fn release(&mut self, market: &mut Market) {
        if matches!(self.told, Some(Told::Sent(..))) {
            self.note(market);
        }
        if self.untold {
            // the ledger knows less than happened: it is left as by a dead process
            return;
        }
        let ledger = market.ledger(self.books);
        ledger.release(self.key, self.owner, self.signer_asked);
        if self.has_it {
            market.given_back(self);
        }
    }
}

pub(crate) fn price(terms: &Terms) -> Usd {
    let known = KnownAsset::find(terms.asset()).unwrap();
    known.usd(terms.amount()).unwrap()
}

fn not_paid(error: &LedgerError) -> NotPaid {
    match error {
        LedgerError::OverLimit(over) => NotPaid::Limit {
            what: over.to_string(),
            come_back: over.come_back,
            held_until: over.held_until,
        },
        LedgerError::OtherRequest => NotPaid::OtherRequest,
        _ => NotPaid::Ledger(error.to_string()),
    }
}
