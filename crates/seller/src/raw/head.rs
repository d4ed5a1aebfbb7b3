//! The head of a request: parsed by `httparse`, and how its body is framed.

use http::header::{CONNECTION, CONTENT_LENGTH, EXPECT, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri};

/// The head of a request.
pub(super) struct Head {
    pub(super) request: Request<()>,
    /// How many bytes it took.
    pub(super) length: usize,
    pub(super) framing: Framing,
    pub(super) keep_alive: bool,
    pub(super) expects_continue: bool,
}

/// How the body is framed (RFC 9112, section 6).
pub(super) enum Framing {
    Length(usize),
    Chunked,
}

/// Parses a head; `None` if it is not complete. An error is the status to answer.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<Head>, StatusCode> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => {
            return Err(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
        }
        Err(_) => return Err(StatusCode::BAD_REQUEST),
    };
    let is_1_1 = parsed.version == Some(1);
    let request = request(&parsed).ok_or(StatusCode::BAD_REQUEST)?;
    let headers = request.headers();
    let framing = framing(headers).ok_or(StatusCode::BAD_REQUEST)?;
    let keep_alive = is_1_1 && !has(headers, &CONNECTION, "close");
    let expects_continue = has(headers, &EXPECT, "100-continue");
    Ok(Some(Head {
        request,
        length,
        framing,
        keep_alive,
        expects_continue,
    }))
}

fn request(parsed: &httparse::Request<'_, '_>) -> Option<Request<()>> {
    let mut request = Request::new(());
    *request.method_mut() = Method::from_bytes(parsed.method?.as_bytes()).ok()?;
    *request.uri_mut() = parsed.path?.parse::<Uri>().ok()?;
    let headers = request.headers_mut();
    for field in parsed.headers.iter() {
        let name = HeaderName::from_bytes(field.name.as_bytes()).ok()?;
        headers.append(name, HeaderValue::from_bytes(field.value).ok()?);
    }
    Some(request)
}

/// A request with both framings, or with two lengths, is refused: it is how requests are
/// smuggled.
fn framing(headers: &HeaderMap) -> Option<Framing> {
    let mut lengths = headers.get_all(CONTENT_LENGTH).iter();
    let encoded = headers.contains_key(TRANSFER_ENCODING);
    match (lengths.next(), lengths.next(), encoded) {
        (None, _, true) => has(headers, &TRANSFER_ENCODING, "chunked").then_some(Framing::Chunked),
        (None, _, false) => Some(Framing::Length(0)),
        (Some(length), None, false) => {
            let digits = length.to_str().ok()?;
            let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| digits.parse().ok())?.map(Framing::Length)
        }
        (Some(_), _, _) => None,
    }
}

fn has(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.trim_ascii().eq_ignore_ascii_case(word))
}

const MAX_FIELDS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_parsed_once_it_is_whole() {
        let whole = b"POST /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc";
        assert!(parse(&whole[..30]).unwrap().is_none());
        let head = parse(whole).unwrap().unwrap();
        assert_eq!(head.length, whole.len() - 3);
        assert_eq!(head.request.uri().path(), "/a");
        assert!(matches!(head.framing, Framing::Length(3)));
        assert!(head.keep_alive);
    }

    #[test]
    fn two_framings_or_two_lengths_are_refused() {
        for fields in [
            "Content-Length: 3\r\nTransfer-Encoding: chunked",
            "Content-Length: 3\r\nContent-Length: 4",
            "Content-Length: +3",
            "Transfer-Encoding: gzip",
        ] {
            let head = format!("POST / HTTP/1.1\r\n{fields}\r\n\r\n");
            assert_eq!(
                parse(head.as_bytes()).err(),
                Some(StatusCode::BAD_REQUEST),
                "{fields}"
            );
        }
    }

    #[test]
    fn a_client_that_closes_is_not_kept() {
        let closing = b"GET / HTTP/1.1\r\nConnection: Close\r\n\r\n";
        assert!(!parse(closing).unwrap().unwrap().keep_alive);
        assert!(
            !parse(b"GET / HTTP/1.0\r\n\r\n")
                .unwrap()
                .unwrap()
                .keep_alive
        );
    }
}
