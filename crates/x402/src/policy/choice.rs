//! Which entry of an offer is paid, and why none is.

use std::collections::BTreeMap;

use super::Policy;
use crate::{
    Amount, Asset, Candidate, Choose, Declined, Entry, NoMatch, Offer, Refusal, SignedPayment,
};

impl Policy {
    /// Returns the entries that may be paid, in the seller's order.
    pub fn candidates<'a>(&self, offer: &'a Offer) -> Vec<Candidate<'a>> {
        self.sift(offer, |_| Ok(())).0
    }

    /// Chooses the entry to pay, by its place among [`Offer::entries`], of those that may be paid: as
    /// [`Cheapest`](crate::Cheapest) does, or the [chooser](Self::choose_by) that was set. It is never
    /// one that [`check`](Self::check) refuses, and never one because it stands first.
    ///
    /// # Errors
    ///
    /// [`Refusal::NothingOffered`]; [`Refusal::NoMatch`] with each entry's own refusal;
    /// [`Refusal::NotChosen`] if the chooser took none.
    pub fn choose(&self, offer: &Offer) -> Result<usize, Refusal> {
        self.choose_among(offer, |_| Ok(()))
    }

    /// Chooses the entry to pay in place of `first`, which was signed before: only one that pays the
    /// same payee in the same token, so that the two can share a nonce.
    ///
    /// # Errors
    ///
    /// As [`choose`](Self::choose); the own refusal of an entry that asks for another payee or token
    /// is [`Refusal::OtherPayee`].
    pub fn choose_again(&self, offer: &Offer, first: &SignedPayment) -> Result<usize, Refusal> {
        self.choose_among(offer, |entry| keeps(entry, first))
    }

    /// Chooses as [`choose`](Self::choose) does, or as [`choose_again`](Self::choose_again) where
    /// something was signed `first`, and none that costs more than `funds` say there is of its token.
    /// A token that they do not name may be paid with.
    ///
    /// # Errors
    ///
    /// As these two; the own refusal of an entry that cannot be funded is [`Refusal::Unfunded`].
    pub fn choose_funded(
        &self,
        offer: &Offer,
        first: Option<&SignedPayment>,
        funds: &BTreeMap<Asset, Amount>,
    ) -> Result<usize, Refusal> {
        self.choose_among(offer, |entry| {
            first.map_or(Ok(()), |first| keeps(entry, first))?;
            self.check_funds(entry, funds)
        })
    }

    fn check_funds(&self, entry: &Entry, funds: &BTreeMap<Asset, Amount>) -> Result<(), Refusal> {
        let asked = entry.amount();
        match funds.get(&entry.asset()).filter(|there| asked > **there) {
            None => Ok(()),
            Some(available) => Err(Refusal::Unfunded {
                token: Box::new(self.check_token(entry)?),
                asked,
                available: *available,
            }),
        }
    }

    fn choose_among(
        &self,
        offer: &Offer,
        may_be: impl Fn(&Entry) -> Result<(), Refusal>,
    ) -> Result<usize, Refusal> {
        if offer.is_empty() {
            return Err(Refusal::NothingOffered);
        }
        let (candidates, refused) = self.sift(offer, may_be);
        if candidates.is_empty() {
            return Err(self.no_match(offer, refused));
        }
        let chosen = match &self.chooser {
            Some(chooser) => chooser.choose(&candidates),
            None => self.cheapest.choose(&candidates),
        };
        let chosen = chosen.and_then(|at| candidates.get(at));
        chosen
            .map(|candidate| candidate.place)
            .ok_or(Refusal::NotChosen {
                candidates: candidates.len(),
            })
    }

    /// Parts what may be paid from what may not.
    fn sift<'a>(
        &self,
        offer: &'a Offer,
        may_be: impl Fn(&Entry) -> Result<(), Refusal>,
    ) -> (Vec<Candidate<'a>>, Vec<Refusal>) {
        let mut candidates = Vec::new();
        let mut refused = Vec::new();
        for (place, entry) in offer.entries().iter().enumerate() {
            let checked = self.check(entry);
            match checked.and_then(|price| may_be(entry).map(|()| price)) {
                Ok(price) => candidates.push(Candidate::new(place, entry, price)),
                Err(why) => refused.push(why),
            }
        }
        (candidates, refused)
    }

    /// Says why nothing of `offer` may be paid: `refused` are its readable entries, all of them.
    fn no_match(&self, offer: &Offer, refused: Vec<Refusal>) -> Refusal {
        let unreadable = offer.rejected().iter().map(|(place, error)| Declined {
            place: *place,
            asked: None,
            why: Refusal::Unreadable(*error),
        });
        let mut offered: Vec<_> = unreadable.collect();
        for (entry, why) in offer.entries().iter().zip(refused) {
            // the first place that is not taken yet
            let taken = |(at, declined): &(usize, &Declined)| declined.place == *at;
            let place = offered.iter().enumerate().take_while(taken).count();
            let asked = Some((entry.asset(), entry.amount()));
            offered.insert(place, Declined { place, asked, why });
        }
        Refusal::NoMatch(Box::new(NoMatch {
            offered,
            supported: self.supported(),
        }))
    }
}

/// Whether an entry pays the payee of `first` in the token of `first`.
fn keeps(entry: &Entry, first: &SignedPayment) -> Result<(), Refusal> {
    let asked = (entry.asset(), entry.pay_to());
    let allowed = (first.asset(), first.pay_to());
    if asked == allowed {
        Ok(())
    } else {
        Err(Refusal::OtherPayee { asked, allowed })
    }
}
