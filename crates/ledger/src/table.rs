//! Rows of text in columns.

use std::fmt;

/// Rows of text, of which the first is the head, set in columns for a person. Numbers stand to the
/// right.
#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    pub(crate) rows: Vec<[String; N]>,
    /// Which columns are texts, and stand to the left.
    pub(crate) texts: [bool; N],
}

impl<const N: usize> fmt::Display for Table<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut widths = [0; N];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        for row in &self.rows {
            let cells = row.iter().zip(widths).zip(self.texts);
            let cells = cells.map(|((cell, width), is_text)| match is_text {
                true => format!("{cell:<width$}"),
                false => format!("{cell:>width$}"),
            });
            let line = cells.collect::<Vec<_>>().join("  ");
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Returns `text` with what would move a terminal's cursor written out: some of it is a seller's.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() {
            shown.extend(char.escape_default());
        } else {
            shown.push(char);
        }
    }
    shown
}
