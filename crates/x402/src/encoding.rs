//! JSON objects in base64, as the payment headers carry them.

use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, Engine};
use serde::de::DeserializeOwned;

/// Encodes as every reader expects: standard alphabet, padded.
pub(crate) fn encode(json: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(json)
}

/// Decodes a header that holds a JSON object in base64.
///
/// As the reference reader: padding complete or absent, trailing bits ignored. More lenient: white
/// space around it and the URL-safe alphabet are accepted. Stricter: bounded, and an object.
pub(crate) fn decode<T: DeserializeOwned>(field: &[u8]) -> Result<T, EncodingError> {
    if field.len() > MOST_ENCODED {
        return Err(EncodingError::TooLarge);
    }
    let field = field.trim_ascii();
    let url_safe = field.iter().any(|byte| matches!(byte, b'-' | b'_'));
    let engine = if url_safe { &URL_SAFE } else { &STANDARD };
    let json = engine.decode(field).map_err(|_| EncodingError::NotBase64)?;
    object(&json)
}

/// Reads a JSON object. Depth is bounded by the parser.
pub(crate) fn object<T: DeserializeOwned>(json: &[u8]) -> Result<T, EncodingError> {
    let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
    let is_object = json.trim_ascii_start().first() == Some(&b'{');
    if !is_object {
        return Err(EncodingError::NotAnObject);
    }
    serde_json::from_slice(json).map_err(|_| EncodingError::NotAnObject)
}

/// Why a payment header cannot be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodingError {
    /// It is longer than 128 KiB.
    #[error("the payment header is too large to read")]
    TooLarge,
    /// It is not base64.
    #[error("the payment header is not base64")]
    NotBase64,
    /// It does not hold a JSON object of the expected shape.
    #[error("the payment header does not hold the JSON object that it should")]
    NotAnObject,
}

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);

const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);

const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// Offers with catalogue schemas are some kilobytes; no server sends headers near this.
const MOST_ENCODED: usize = 128 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn padding_is_complete_or_absent() {
        for text in ["eyJhIjoxfQ==", "eyJhIjoxfQ", " eyJhIjoxfQ==\t"] {
            assert_eq!(
                decode::<Value>(text.as_bytes()),
                Ok(json!({"a": 1})),
                "{text}"
            );
        }
    }

    #[test]
    fn trailing_bits_and_the_url_safe_alphabet_are_accepted() {
        assert_eq!(decode::<Value>(b"eyJhIjoxfR=="), Ok(json!({"a": 1})));
        assert_eq!(
            decode::<Value>(b"eyJhIjoiPz8_In0="),
            Ok(json!({"a": "???"}))
        );
    }

    #[test]
    fn only_objects_count() {
        for (text, error) in [
            ("", EncodingError::NotAnObject),
            ("bnVsbA==", EncodingError::NotAnObject),
            ("W10=", EncodingError::NotAnObject),
            ("e30 e30", EncodingError::NotBase64),
            ("!!!!", EncodingError::NotBase64),
        ] {
            assert_eq!(decode::<Value>(text.as_bytes()), Err(error), "{text}");
        }
    }

    #[test]
    fn size_is_bounded_before_anything_is_decoded() {
        assert_eq!(
            decode::<Value>(&vec![b'A'; MOST_ENCODED + 1]),
            Err(EncodingError::TooLarge)
        );
    }

    #[test]
    fn depth_is_bounded() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(10_000), "]".repeat(10_000));
        assert_eq!(
            object::<Value>(deep.as_bytes()),
            Err(EncodingError::NotAnObject)
        );
    }

    proptest! {
        #[test]
        fn no_field_is_a_panic(field in proptest::collection::vec(any::<u8>(), 0..200)) {
            drop(decode::<Value>(&field));
        }
    }
}
