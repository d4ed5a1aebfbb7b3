//! A record as the columns of its row.

use std::collections::BTreeMap;
use std::sync::Arc;

use paywait_signals::Timestamp;
use paywait_x402::alloy_primitives::{Address, B256, Keccak256};
use paywait_x402::{Asset, Money, Network, PaymentId, PurchaseKey, SignedPayment};
use serde::{Deserialize, Serialize};

use crate::term::Term;
use crate::{Fingerprint, Kept, OnDeath, Owner, Record, Resolution, Stake, StoreError};

/// A record as the columns of its row: those that it is looked for by, and the rest as one text.
///
/// What the file system hands back changed is found by the check sum over all of them.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) key: [u8; 32],
    pub(crate) fingerprint: [u8; 32],
    pub(crate) is_left_behind: bool,
    pub(crate) is_open: bool,
    pub(crate) fields: String,
}

/// The rest. Numbers that can be large are texts.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fields {
    named: bool,
    origin: String,
    labels: Vec<String>,
    payer: Address,
    pay_to: Address,
    chain: u64,
    contract: Address,
    nonce: B256,
    payment_id: String,
    amount: String,
    price: Option<String>,
    valid_before: u64,
    money: Money,
    shown: u32,
    delivered: bool,
    transaction: Option<String>,
    resolution: Option<Resolution>,
    begun: u64,
    settled: Option<u64>,
    unused: Option<u64>,
    written: u64,
    owner: Option<[u8; 16]>,
    leased_until: u64,
    signing: bool,
    signer_asked: bool,
    on_death: OnDeath,
    instance: u64,
    /// What it counts for, and until when.
    posted: BTreeMap<String, u64>,
    is_tombstone: bool,
    /// How many payments stand beside it.
    pub(crate) payments: usize,
    /// Whether a response is kept beside it.
    pub(crate) has_kept: bool,
}

impl Row {
    pub(crate) fn of(record: &Record) -> Result<Self, StoreError> {
        // texts and whole numbers: there is nothing in it that JSON cannot hold
        let fields = serde_json::to_string(&Fields::of(record)).map_err(|_| StoreError::Damaged)?;
        Ok(Self {
            key: *record.key.as_bytes(),
            fingerprint: *record.fingerprint.as_bytes(),
            is_left_behind: record.is_left_behind(),
            is_open: record.is_open(),
            fields,
        })
    }

    /// Returns a hash over all columns.
    pub(crate) fn sum(&self) -> [u8; 32] {
        let flags = [self.is_left_behind, self.is_open].map(u8::from);
        sum([
            self.key.as_slice(),
            self.fingerprint.as_slice(),
            flags.as_slice(),
            self.fields.as_bytes(),
        ])
    }

    pub(crate) fn fields(&self) -> Result<Fields, StoreError> {
        serde_json::from_str(&self.fields).map_err(|_| StoreError::Damaged)
    }

    /// Returns the record, together with what stands beside its row. What is not whole is damaged:
    /// a payment that was left out would be signed anew.
    pub(crate) fn record(
        &self,
        fields: Fields,
        payments: Vec<SignedPayment>,
        kept: Option<Arc<Kept>>,
    ) -> Result<Record, StoreError> {
        let is_whole = fields.payments == payments.len() && fields.has_kept == kept.is_some();
        if !is_whole {
            return Err(StoreError::Damaged);
        }
        let stake = fields.stake().ok_or(StoreError::Damaged)?;
        let labels = fields.labels.iter().map(|label| label.parse());
        let labels: Result<_, _> = labels.collect();
        Ok(Record {
            key: PurchaseKey::from_bytes(self.key),
            fingerprint: Fingerprint::from_bytes(self.fingerprint),
            named: fields.named,
            origin: fields.origin.parse().map_err(|_| StoreError::Damaged)?,
            labels: labels.map_err(|_| StoreError::Damaged)?,
            stake,
            money: fields.money,
            shown: fields.shown,
            delivered: fields.delivered,
            transaction: fields.transaction,
            resolution: fields.resolution,
            begun: Timestamp::from_millis(fields.begun),
            written: Timestamp::from_millis(fields.written),
            payments,
            kept,
            owner: fields.owner.map(Owner::from_bytes),
            leased_until: Timestamp::from_millis(fields.leased_until),
            signing: fields.signing,
            signer_asked: fields.signer_asked,
            on_death: fields.on_death,
            instance: fields.instance,
            settled: fields.settled.map(Timestamp::from_millis),
            unused: fields.unused.map(Timestamp::from_millis),
            posted: posted(&fields.posted)?,
            is_tombstone: fields.is_tombstone,
        })
    }
}

fn posted(written: &BTreeMap<String, u64>) -> Result<BTreeMap<Term, Timestamp>, StoreError> {
    let postings = written.iter().map(|(term, until)| {
        let term = term.parse().map_err(|()| StoreError::Damaged)?;
        Ok((term, Timestamp::from_millis(*until)))
    });
    postings.collect()
}

impl Fields {
    fn of(record: &Record) -> Self {
        let stake = &record.stake;
        Self {
            named: record.named,
            origin: record.origin.to_string(),
            labels: record.labels.iter().map(ToString::to_string).collect(),
            payer: stake.payer,
            pay_to: stake.pay_to,
            chain: stake.asset.network.chain_id(),
            contract: stake.asset.contract,
            nonce: stake.nonce,
            payment_id: stake.payment_id.as_str().to_owned(),
            amount: stake.amount.to_string(),
            price: stake.price.map(|price| price.to_string()),
            valid_before: stake.valid_before,
            money: record.money,
            shown: record.shown,
            delivered: record.delivered,
            transaction: record.transaction.clone(),
            resolution: record.resolution,
            begun: record.begun.as_millis(),
            settled: record.settled.map(Timestamp::as_millis),
            unused: record.unused.map(Timestamp::as_millis),
            written: record.written.as_millis(),
            owner: record.owner.map(|owner| *owner.as_bytes()),
            leased_until: record.leased_until.as_millis(),
            signing: record.signing,
            signer_asked: record.signer_asked,
            on_death: record.on_death,
            instance: record.instance,
            posted: record
                .posted
                .iter()
                .map(|(term, until)| (term.to_string(), until.as_millis()))
                .collect(),
            is_tombstone: record.is_tombstone,
            payments: record.payments.len(),
            has_kept: record.kept.is_some(),
        }
    }

    fn stake(&self) -> Option<Stake> {
        let price = self.price.as_deref().map(str::parse).transpose();
        Some(Stake {
            payer: self.payer,
            pay_to: self.pay_to,
            asset: Asset::new(Network::evm(self.chain), self.contract),
            nonce: self.nonce,
            payment_id: PaymentId::kept(self.payment_id.clone())?,
            amount: self.amount.parse().ok()?,
            price: price.ok()?,
            valid_before: self.valid_before,
        })
    }
}

/// Returns a hash over columns, each behind its length.
pub(crate) fn sum<const N: usize>(columns: [&[u8]; N]) -> [u8; 32] {
    let mut hasher = Keccak256::new();
    for column in columns {
        hasher.update(
            u64::try_from(column.len())
                .unwrap_or(u64::MAX)
                .to_be_bytes(),
        );
        hasher.update(column);
    }
    hasher.finalize().0
}

/// Returns a moment as a column holds it: in milliseconds since the Unix epoch. One too late for the
/// column is its last one.
pub(crate) fn millis(moment: Timestamp) -> i64 {
    i64::try_from(moment.as_millis()).unwrap_or(i64::MAX)
}
