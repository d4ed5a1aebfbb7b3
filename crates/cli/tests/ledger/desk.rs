//! A file that agents have filled, and the command on it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use alloy_signer_local::PrivateKeySigner;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_executor::block_on;
use paywait_ledger::{
    Fingerprint, Intent, Label, Ledger, LedgerError, Note, Owner, Record, SqliteLedger, Taken,
};
use paywait_signals::Timestamp;
use paywait_x402::alloy_primitives::{B256, keccak256};
use paywait_x402::{Money, Offer, PaymentId, PurchaseKey, Terms, Wallet, usd};
use serde_json::{Value, json};
use tempfile::TempDir;

static SIGNER: LazyLock<PrivateKeySigner> = LazyLock::new(PrivateKeySigner::random);

/// A folder with a ledger in it.
pub(crate) struct Desk {
    pub(crate) path: PathBuf,
    folder: TempDir,
}

impl Desk {
    /// A ledger in which nothing is.
    pub(crate) fn empty() -> Self {
        let desk = Self::bare();
        drop(SqliteLedger::create(&desk.path).unwrap());
        desk
    }

    /// No ledger yet.
    pub(crate) fn bare() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        Self { path, folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn ledger(&self) -> SqliteLedger {
        SqliteLedger::open(&self.path).unwrap()
    }

    /// A ledger with what agents left: one bought, one lost, one whose end is unknown.
    pub(crate) fn filled() -> Self {
        let desk = Self::empty();
        let ledger = desk.ledger();
        let settled = |note: Note| note.transaction(Some("0xabc".to_owned()));
        Sale::new("bought").end(
            &ledger,
            settled(Note::new(Money::Settled, 1)).delivered(true),
        );
        Sale::new("lost").end(&ledger, settled(Note::new(Money::Settled, 3)));
        Sale::new("unknown").end(&ledger, Note::new(Money::Unknown, 1));
        drop(ledger);
        desk
    }

    /// Runs a verb.
    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        run(self.command(words).stdin(Stdio::null()))
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = paywait();
        command.arg("ledger").arg(&self.path).args(words);
        command
    }

    /// What the ledger holds of a purchase.
    pub(crate) fn purchase(&self, name: &str) -> Record {
        let found = block_on(self.ledger().purchase(PurchaseKey::named(name)));
        found.unwrap().unwrap()
    }

    /// What counts against the day.
    pub(crate) fn used(&self) -> String {
        block_on(self.ledger().used_today(now()))
            .unwrap()
            .to_string()
    }
}

pub(crate) fn paywait() -> Command {
    Command::new(env!("CARGO_BIN_EXE_paywait"))
}

/// How the command ended, and what it said.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) fn run(command: &mut Command) -> Ran {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    Ran {
        status: status.code().unwrap(),
        out: String::from_utf8(stdout).unwrap(),
        err: String::from_utf8(stderr).unwrap(),
    }
}

impl Ran {
    /// The answer, where all went well.
    pub(crate) fn answer(self) -> String {
        assert_eq!((self.status, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    /// The one document of an answer, where all went well.
    pub(crate) fn json(self) -> Value {
        serde_json::from_str(&self.answer()).unwrap()
    }

    /// The one line of a failure, where nothing was answered.
    pub(crate) fn failure(self, status: i32) -> String {
        assert_eq!((self.status, self.out.as_str()), (status, ""));
        let line = self.err.strip_suffix('\n').unwrap();
        assert!(!line.contains('\n'), "{line}");
        line.strip_prefix("paywait: ").unwrap().to_owned()
    }

    /// What is told of a failure as JSON.
    pub(crate) fn json_failure(self, status: i32) -> Value {
        assert_eq!((self.status, self.out.as_str()), (status, ""));
        let mut told: Value = serde_json::from_str(&self.err).unwrap();
        let error = told["error"].take();
        assert_eq!(error["status"], status);
        error
    }
}

/// One purchase of an agent, of one cent.
pub(crate) struct Sale {
    pub(crate) name: &'static str,
    pub(crate) id: PaymentId,
    pub(crate) begun: Timestamp,
    pub(crate) is_named: bool,
    pub(crate) origin: &'static str,
    pub(crate) labels: Vec<Label>,
}

impl Sale {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            id: PaymentId::random(),
            begun: now(),
            is_named: true,
            origin: "https://seller.example/report?token=secret",
            labels: Vec::new(),
        }
    }

    pub(crate) fn key(&self) -> PurchaseKey {
        PurchaseKey::named(self.name)
    }

    fn terms(&self) -> Terms {
        let valid_before = self.begun.as_secs().saturating_add(120);
        let offer = json!({"x402Version": 2, "accepts": [{
            "scheme": "exact", "network": "eip155:84532", "amount": "10000", "asset": USDC,
            "payTo": PAYEE, "maxTimeoutSeconds": 120,
            "extra": {"name": "USDC", "version": "2"},
        }]});
        let offer = Offer::decode(STANDARD.encode(offer.to_string()).as_bytes()).unwrap();
        let nonce: B256 = keccak256(self.name);
        let payer = SIGNER.address();
        Terms::new(&offer, 0, payer, nonce, self.id.clone(), valid_before).unwrap()
    }

    /// Writes the intent.
    pub(crate) fn intend(&self, ledger: &SqliteLedger) -> Result<Owner, LedgerError> {
        let request = Fingerprint::of("GET", self.origin, self.name.as_bytes());
        let (terms, origin) = (self.terms(), self.origin.parse().unwrap());
        let intent = Intent::new(self.key(), request, origin, &terms, usd("0.01").ok())
            .named(self.is_named)
            .labels(self.labels.clone())
            .pins_payee(true);
        let owner = Owner::random();
        let taken = block_on(ledger.intend(intent, owner, self.begun))?;
        assert!(matches!(taken, Taken::Intended), "{taken:?}");
        Ok(owner)
    }

    /// Signs and writes the payment, and keeps the purchase in hand.
    pub(crate) fn sign(&self, ledger: &SqliteLedger) -> Owner {
        let owner = self.intend(ledger).unwrap();
        let payment = block_on(Wallet::evm(SIGNER.clone()).sign(&self.terms())).unwrap();
        block_on(ledger.persist(self.key(), owner, payment, self.begun)).unwrap();
        owner
    }

    /// Buys, writes what became known, and gives the purchase back.
    pub(crate) fn end(&self, ledger: &SqliteLedger, note: Note) {
        let owner = self.sign(ledger);
        block_on(ledger.note(self.key(), owner, note, self.begun)).unwrap();
        ledger.release(self.key(), owner, true);
    }
}

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Timestamp::from_millis(since.as_millis().try_into().unwrap())
}

pub(crate) fn label(text: &str) -> Label {
    text.parse().unwrap()
}

pub(crate) fn id(text: &str) -> PaymentId {
    PaymentId::kept(text.to_owned()).unwrap()
}

pub(crate) const USDC: &str = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
pub(crate) const TOKEN: &str = "eip155:84532/0x036CbD53842c5426634e7929541eC2318f3dCF7e";
pub(crate) const PAYEE: &str = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";
