//! What a verb answers, and how it is printed.

use std::io::{ErrorKind, Write as _};

use paywait_ledger::printable;
use serde_json::Value;

use crate::exit::{Failure, Status};

/// What a verb answers: to a person, and to a program.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) json: Value,
    pub(crate) status: Status,
}

impl Answer {
    /// Returns the answer of a verb that has done what it was asked.
    pub(crate) const fn new(text: String, json: Value) -> Self {
        let status = Status::Done;
        Self { text, json, status }
    }

    /// Prints it. Whoever stopped reading has read enough, and what was done is done.
    pub(crate) fn print(&self, json: bool) -> Result<Status, Failure> {
        let text = match json {
            true => document(&self.json),
            false => self.text.clone(),
        };
        let mut stdout = std::io::stdout().lock();
        let printed = stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush());
        match printed {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failure::Output(error.kind()))
            }
            _ => Ok(self.status),
        }
    }
}

/// Returns a JSON document for a pipe or a terminal: JSON itself lets some characters through that a
/// terminal takes for commands. They can stand in texts alone.
pub(crate) fn document(json: &Value) -> String {
    let mut text = String::new();
    for char in format!("{json:#}\n").chars() {
        let is_plain = char == '\n' || printable(char.encode_utf8(&mut [0; 4])).starts_with(char);
        match is_plain {
            true => text.push(char),
            false => text.push_str(&format!("\\u{:04x}", u32::from(char))),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_document_says_the_same_without_commands_for_a_terminal() {
        let hostile = json!({"transaction": "\u{1b}[2J\u{9b}31m\u{7f}\u{202e}\\ \"é\" \n"});
        let text = document(&hostile);
        assert!(!text.contains(['\u{1b}', '\u{9b}', '\u{7f}', '\u{202e}']));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), hostile);
        assert!(text.contains('é'));
    }
}
