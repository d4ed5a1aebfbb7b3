//! Why a test against the reference seller did not run.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

/// What is missing for the reference seller, and how to install it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LeftOut(String);

impl LeftOut {
    pub(super) fn without_node() -> Self {
        Self("`node` is not on the PATH: install Node.js 20 or newer".to_owned())
    }

    pub(super) fn without_packages(folder: &Path) -> Self {
        let folder = folder.display();
        Self(format!(
            "the reference seller's packages are absent: run `npm ci` in {folder}"
        ))
    }

    /// Tells on standard error that a test was left out, even where the harness captures output.
    pub fn report(&self, test: &str) {
        // A reader that closed standard error is no reason to fail a test.
        drop(writeln!(io::stderr(), "left out: {test}: {self}"));
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LeftOut {}
