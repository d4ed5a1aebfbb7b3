//! How the program ends, and what it says of a failure.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use paywait_ledger::{LedgerError, Line, OpenError, StoreError, printable};
use serde_json::{Value, json};

use crate::answer::document;

/// How the program ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Status {
    Done,
    Failed,
    Usage,
    NotFound,
    InHand,
    Halted,
    Unconfirmed,
}

impl Status {
    const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::InHand => 4,
            Self::Halted => 5,
            Self::Unconfirmed => 6,
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status.code())
    }
}

/// Why nothing was done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{}: {error}", file.display())]
    Open { file: PathBuf, error: OpenError },
    #[error("{0}")]
    Store(StoreError),
    /// A rule that no verb here should meet.
    #[error("{0}")]
    Ledger(LedgerError),
    #[error("the answer cannot be printed: {0}")]
    Output(std::io::ErrorKind),
    #[error("{0}")]
    Usage(String),
    #[error("{0}")]
    NotFound(String),
    #[error("{} purchases are meant by {asked}", found.len())]
    Ambiguous { asked: String, found: Vec<Line> },
    #[error("a call has this purchase in hand: ask again in half a minute")]
    InHand,
    #[error("{0}")]
    Unconfirmed(String),
}

impl Failure {
    pub(crate) const fn status(&self) -> Status {
        match self {
            Self::Open { .. } | Self::Store(_) | Self::Ledger(_) | Self::Output(_) => {
                Status::Failed
            }
            Self::Usage(_) => Status::Usage,
            Self::NotFound(_) | Self::Ambiguous { .. } => Status::NotFound,
            Self::InHand => Status::InHand,
            Self::Unconfirmed(_) => Status::Unconfirmed,
        }
    }

    /// Tells it on standard error. Where nobody hears it, the exit status is left.
    pub(crate) fn tell(&self, json: bool) {
        let text = match json {
            true => document(&self.to_json()),
            false => self.to_text(),
        };
        std::io::stderr().write_all(text.as_bytes()).ok();
    }

    const fn reason(&self) -> &'static str {
        match self {
            Self::Open { .. } | Self::Store(_) | Self::Ledger(_) => "store",
            Self::Output(_) => "output",
            Self::Usage(_) => "usage",
            Self::NotFound(_) => "not-found",
            Self::Ambiguous { .. } => "ambiguous",
            Self::InHand => "in-hand",
            Self::Unconfirmed(_) => "unconfirmed",
        }
    }

    fn to_text(&self) -> String {
        let mut text = format!("paywait: {}\n", printable(&self.to_string()));
        let candidates = self.candidates();
        for line in candidates.iter().take(MOST_LISTED) {
            let (id, key, at) = (&line.payment_id, line.key, line.at);
            let (outcome, origin) = (line.outcome.name(), &line.origin);
            let line = printable(&format!("{id}  {key}  {at}  {outcome}  {origin}"));
            text.push_str(&format!("  {line}\n"));
        }
        match candidates.len().saturating_sub(MOST_LISTED) {
            0 => {}
            more => text.push_str(&format!("  and {more} more\n")),
        }
        text
    }

    fn to_json(&self) -> Value {
        let mut error = json!({
            "status": self.status().code(),
            "reason": self.reason(),
            "message": self.to_string(),
        });
        let found = self.candidates();
        let candidates = found.iter().take(MOST_LISTED).map(candidate);
        if let Some(fields) = error.as_object_mut().filter(|_| !found.is_empty()) {
            fields.insert("found".to_owned(), found.len().into());
            fields.insert("candidates".to_owned(), candidates.collect());
        }
        json!({ "error": error })
    }

    fn candidates(&self) -> &[Line] {
        match self {
            Self::Ambiguous { found, .. } => found,
            Self::Open { .. }
            | Self::Store(_)
            | Self::Ledger(_)
            | Self::Output(_)
            | Self::Usage(_)
            | Self::NotFound(_)
            | Self::InHand
            | Self::Unconfirmed(_) => &[],
        }
    }
}

fn candidate(line: &Line) -> Value {
    json!({
        "payment_id": line.payment_id.as_str(),
        "key": line.key.to_string(),
        "at": line.at.to_string(),
        "outcome": line.outcome.name(),
        "origin": line.origin.as_str(),
    })
}

impl From<LedgerError> for Failure {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the other rules are about paying, and no verb pays"
    )]
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Store(error) => Self::Store(error),
            LedgerError::InHand => Self::InHand,
            LedgerError::Lost => Self::NotFound("the purchase is there no more".to_owned()),
            other => Self::Ledger(other),
        }
    }
}

/// So many candidates are enough to see how to say more.
const MOST_LISTED: usize = 20;
