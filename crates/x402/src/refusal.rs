//! Why an offer may not be signed.

use std::fmt;

use alloy_primitives::Address;

use crate::{
    Amount, Asset, Domain, EntryError, KnownAsset, Network, NoMatch, PaymentFlow, Token, Usd,
};

/// Why an offer may not be signed: the rule, what was asked, what is allowed, and which setting of
/// [`Policy`](crate::Policy) to change.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// The offer has no entry at all.
    NothingOffered,
    /// No entry may be paid; each has its own refusal.
    NoMatch(Box<NoMatch>),
    /// The entry cannot be read, or asks for what this client cannot sign: another scheme, another
    /// `assetTransferMethod`, another payment flow.
    Unreadable(EntryError),
    /// The limit per call is zero.
    Blocked {
        /// The token that the seller asked for.
        asset: Asset,
        /// How much of it, in atomic units.
        asked: Amount,
    },
    /// The network is not one to pay on.
    Network {
        /// The network that the seller asked for.
        asked: Network,
        /// The networks to pay on.
        allowed: Vec<Network>,
    },
    /// Nothing is known of the token.
    UnknownAsset {
        /// The token that the seller asked for.
        asked: Asset,
        /// The tokens that may be paid with.
        allowed: Vec<Asset>,
    },
    /// The token is not on the list of those to pay with.
    Asset {
        /// The token that the seller asked for.
        asked: Asset,
        /// The list.
        allowed: Vec<Asset>,
    },
    /// The token is known, it is not a dollar token, and it has no limit in its own units.
    NotDollars {
        /// The token.
        token: Box<Token>,
        /// How much of it the seller asked for, in atomic units.
        asked: Amount,
    },
    /// The signing domain that the seller names is not the token's own: the signature would be
    /// worthless.
    OtherDomain {
        /// The token, with its own domain.
        token: Box<Token>,
        /// The domain that the seller names.
        asked: Domain,
    },
    /// The way of settling is switched off.
    Flow {
        /// The flow that the seller asked for.
        asked: PaymentFlow,
        /// The flows that are not switched off.
        allowed: Vec<PaymentFlow>,
    },
    /// The payee is not on the list of those to pay.
    Payee {
        /// The payee that the seller asked for.
        asked: Address,
        /// The list.
        allowed: Vec<Address>,
    },
    /// The payee is on the list of those not to pay.
    DeniedPayee {
        /// The payee that the seller asked for.
        asked: Address,
    },
    /// Nobody can spend what the payee gets: it is the zero address, the burn address, or the
    /// token's own contract.
    NobodysPayee {
        /// The payee that the seller asked for.
        asked: Address,
    },
    /// The longest window that is given is too short for anybody.
    NoWindow {
        /// The longest that is given, in seconds.
        longest: u64,
        /// The least that is of use, in seconds.
        least: u64,
    },
    /// The authorization would be valid for too short a time.
    Window {
        /// What the seller asked for, in seconds.
        asked: u64,
        /// The least, in seconds.
        least: u64,
    },
    /// The seller asks for a longer authorization than anybody is given.
    LongWindow {
        /// What the seller asked for, in seconds.
        asked: u64,
        /// The most, in seconds.
        most: u64,
    },
    /// The amount is over the token's own limit for one call.
    Units {
        /// The token.
        token: Box<Token>,
        /// The amount, in atomic units.
        asked: Amount,
        /// The limit, in atomic units.
        allowed: Amount,
    },
    /// The price is over the limit for one call.
    PerCall {
        /// The price.
        asked: Usd,
        /// The limit.
        allowed: Usd,
    },
    /// The payer has less of the token than the price.
    Unfunded {
        /// The token.
        token: Box<Token>,
        /// The amount, in atomic units.
        asked: Amount,
        /// What there is of it, in atomic units.
        available: Amount,
    },
    /// The price is too large to count.
    Uncountable,
    /// Something was signed before, and the seller now asks for another payee or token: that needs
    /// proof that the first did not settle.
    OtherPayee {
        /// What the seller now asks for.
        asked: (Asset, Address),
        /// What was signed for.
        allowed: (Asset, Address),
    },
    /// There are entries that may be paid, and the chooser took none of them.
    NotChosen {
        /// How many there are.
        candidates: usize,
    },
}

impl Refusal {
    /// Returns the rule, in a word or two.
    pub fn rule(&self) -> &'static str {
        self.told().rule
    }

    /// Returns what the seller asked for.
    pub fn asked(&self) -> String {
        self.told().asked
    }

    /// Returns what is allowed.
    pub fn allowed(&self) -> String {
        self.told().allowed
    }

    /// Returns the setting that would have to change, of [`Policy`](crate::Policy) or of the layer
    /// that pays by it; none where no setting helps. Of [`NoMatch`](Self::NoMatch) that of the first entry that has one.
    pub fn setting(&self) -> Option<&'static str> {
        self.told().setting
    }

    fn told(&self) -> Told {
        match self {
            Self::NothingOffered => Told::new("offer", "nothing", "an entry that can be paid"),
            Self::NoMatch(none) => none.told(),
            Self::Unreadable(error) => Told::new("entry", error, ONLY_READABLE),
            Self::Blocked { asset, asked } => {
                let asked = format_args!("{asked} units of {asset}").to_string();
                Told::new("no payments", asked, "nothing, the limit is zero").set("per_call")
            }
            Self::Network { asked, allowed } => {
                Told::new("network", asked, list(allowed)).set("networks")
            }
            Self::UnknownAsset { asked, allowed } => {
                Told::new("known tokens", asked, list(allowed)).set("token")
            }
            Self::Asset { asked, allowed } => {
                Told::new("listed tokens", asked, list(allowed)).set("assets")
            }
            Self::NotDollars { token, asked } => Told::new(
                "dollar tokens",
                token.display(*asked),
                "dollar tokens, and others with a limit in their own units",
            )
            .set("units"),
            Self::OtherDomain { token, asked } => {
                let described = KnownAsset::find(token.asset).is_none();
                let told = Told::new("signing domain", asked, &token.domain);
                if described { told.set("token") } else { told }
            }
            Self::Flow { asked, allowed } => {
                let setting = match asked {
                    PaymentFlow::Authorization => None,
                    PaymentFlow::Upfront => Some("upfront"),
                    PaymentFlow::Escrow => Some("escrow"),
                };
                let told = Told::new("payment flow", asked, list(allowed));
                Told { setting, ..told }
            }
            Self::Payee { asked, allowed } => {
                Told::new("listed payees", asked, list(allowed)).set("payees")
            }
            Self::DeniedPayee { asked } => {
                Told::new("denied payees", asked, "any other").set("deny_payees")
            }
            Self::NobodysPayee { asked } => {
                Told::new("payee", asked, "an address that somebody can spend from")
            }
            Self::NoWindow { longest, least } => Told::new(
                "window",
                format_args!("{least} s or more"),
                format_args!("up to {longest} s"),
            )
            .set("window"),
            Self::Window { asked, least } => Told::new(
                "shortest window",
                format_args!("{asked} s"),
                format_args!("{least} s or more"),
            )
            .set("shortest_window"),
            Self::LongWindow { asked, most } => Told::new(
                "longest window",
                format_args!("{asked} s"),
                format_args!("{most} s or less"),
            )
            .set("longest_timeout"),
            Self::Units {
                token,
                asked,
                allowed,
            } => Told::new(
                "price in units",
                token.display(*asked),
                format_args!("up to {} a call", token.display(*allowed)),
            )
            .set("units"),
            Self::PerCall { asked, allowed } => Told::new(
                "price",
                format_args!("{asked} USD"),
                format_args!("up to {allowed} USD a call"),
            )
            .set("per_call"),
            Self::Unfunded {
                token,
                asked,
                available,
            } => Told::new(
                "balance",
                token.display(*asked),
                format_args!("up to {}, the balance", token.display(*available)),
            )
            .set("balances"),
            Self::Uncountable => Told::new(
                "price",
                "more than can be counted in dollars",
                "what can be counted",
            ),
            Self::OtherPayee { asked, allowed } => {
                let written = |(asset, payee): &(Asset, Address)| format!("{payee} in {asset}");
                Told::new("second signature", written(asked), written(allowed))
            }
            Self::NotChosen { candidates } => Told::new(
                "choice",
                format_args!("one of {candidates} that may be paid"),
                "none: the chooser took none",
            )
            .set("choose_by"),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::NoMatch(none) = self {
            return none.fmt(f);
        }
        let Told {
            rule,
            asked,
            allowed,
            setting,
        } = self.told();
        write!(f, "{rule}: asked {asked}, allowed {allowed}")?;
        setting.map_or(Ok(()), |setting| write!(f, " (setting: {setting})"))
    }
}

impl std::error::Error for Refusal {}

impl NoMatch {
    fn told(&self) -> Told {
        let mut own = self.offered.iter().map(|declined| &declined.why);
        let setting = own.find_map(Refusal::setting);
        let told = Told::new("no match", self.offered(), &self.supported);
        Told { setting, ..told }
    }
}

/// A refusal in words.
struct Told {
    rule: &'static str,
    asked: String,
    allowed: String,
    setting: Option<&'static str>,
}

impl Told {
    fn new(rule: &'static str, asked: impl fmt::Display, allowed: impl fmt::Display) -> Self {
        Self {
            rule,
            asked: asked.to_string(),
            allowed: allowed.to_string(),
            setting: None,
        }
    }

    fn set(self, setting: &'static str) -> Self {
        Self {
            setting: Some(setting),
            ..self
        }
    }
}

/// Writes the first few, and how many more there are.
pub(crate) fn list<T: fmt::Display>(all: &[T]) -> String {
    few(all, ", ")
}

/// Writes the first few with `between` them, and how many more there are.
pub(crate) fn few<T: fmt::Display>(all: &[T], between: &str) -> String {
    let shown: Vec<_> = all.iter().take(MOST_SHOWN).map(T::to_string).collect();
    let shown = shown.join(between);
    match all.len().saturating_sub(MOST_SHOWN) {
        _ if all.is_empty() => "none".to_owned(),
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

const MOST_SHOWN: usize = 8;

const ONLY_READABLE: &str = "scheme exact on EVM chains by EIP-3009";
