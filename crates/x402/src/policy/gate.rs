//! What is asked of one entry before it may be signed.

use std::time::Duration;

use alloy_primitives::{Address, address};

use super::Policy;
use crate::{
    Domain, Entry, KnownAsset, MoneyError, PaymentFlow, Price, Quote, Refusal, Token, Usd,
};

impl Policy {
    /// Checks one entry, and returns its price.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] that names the rule, what was asked, what is allowed and the setting to change.
    pub fn check(&self, entry: &Entry) -> Result<Price, Refusal> {
        if self.per_call == Usd::ZERO {
            return Err(Refusal::Blocked {
                asset: entry.asset(),
                asked: entry.amount(),
            });
        }
        let network = entry.network();
        if !self.pays_on(network) {
            return Err(Refusal::Network {
                asked: network,
                allowed: self.paid_networks(),
            });
        }
        let token = self.check_token(entry)?;
        self.check_payee(entry)?;
        self.check_flow(entry.payment_flow())?;
        self.check_window(entry.max_timeout_seconds())?;
        self.price(entry, token)
    }

    /// Returns what an entry comes to in plain fields, once it is allowed, where the authorization
    /// is to be valid for `asked` seconds or the [longest window](Self::longest_window).
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    pub fn quote(&self, entry: &Entry, asked: u64) -> Result<Quote, Refusal> {
        let price = self.check(entry)?;
        Ok(Quote {
            token: self.check_token(entry)?,
            amount: price.amount,
            usd: price.usd,
            pay_to: entry.pay_to(),
            valid_for: Duration::from_secs(asked).min(self.longest_window),
            flow: entry.payment_flow(),
        })
    }

    pub(super) fn check_token(&self, entry: &Entry) -> Result<Token, Refusal> {
        let asked = entry.asset();
        if let Some(listed) = self.assets.as_ref().filter(|all| !all.contains(&asked)) {
            return Err(Refusal::Asset {
                asked,
                allowed: listed.iter().copied().collect(),
            });
        }
        let known = KnownAsset::find(asked).map(Token::from);
        let token = known.or_else(|| self.tokens.get(&asked).cloned());
        let token = token.ok_or_else(|| Refusal::UnknownAsset {
            asked,
            allowed: self.paid_tokens().iter().map(|token| token.asset).collect(),
        })?;
        let asked = Domain::new(entry.domain_name(), entry.domain_version());
        if asked != token.domain {
            let token = Box::new(token);
            return Err(Refusal::OtherDomain { token, asked });
        }
        Ok(token)
    }

    fn check_payee(&self, entry: &Entry) -> Result<(), Refusal> {
        let asked = entry.pay_to();
        if [Address::ZERO, BURN, entry.asset().contract].contains(&asked) {
            return Err(Refusal::NobodysPayee { asked });
        }
        if self.denied_payees.contains(&asked) {
            return Err(Refusal::DeniedPayee { asked });
        }
        match self.payees.as_ref().filter(|all| !all.contains(&asked)) {
            None => Ok(()),
            Some(listed) => Err(Refusal::Payee {
                asked,
                allowed: listed.iter().copied().collect(),
            }),
        }
    }

    fn check_flow(&self, asked: PaymentFlow) -> Result<(), Refusal> {
        if self.takes(asked) {
            return Ok(());
        }
        let all = [
            PaymentFlow::Authorization,
            PaymentFlow::Upfront,
            PaymentFlow::Escrow,
        ];
        Err(Refusal::Flow {
            asked,
            allowed: all.into_iter().filter(|flow| self.takes(*flow)).collect(),
        })
    }

    const fn takes(&self, flow: PaymentFlow) -> bool {
        match flow {
            PaymentFlow::Authorization => true,
            PaymentFlow::Upfront => self.upfront,
            PaymentFlow::Escrow => self.escrow,
        }
    }

    fn check_window(&self, asked: u64) -> Result<(), Refusal> {
        let most = self.longest_timeout.map(|most| most.as_secs());
        if let Some(most) = most.filter(|most| asked > *most) {
            return Err(Refusal::LongWindow { asked, most });
        }
        let (longest, least) = (self.longest_window.as_secs(), self.shortest_window);
        if longest < least {
            return Err(Refusal::NoWindow { longest, least });
        }
        if asked < least {
            return Err(Refusal::Window { asked, least });
        }
        Ok(())
    }

    fn price(&self, entry: &Entry, token: Token) -> Result<Price, Refusal> {
        let (asset, asked) = (entry.asset(), entry.amount());
        let limit = self.units.get(&asset);
        if let Some(allowed) = limit.copied().filter(|most| asked > *most) {
            return Err(Refusal::Units {
                token: Box::new(token),
                asked,
                allowed,
            });
        }
        let known = KnownAsset::find(asset).ok_or(MoneyError::NotDollars);
        let usd = match known.and_then(|known| known.usd(asked)) {
            Ok(usd) => Some(usd),
            Err(MoneyError::NotDollars) if limit.is_some() => None,
            Err(MoneyError::NotDollars) => {
                let token = Box::new(token);
                return Err(Refusal::NotDollars { token, asked });
            }
            Err(_) => return Err(Refusal::Uncountable),
        };
        let allowed = self.per_call;
        if let Some(asked) = usd.filter(|usd| *usd > allowed) {
            return Err(Refusal::PerCall { asked, allowed });
        }
        Ok(Price {
            asset,
            amount: asked,
            usd,
        })
    }
}

/// Where tokens are sent to be lost; nobody has its key.
const BURN: Address = address!("000000000000000000000000000000000000dEaD");
