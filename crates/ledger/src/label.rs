//! What a call is tagged with.

use std::fmt;

/// A tag on a call: of which kind, and which. `agent` is a kind, `researcher` one of them.
///
/// Limits can be set for each of a kind, or for one alone, and statements list by them.
///
/// ```
/// use paywait_ledger::{Label, LabelError};
/// let label = Label::new("agent", "researcher").unwrap();
/// assert_eq!(label.to_string(), "agent=researcher");
/// assert_eq!(Label::new("agent", ""), Err(LabelError::Empty));
/// assert_eq!(Label::new("agent", "a\nb"), Err(LabelError::Unprintable));
/// ```
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Label {
    kind: String,
    name: String,
}

impl Label {
    /// The longest kind and the longest name, in bytes.
    pub const LONGEST: usize = 64;

    /// Returns the label `name` of `kind`.
    ///
    /// # Errors
    ///
    /// A [`LabelError`] that says what is wrong with `kind` or `name`.
    pub fn new(kind: impl Into<String>, name: impl Into<String>) -> Result<Self, LabelError> {
        let (kind, name) = (kind.into(), name.into());
        check(&kind)?;
        check(&name)?;
        if kind.contains('=') {
            return Err(LabelError::Kind);
        }
        Ok(Self { kind, name })
    }

    /// Returns of which kind it is.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Returns which of its kind it is.
    pub fn name(&self) -> &str {
        &self.name
    }
}

fn check(text: &str) -> Result<(), LabelError> {
    if text.is_empty() {
        return Err(LabelError::Empty);
    }
    if text.len() > Label::LONGEST {
        return Err(LabelError::Long);
    }
    match text.chars().any(char::is_control) {
        true => Err(LabelError::Unprintable),
        false => Ok(()),
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.kind, self.name)
    }
}

impl std::str::FromStr for Label {
    type Err = LabelError;

    /// Reads `kind=name`, as it is printed.
    fn from_str(text: &str) -> Result<Self, LabelError> {
        let (kind, name) = text.split_once('=').ok_or(LabelError::Kind)?;
        Self::new(kind, name)
    }
}

/// Why a text is no label.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LabelError {
    /// The kind or the name is empty.
    #[error("a label has a kind and a name")]
    Empty,
    /// The kind or the name is longer than [`Label::LONGEST`].
    #[error("a label's kind and name have at most 64 bytes each")]
    Long,
    /// The kind or the name has control characters.
    #[error("a label has no control characters")]
    Unprintable,
    /// The kind is missing, or has `=` in it.
    #[error("a label is written kind=name, and its kind has no `=`")]
    Kind,
}
