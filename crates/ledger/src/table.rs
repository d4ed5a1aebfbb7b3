//! Rows of text in columns.

use std::fmt;

/// Rows of text, of which the first is the head, set in columns for a person. Numbers stand to the
/// right. Cells are [printable], whoever wrote what is in them.
///
/// ```
/// use paywait_ledger::Table;
/// let mut table = Table::new(["origin", "spent"]).numbers([1]);
/// table.push(["https://seller.example".to_owned(), "0.01 USD".to_owned()]);
/// assert_eq!(table.to_string().lines().nth(1), Some("https://seller.example  0.01 USD"));
/// ```
#[derive(Clone, Debug)]
pub struct Table<const N: usize> {
    rows: Vec<[String; N]>,
    is_number: [bool; N],
}

impl<const N: usize> Table<N> {
    /// Returns a table of texts that has its head alone.
    pub fn new(head: [&str; N]) -> Self {
        Self {
            rows: vec![head.map(printable)],
            is_number: [false; N],
        }
    }

    /// Has these columns, counted from zero, stand to the right.
    #[must_use]
    pub fn numbers(mut self, columns: impl IntoIterator<Item = usize>) -> Self {
        for column in columns {
            if let Some(is_number) = self.is_number.get_mut(column) {
                *is_number = true;
            }
        }
        self
    }

    /// Adds a row.
    pub fn push(&mut self, row: [String; N]) {
        self.rows.push(row.map(|cell| printable(&cell)));
    }
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
            let cells = row.iter().zip(widths).zip(self.is_number);
            let cells = cells.map(|((cell, width), is_number)| match is_number {
                true => format!("{cell:>width$}"),
                false => format!("{cell:<width$}"),
            });
            let line = cells.collect::<Vec<_>>().join("  ");
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Returns `text` with what would move a terminal's cursor, or turn its text around, written out: some
/// of it is a seller's.
///
/// ```
/// use paywait_ledger::printable;
/// assert_eq!(printable("0x1\u{1b}[2J"), r"0x1\u{1b}[2J");
/// assert_eq!(printable("\u{202e}0x1"), r"\u{202e}0x1");
/// ```
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        if is_command(char) {
            shown.extend(char.escape_default());
        } else {
            shown.push(char);
        }
    }
    shown
}

/// Whether a terminal does something else with a character than to print it: controls, ends of lines,
/// and the marks by which text runs from right to left.
fn is_command(char: char) -> bool {
    let turns = matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    char.is_control() || turns
}
