//! One way to pay, of those that an offer lists.

use std::fmt;
use std::sync::Arc;

use alloy_primitives::Address;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::offer::{LONGEST_TEXT, text};
use crate::{Amount, Asset, Network, NetworkError, Version, encoding};

/// One way to pay: scheme `exact` on an EVM chain, by EIP-3009.
///
/// The text is kept as it came and goes back as it came: a seller compares it field by field.
#[derive(Clone)]
pub struct Entry {
    pub(crate) raw: Arc<RawValue>,
    version: Version,
    /// The chain as the seller spells it.
    pub(crate) network_name: String,
    amount: Amount,
    asset: Asset,
    pay_to: Address,
    max_timeout_seconds: u64,
    payment_flow: PaymentFlow,
    domain_name: String,
    domain_version: String,
}

/// When a seller settles.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum PaymentFlow {
    /// After it has served, and only if it has.
    #[default]
    Authorization,
    /// Before it serves: a failure after that is paid for.
    Upfront,
    /// A deposit before it serves, the rest after.
    Escrow,
}

/// As it stands in an offer.
impl fmt::Display for PaymentFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Authorization => "authorization",
            Self::Upfront => "upfront",
            Self::Escrow => "escrow",
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    scheme: String,
    network: String,
    amount: Option<Value>,
    max_amount_required: Option<Value>,
    asset: String,
    pay_to: String,
    max_timeout_seconds: Value,
    extra: Option<Box<RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Extra {
    name: Option<Value>,
    version: Option<Value>,
    asset_transfer_method: Option<Value>,
    payment_flow: Option<Value>,
}

impl Entry {
    /// Reads one entry of an offer of `version`.
    pub(crate) fn read(raw: Box<RawValue>, version: Version) -> Result<Self, EntryError> {
        let wire: Wire = object(&raw)?;
        if wire.scheme != "exact" {
            return Err(EntryError::Scheme);
        }
        let (network, price) = match version {
            Version::V1 => (Network::of_v1(&wire.network)?, wire.max_amount_required),
            Version::V2 => (wire.network.parse()?, wire.amount),
        };
        let extra: Extra = match &wire.extra {
            Some(extra) => object(extra)?,
            None => Extra::default(),
        };
        if !extra
            .asset_transfer_method
            .is_none_or(|method| method == "eip3009")
        {
            return Err(EntryError::TransferMethod);
        }
        let contract = wire.asset.parse().map_err(|_| EntryError::Address)?;
        Ok(Self {
            raw: Arc::from(raw),
            version,
            network_name: wire.network,
            amount: amount(price.as_ref()).ok_or(EntryError::Amount)?,
            asset: Asset::new(network, contract),
            pay_to: wire.pay_to.parse().map_err(|_| EntryError::Address)?,
            max_timeout_seconds: wire
                .max_timeout_seconds
                .as_u64()
                .filter(|seconds| *seconds > 0)
                .ok_or(EntryError::Timeout)?,
            payment_flow: flow(extra.payment_flow.as_ref()).ok_or(EntryError::Flow)?,
            domain_name: domain(extra.name)?,
            domain_version: domain(extra.version)?,
        })
    }

    /// Returns the version of x402 that its offer speaks.
    pub const fn version(&self) -> Version {
        self.version
    }

    /// Returns the price, in atomic units of the token.
    pub const fn amount(&self) -> Amount {
        self.amount
    }

    /// Returns the token.
    pub const fn asset(&self) -> Asset {
        self.asset
    }

    /// Returns the chain.
    pub const fn network(&self) -> Network {
        self.asset.network
    }

    /// Returns who is paid.
    pub const fn pay_to(&self) -> Address {
        self.pay_to
    }

    /// Returns for how many seconds the seller wants the authorization to be valid.
    pub const fn max_timeout_seconds(&self) -> u64 {
        self.max_timeout_seconds
    }

    /// Returns when the seller settles.
    pub const fn payment_flow(&self) -> PaymentFlow {
        self.payment_flow
    }

    /// Returns the name of the token's signing domain, as the seller says it.
    pub fn domain_name(&self) -> &str {
        &self.domain_name
    }

    /// Returns the version of the token's signing domain, as the seller says it.
    pub fn domain_version(&self) -> &str {
        &self.domain_version
    }
}

/// The text of a version 1 entry has the URL that was asked for, query and all.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("version", &self.version)
            .field("amount", &self.amount)
            .field("asset", &self.asset)
            .field("pay_to", &self.pay_to)
            .field("max_timeout_seconds", &self.max_timeout_seconds)
            .field("payment_flow", &self.payment_flow)
            .finish_non_exhaustive()
    }
}

/// Why an entry of an offer cannot be paid by this client.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// It is no object, or a field is missing or of the wrong type.
    #[error("the entry is not an object with the fields that it must have")]
    Shape,
    /// Its scheme is not `exact`.
    #[error("only the scheme exact is supported")]
    Scheme,
    /// Its network is not an EVM chain.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The token moves by something else than EIP-3009.
    #[error("only transfers by EIP-3009 are supported")]
    TransferMethod,
    /// The amount (version 1: `maxAmountRequired`) is missing, or not a whole number from 1 up to
    /// what a contract can count.
    #[error("the amount is not a positive whole number of atomic units")]
    Amount,
    /// The asset or the payee is not an address.
    #[error("the asset or the payee is not an address")]
    Address,
    /// `maxTimeoutSeconds` is not a positive whole number. A text would make years of a minute.
    #[error("maxTimeoutSeconds is not a positive whole number")]
    Timeout,
    /// The payment flow is not known.
    #[error("the payment flow is not known")]
    Flow,
    /// The token's signing domain is missing, or longer than 512 bytes.
    #[error("the signing domain (extra.name, extra.version) is missing, or too long to be one")]
    Domain,
}

/// Reads an object. A list of its values in their order is none, though serde takes it for one.
fn object<T: DeserializeOwned>(raw: &RawValue) -> Result<T, EntryError> {
    encoding::object(raw.get().as_bytes()).map_err(|_| EntryError::Shape)
}

/// A decimal string, or a whole number.
fn amount(value: Option<&Value>) -> Option<Amount> {
    let amount = match value? {
        Value::String(text) => text.parse().ok()?,
        Value::Number(number) => Amount::from_u64(number.as_u64()?),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    (amount > Amount::ZERO).then_some(amount)
}

fn domain(value: Option<Value>) -> Result<String, EntryError> {
    let named = value.and_then(text);
    named
        .filter(|name| name.len() <= LONGEST_TEXT)
        .ok_or(EntryError::Domain)
}

fn flow(value: Option<&Value>) -> Option<PaymentFlow> {
    match value {
        None => Some(PaymentFlow::Authorization),
        Some(value) => match value.as_str()? {
            "authorization" => Some(PaymentFlow::Authorization),
            "upfront" => Some(PaymentFlow::Upfront),
            "escrow" => Some(PaymentFlow::Escrow),
            _ => None,
        },
    }
}
