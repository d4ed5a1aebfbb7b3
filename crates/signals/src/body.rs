//! The JSON body of a refusal, or as much of it as arrived.

use std::borrow::Cow;

use serde_json::{Deserializer, Value};

/// The JSON body of a refusal; nothing where it is something else.
#[derive(Default)]
pub(crate) struct Body(Option<Value>);

impl Body {
    /// Reads the first JSON value in the first 64 KiB of `bytes`.
    ///
    /// A byte order mark is skipped. What follows the value is not looked at. Where the value is
    /// cut off, the members that arrived whole are kept. Deep nesting is no body.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let prefix = bytes.get(..LONGEST).unwrap_or(bytes);
        let prefix = prefix.strip_prefix(BYTE_ORDER_MARK).unwrap_or(prefix);
        match first_value(prefix) {
            Ok(value) => Self(Some(value)),
            Err(error) if error.is_eof() || prefix.len() < bytes.len() => Self(mended(prefix)),
            Err(_) => Self(None),
        }
    }

    /// Returns whether there is no value to look into.
    pub(crate) const fn is_nothing(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the member at `pointer` (RFC 6901), whose names are plain and need no unescaping.
    pub(crate) fn at(&self, pointer: &str) -> Option<&Value> {
        let names = pointer.split('/').skip(1);
        names.fold(self.0.as_ref(), |value, name| value?.get(name))
    }

    /// Returns the text at `pointer`.
    pub(crate) fn text(&self, pointer: &str) -> Option<&str> {
        self.at(pointer)?.as_str()
    }

    /// Returns the code at `pointer`: a short text, or a number in its decimal form.
    pub(crate) fn code(&self, pointer: &str) -> Option<Cow<'_, str>> {
        match self.at(pointer)? {
            Value::String(code) if is_code(code) => Some(Cow::Borrowed(code)),
            Value::Number(code) => Some(Cow::Owned(code.to_string())),
            Value::Null
            | Value::Bool(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => None,
        }
    }

    /// Returns the body that stands as a text at `pointer`.
    pub(crate) fn embedded(&self, pointer: &str) -> Self {
        self.text(pointer)
            .map(|text| Self::read(text.as_bytes()))
            .unwrap_or_default()
    }
}

/// A code is short and printable: it is shown and logged.
pub(crate) fn is_code(text: &str) -> bool {
    (1..=LONGEST_CODE).contains(&text.len()) && !text.chars().any(char::is_control)
}

fn first_value(bytes: &[u8]) -> serde_json::Result<Value> {
    let mut values = Deserializer::from_slice(bytes).into_iter::<Value>();
    values.next().unwrap_or(Ok(Value::Null))
}

/// Reads what is left of a cut value: cuts it behind the last member that is whole, and closes
/// what is open there.
fn mended(bytes: &[u8]) -> Option<Value> {
    let (end, closers) = last_whole(bytes)?;
    let mut whole = bytes.get(..end)?.to_vec();
    whole.extend(closers.iter().rev());
    first_value(&whole).ok()
}

/// Returns where the last whole member ends, and the brackets that close what is open there.
fn last_whole(bytes: &[u8]) -> Option<(usize, Vec<u8>)> {
    let mut open = Vec::new();
    let mut whole = None;
    let mut in_text = false;
    let mut escaped = false;
    for (index, &byte) in bytes.iter().enumerate() {
        if in_text {
            in_text = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => in_text = true,
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' => {
                open.pop();
                whole = Some((index.saturating_add(1), open.len()));
            }
            b',' => whole = Some((index, open.len())),
            _ => {}
        }
        if open.len() > DEEPEST {
            return None;
        }
    }
    // since then brackets were opened only: the first `depth` are still those of that place
    let (end, depth) = whole?;
    open.truncate(depth);
    Some((end, open))
}

/// How much of a body is read, in bytes.
const LONGEST: usize = 64 * 1024;

/// The longest text that is taken for a code, in bytes.
const LONGEST_CODE: usize = 128;

/// How deep a cut body may nest; whole ones are bounded by the parser, at the same depth.
const DEEPEST: usize = 128;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[cfg(test)]
mod tests {
    use super::*;

    fn code(body: &str) -> Option<String> {
        Body::read(body.as_bytes())
            .code("/error/code")
            .map(Cow::into_owned)
    }

    #[test]
    fn a_byte_order_mark_and_what_follows_the_value_are_no_hindrance() {
        let body = "\u{feff}{\"error\":{\"code\":\"slow_down\"}}\n{\"done\":true}";
        assert_eq!(code(body).as_deref(), Some("slow_down"));
    }

    #[test]
    fn a_number_is_a_code_and_an_object_is_none() {
        assert_eq!(code(r#"{"error":{"code":429}}"#).as_deref(), Some("429"));
        assert_eq!(code(r#"{"error":{"code":{"value":"x"}}}"#), None);
        assert_eq!(code(r#"{"error":{"code":null}}"#), None);
    }

    #[test]
    fn of_a_cut_body_the_whole_members_are_kept_and_the_cut_one_is_not() {
        assert_eq!(
            code(r#"{"error":{"code":"a","type":"insuf"#).as_deref(),
            Some("a")
        );
        assert_eq!(code(r#"{"error":{"code":"insuff"#), None);
        assert_eq!(code(r#"{"error":{"code":"a\",}"#), None);
        assert_eq!(
            code(r#"{"error":{"code":"a","x":{"b":[1]},"#).as_deref(),
            Some("a")
        );
        assert_eq!(
            code(r#"{"error":{"code":"a","x":{"b":[1"#).as_deref(),
            Some("a")
        );
    }

    #[test]
    fn a_quote_that_is_escaped_does_not_end_a_text_of_a_cut_body() {
        let body = r#"{"error":{"code":"a","message":"x\",\"code\":\"b"#;
        assert_eq!(code(body).as_deref(), Some("a"));
        let body = r#"{"error":{"code":"a","path":"c:\\","type":"b"#;
        assert_eq!(code(body).as_deref(), Some("a"));
    }

    #[test]
    fn a_long_body_counts_as_cut_where_reading_ends() {
        let tail = "x".repeat(LONGEST);
        let body = format!(r#"{{"error":{{"code":"slow_down","message":"{tail}"}}}}"#);
        assert_eq!(code(&body).as_deref(), Some("slow_down"));
    }

    #[test]
    fn deep_nesting_is_no_body() {
        assert_eq!(code(&"[".repeat(10_000)), None);
        assert_eq!(code(&r#"{"error":"#.repeat(10_000)), None);
    }

    #[test]
    fn a_long_or_unprintable_text_is_no_code() {
        let long = "x".repeat(LONGEST_CODE + 1);
        assert_eq!(code(&format!(r#"{{"error":{{"code":"{long}"}}}}"#)), None);
        assert_eq!(code(r#"{"error":{"code":"a\u0007"}}"#), None);
        assert_eq!(code(r#"{"error":{"code":""}}"#), None);
    }
}
