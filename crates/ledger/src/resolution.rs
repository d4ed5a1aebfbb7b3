//! How a person, or proof, ends a purchase.

/// How a person, or proof, ends a purchase that a seller left open.
///
/// Its key is never bought again; whoever wants the same once more takes another name.
#[derive(Clone, Copy, Debug, serde::Deserialize, Eq, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub enum Resolution {
    /// What was paid for has come by another way. It counts as spent.
    Finished,
    /// It is taken as spent, and nothing more is expected.
    Presumed,
    /// Nothing more is expected, and its hold ends when nothing of it can settle any more.
    GivenUp,
    /// The chain proves that it settled.
    Settled,
    /// The chain proves that it did not settle and cannot any more: its hold is let go.
    Unused,
}
