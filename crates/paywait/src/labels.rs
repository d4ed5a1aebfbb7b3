//! What calls are tagged with.

use std::collections::BTreeSet;

use http::Extensions;
use paywait_ledger::{Label, LabelError};

use crate::scope::{self, Nests};

/// Tags of calls, put on a request or a [`Scope`](crate::Scope): which agent makes them, for which task.
///
/// What they pay counts against the limits [for their labels](crate::Limit::on_each_label), beside all
/// others, and is listed by them. Tags nest: those of an inner scope and of a request come on top.
///
/// ```
/// # async fn example(client: reqwest_middleware::ClientWithMiddleware) -> Result<(), Box<dyn std::error::Error>> {
/// use paywait::{Labels, Scope};
///
/// let labels = Labels::new("agent", "researcher")?.and("task", "report-7")?;
/// let reply = Scope::new()
///     .with(labels)
///     .run(client.get("https://seller.example/report").send())
///     .await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Labels(BTreeSet<Label>);

impl Labels {
    /// Returns one tag: `name` of `kind`.
    ///
    /// # Errors
    ///
    /// A [`LabelError`] that says what is wrong with it.
    pub fn new(kind: impl Into<String>, name: impl Into<String>) -> Result<Self, LabelError> {
        Self::default().and(kind, name)
    }

    /// Adds a tag.
    ///
    /// # Errors
    ///
    /// A [`LabelError`] that says what is wrong with it.
    pub fn and(
        mut self,
        kind: impl Into<String>,
        name: impl Into<String>,
    ) -> Result<Self, LabelError> {
        self.0.insert(Label::new(kind, name)?);
        Ok(self)
    }

    /// Returns what a call is tagged with: by the scope around, and by its request.
    pub(crate) fn of(extensions: &Extensions) -> BTreeSet<Label> {
        let own = extensions.get::<Self>().cloned().unwrap_or_default();
        let Self(all) = own.inside(&scope::ambient::<Self>().unwrap_or_default());
        all
    }
}

impl Nests for Labels {
    fn inside(mut self, outer: &Self) -> Self {
        self.0.extend(outer.0.iter().cloned());
        self
    }
}
