//! What must hold at every step, whatever has happened.

use std::time::Duration;

use paywait_call::{End, NotPaid};
use paywait_ledger::Owner;
use paywait_signals::Timestamp;
use paywait_x402::{Amount, KnownAsset, Money, PurchaseKey, SignedPayment, Terms, Usd};

use crate::chain::Auth;
use crate::driver::price;
use crate::market::{Market, ready};
use crate::process::Running;

/// What one ledger was given of one purchase.
#[derive(Debug, Default)]
pub(crate) struct Exposure {
    /// What it said stands, oldest first.
    pub(crate) persisted: Vec<Auth>,
    /// The largest price among them.
    price: Usd,
    /// Bytes are out of which no seller has said that they moved nothing.
    pub(crate) open: bool,
    pub(crate) delivered: bool,
    /// When the ledger was told that it settled, in milliseconds.
    settled: Option<u64>,
    pub(crate) resolved: bool,
    /// The chain proved that it cannot settle.
    pub(crate) unused: bool,
    pub(crate) in_hand: bool,
    holder: Option<Owner>,
    /// Until when the holder has it, if it writes no more.
    leased_until: Timestamp,
    named: bool,
    request: u8,
}

impl Exposure {
    /// When all of it has expired, in seconds.
    pub(crate) fn expires(&self) -> u64 {
        let all = self.persisted.iter().map(|auth| auth.valid_before);
        all.max().unwrap_or_default()
    }

    /// Whether an equal request without a name takes it over at `now`.
    fn is_left(&self, request: u8, now: Timestamp) -> bool {
        let ends = self.named || self.delivered || self.resolved || self.in_hand;
        let late = now.as_secs() >= self.expires() + 3_600;
        self.request == request && !ends && !late && !self.persisted.is_empty()
    }
}

impl Market {
    fn exposure(&mut self, run: &Running) -> &mut Exposure {
        let exposure = self.exposures.entry((run.books, run.key)).or_default();
        exposure.named = run.named;
        exposure.request = run.request;
        exposure
    }

    /// The ledger lets a purchase be signed: what stands of it must be refused, or dead.
    pub(crate) fn check_intended(&mut self, run: &mut Running) {
        let (wall, least) = (self.wall(), self.least());
        let left = self.exposures.iter().find(|((books, key), exposure)| {
            *books == run.books && *key != run.key && exposure.is_left(run.request, least)
        });
        let anew = !self.exposures.contains_key(&(run.books, run.key));
        assert!(
            run.named || !anew || left.is_none(),
            "bought again, beside what was left open: {left:?}"
        );
        let money = self.money(run.books, run.key);
        let exposure = self.exposure(run);
        let signatures = exposure.persisted.len();
        assert!(!exposure.delivered, "signed for what was delivered");
        assert!(!exposure.resolved, "signed for what was ended by hand");
        run.open |= exposure.open;
        run.has_it = true;
        if signatures > 0 {
            assert!(signatures < MOST_SIGNATURES, "a third signature");
            let dead = exposure.expires() <= wall.as_secs();
            assert!(dead || !exposure.open, "signed again while it is open");
            assert_ne!(money, Some(Money::Settled), "signed again after a receipt");
            self.tally.count("second signature");
        }
        self.leased(run);
    }

    /// The ledger gave the purchase, or took a write of its holder.
    pub(crate) fn leased(&mut self, run: &Running) {
        let least = self.least();
        let exposure = self.exposure(run);
        let until = exposure.leased_until;
        // one that ends later than any that is given now is of a clock that has jumped
        let lasts = least < until && until <= least.saturating_add(LEASE);
        let other = exposure.holder != Some(run.owner);
        assert!(
            !(lasts && other && exposure.in_hand),
            "two have one purchase in hand"
        );
        exposure.holder = Some(run.owner);
        exposure.in_hand = true;
        exposure.leased_until = least.saturating_add(LEASE);
    }

    /// The signer is asked: the price must be held.
    pub(crate) fn check_signing(&mut self, run: &Running, terms: &Terms) {
        let space = (terms.asset().network.chain_id(), terms.nonce().to_string());
        let owner = self.owners.insert(space, run.key);
        assert!(owner.is_none_or(|key| key == run.key), "one nonce for two");
        let held = (self.books[run.books].used)(self.least());
        assert!(held >= price(terms), "signed without a hold");
        self.tally.count("signatures");
    }

    /// The ledger says that these bytes stand.
    pub(crate) fn check_persisted(&mut self, run: &Running, payment: &SignedPayment) {
        let auth = auth_of(payment);
        let amount = payment.amount();
        let exposure = self.exposure(run);
        assert!(!exposure.resolved, "it was ended by hand");
        if !exposure.persisted.contains(&auth) {
            exposure.persisted.push(auth);
            exposure.price = exposure.price.max(dollars(amount));
        }
        assert!(
            exposure.persisted.len() <= MOST_SIGNATURES,
            "a third signature"
        );
        let first = &exposure.persisted[0];
        for other in &exposure.persisted {
            assert_eq!(first.space, other.space, "a second space was signed");
            assert_eq!(first.nonce, other.nonce, "a second nonce was signed");
        }
    }

    /// The ledger gave a purchase that stands.
    pub(crate) fn check_recalled(&mut self, run: &mut Running, payments: &[SignedPayment]) {
        let exposure = self.exposure(run);
        let mut stands: Vec<_> = payments.iter().map(auth_of).collect();
        stands.dedup();
        assert_eq!(stands, exposure.persisted, "not what was written");
        run.open |= exposure.open;
        if exposure.in_hand && !run.has_it {
            self.tally.count("lease expired");
        }
        run.has_it = true;
        self.leased(run);
    }

    /// Bytes are about to leave.
    pub(crate) fn check_showing(&mut self, run: &Running, auth: &Auth) {
        let wall = self.wall();
        let stands = &self.exposure(run).persisted;
        assert!(stands.contains(auth), "shown before it was written");
        let last = Timestamp::from_secs(auth.valid_before - 10);
        assert!(wall < last, "shown too late");
        self.tally.count("shows");
    }

    /// What became of one show: whether a seller said that it moved nothing.
    pub(crate) fn heard(&mut self, run: &mut Running, denied: bool) {
        run.open |= !denied;
        self.exposure(run).open |= !denied;
    }

    /// A driver gave the purchase back; another may have taken it before.
    pub(crate) fn given_back(&mut self, run: &Running) {
        let exposure = self.exposure(run);
        if exposure.holder == Some(run.owner) {
            exposure.in_hand = false;
        }
    }

    /// The ledger was told what is known of the money.
    pub(crate) fn noted(&mut self, run: &Running, settled: bool, delivered: bool) {
        self.leased(run);
        let now = self.now;
        let exposure = self.exposure(run);
        exposure.delivered |= delivered;
        if settled {
            exposure.settled.get_or_insert(now);
        }
    }

    pub(crate) fn check_settled(&mut self, auth: &Auth) {
        let place = (auth.space, auth.nonce.clone());
        let key = self.owners[&place];
        let times = self.settled.entry(key).or_default();
        *times += 1;
        assert!(*times == 1 || self.apart, "money moved twice");
        self.tally.count("settlements");
    }

    /// What is held covers all that can still be cashed, and stays under the limit.
    pub(crate) fn check_holds(&self, books: usize) {
        let used = (self.books[books].used)(self.least());
        assert!(used <= self.limit, "{used} is over the limit");
        let alive = self.exposures.iter().filter(|((of, _), exposure)| {
            let lives = self.now / 1_000 < exposure.expires() + 120;
            // it counts for a day by a clock that may be off by as much as ten hours, twice
            let spent = exposure
                .settled
                .is_some_and(|at| self.now < at + 3 * 3_600_000);
            *of == books && !exposure.unused && (lives || spent)
        });
        let needed = alive.fold(Usd::ZERO, |sum, (_, exposure)| {
            sum.saturating_add(exposure.price)
        });
        assert!(used >= needed, "{used} held of {needed}");
    }

    /// How a call ended that was not cut short.
    pub(crate) fn check_end(&mut self, run: &Running, end: &End) {
        use End::{InFlight, KeySpent, OutcomeUnknown, PaidNotDelivered, Served};
        self.tally.count(format!("end {}", kind(end)));
        let of_other = matches!(end, End::NotPaid(NotPaid::OtherRequest));
        let shown = run
            .call
            .purchase()
            .is_some_and(|it| !it.payments().is_empty());
        let doubt = matches!(end, PaidNotDelivered | OutcomeUnknown | KeySpent | InFlight);
        assert_eq!(*end == Served, run.served, "{end}");
        if shown && run.open && !run.served && !of_other {
            assert!(doubt, "bytes are out: {end}");
        }
        let unsure = matches!(end, PaidNotDelivered | OutcomeUnknown);
        assert!(shown || !unsure, "nothing was signed: {end}");
        let most = MOST_SLEPT + self.back;
        assert!(run.slept <= most, "it slept {} ms", run.slept);
    }

    /// What a ledger knows of the money of an open purchase.
    pub(crate) fn money(&self, books: usize, key: PurchaseKey) -> Option<Money> {
        let open = ready(self.ledger(books).open_purchases()).unwrap();
        let record = open.iter().find(|record| record.key == key)?;
        Some(record.money)
    }
}

pub(crate) fn auth_of(payment: &SignedPayment) -> Auth {
    Auth {
        space: payment.asset().network.chain_id(),
        nonce: payment.nonce().to_string(),
        to: payment.pay_to().to_string(),
        value: payment.amount().to_string().parse().unwrap(),
        valid_before: payment.valid_before(),
    }
}

fn dollars(amount: Amount) -> Usd {
    KnownAsset::all()[0].usd(amount).unwrap()
}

/// The kind of an end, without what is special to it.
pub(crate) const fn kind(end: &End) -> &'static str {
    match end {
        End::Unseen => "unseen",
        End::Served => "served",
        End::Stopped(_) => "stopped",
        End::Exhausted(_) => "exhausted",
        End::Deferred(_) => "deferred",
        End::Unanswered => "unanswered",
        End::NotPaid(NotPaid::Policy(_)) => "not paid: policy",
        End::NotPaid(NotPaid::Limit { .. }) => "not paid: limit",
        End::NotPaid(NotPaid::Expired) => "not paid: expired",
        End::NotPaid(NotPaid::Signer(_)) => "not paid: signer",
        End::NotPaid(NotPaid::Ledger(_)) => "not paid: ledger",
        End::NotPaid(NotPaid::Redirected) => "not paid: redirected",
        End::NotPaid(NotPaid::OtherRequest) => "not paid: other request",
        End::NotPaid(_) => "not paid: other",
        End::PaidNotDelivered => "paid, not delivered",
        End::OutcomeUnknown => "outcome unknown",
        End::InFlight => "in flight",
        End::KeySpent => "key spent",
        _ => "another",
    }
}

/// As long as a call sleeps at most, in milliseconds, where the clock does not go back: its whole
/// time, and a look at another caller.
const MOST_SLEPT: u64 = 400_000;

/// As long as nobody else gets it.
const LEASE: Duration = Duration::from_secs(30);

/// One purchase is signed so often at most.
const MOST_SIGNATURES: usize = 2;
