//! What all scenes came to, as two tables and a list of what is wrong.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::mode::Mode;
use crate::scene::{Outcome, Scene};

/// One scene and what came of it in each of its modes.
pub(crate) struct Row {
    pub(crate) scene: Scene,
    pub(crate) outcomes: BTreeMap<Mode, Outcome>,
}

impl Row {
    /// Returns what is wrong in this mode.
    fn faults(&self, mode: Mode) -> Vec<String> {
        let right = &self.scene.right;
        match (self.outcomes.get(&mode), mode) {
            (None, _) => Vec::new(),
            (Some(outcome), Mode::Alone) => right.faults(outcome),
            (Some(outcome), _) => right.faults_in_any_mode(mode, outcome),
        }
    }

    fn alone(&self) -> String {
        let Some(outcome) = self.outcomes.get(&Mode::Alone) else {
            return String::new();
        };
        let Scene { number, words, .. } = self.scene;
        let signed = format!("{}/{}", outcome.nonces, outcome.signatures);
        let delivered = if outcome.delivered { "yes" } else { "no" };
        let right = self.faults(Mode::Alone).is_empty();
        let verdict = match self.scene.pending {
            _ if !right => "WRONG".to_owned(),
            Some(what) => format!("half; pending: {what}"),
            None => String::new(),
        };
        format!(
            "{number:<4} {words:<66} {:>5} {signed:>6} {:>7} {delivered:<9} {:<20} {:<8} {verdict}",
            outcome.sends,
            outcome.settlements,
            outcome.ends.join("+"),
            outcome.money,
        )
    }

    fn in_all_modes(&self) -> String {
        let mut line = format!("{:<4}", self.scene.number);
        for mode in Mode::ALL {
            let cell = match self.outcomes.get(&mode) {
                None => "-".to_owned(),
                Some(outcome) => {
                    let mark = if self.faults(mode).is_empty() {
                        ""
                    } else {
                        " !"
                    };
                    format!("{}/{}{mark}", outcome.settlements, outcome.nonces)
                }
            };
            write!(line, "  {cell:<13}").unwrap();
        }
        line.trim_end().to_owned()
    }

    /// Returns one line for each mode in which something is wrong.
    fn all_faults(&self) -> impl Iterator<Item = String> {
        self.outcomes.iter().filter_map(|(mode, outcome)| {
            let faults = self.faults(*mode);
            let Outcome {
                sends,
                nonces,
                signatures,
                settlements,
                delivered,
                ends,
                money,
                ..
            } = outcome;
            (!faults.is_empty()).then(|| {
                format!(
                    "{} ({}), {}: {}\n      {sends} sends, {nonces} nonces, {signatures} signatures, \
                     {settlements} settlements, delivered: {delivered}, {}, money {money:?}",
                    self.scene.number,
                    self.scene.words,
                    mode.title(),
                    faults.join("; "),
                    ends.join("+"),
                )
            })
        })
    }
}

/// Prints both tables, and returns all that is wrong.
pub(crate) fn print(rows: &[Row]) -> Vec<String> {
    println!("\nOne call, our layers alone. signed: distinct nonces / distinct signatures\n");
    println!(
        "{:<4} {:<66} {:>5} {:>6} {:>7} {:<9} {:<20} {:<8}",
        "#", "scenario", "sends", "signed", "settled", "delivered", "end", "money"
    );
    for row in rows {
        println!("{}", row.alone().trim_end());
    }
    println!("\nThe same in other hands: settlements / nonces for one logical call; ! is wrong\n");
    let titles = Mode::ALL.map(|mode| format!("{:<13}", mode.title()));
    println!("{:<4}  {}", "#", titles.join("  ").trim_end());
    for row in rows {
        println!("{}", row.in_all_modes());
    }
    println!("\n{}\n", sum(rows));
    rows.iter().flat_map(Row::all_faults).collect()
}

/// How many scenes are right in all their modes, how many of these only by half, how many are not.
fn sum(rows: &[Row]) -> String {
    let (wrong, right): (Vec<_>, Vec<_>) = rows
        .iter()
        .partition(|row| row.all_faults().next().is_some());
    let (half, whole): (Vec<_>, Vec<_>) = right
        .into_iter()
        .partition(|row| row.scene.pending.is_some());
    format!(
        "{} scenes: {} right, {} right by the half that can be tested, {} wrong",
        rows.len(),
        whole.len(),
        half.len(),
        wrong.len(),
    )
}
