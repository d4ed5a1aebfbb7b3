//! How much of an answer's body the driver reads before it hands the answer out.

use std::time::Duration;

use bytes::Bytes;
#[cfg(feature = "pay")]
use http::header::CONTENT_TYPE;
use reqwest::Response;

use crate::peek::peek;

/// An answer, and what was read of its body.
#[derive(Debug)]
pub(super) struct Read {
    /// The answer; no reader can tell that it was read from.
    pub(super) response: Response,
    /// What was read, if anything was.
    pub(super) body: Option<Bytes>,
    /// Whether what was paid for ended before it was whole.
    pub(super) is_cut: bool,
}

impl Read {
    /// Reads the start of a refusal, and all of what was `paid` for; nothing of any other answer.
    pub(super) async fn of(response: Response, paid: bool) -> Self {
        let status = response.status();
        if !status.is_success() && !status.is_informational() {
            let (start, response) = Self::take(response, MOST_PEEKED, LONGEST_PEEK).await;
            return Self {
                response,
                body: Some(start),
                is_cut: false,
            };
        }
        #[cfg(feature = "pay")]
        if let Some(length) = whole_length(&response).filter(|_| paid) {
            let (body, response) = Self::take(response, length, LONGEST_READ).await;
            return Self {
                response,
                is_cut: body.len() < length,
                body: Some(body),
            };
        }
        #[cfg(not(feature = "pay"))]
        debug_assert!(!paid, "nothing is paid for");
        Self {
            response,
            body: None,
            is_cut: false,
        }
    }

    async fn take(response: Response, most: usize, longest: Duration) -> (Bytes, Response) {
        // a bound on what the network does, in its time, whatever clock the call goes by
        let stop = tokio::time::sleep(longest);
        // apart, so that a call that reads nothing does not carry room for it
        Box::pin(peek(response, most, stop)).await
    }
}

/// The length of a paid response that is to be read whole: one that says how long it is.
///
/// While nobody has seen half of it, it can be asked for again with the same payment. Streams of
/// events and bodies of unknown length are handed out as they come.
#[cfg(feature = "pay")]
fn whole_length(response: &Response) -> Option<usize> {
    let kind = response.headers().get(CONTENT_TYPE);
    let streams = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    let length = usize::try_from(response.content_length()?).ok()?;
    (!streams && length <= LARGEST_READ).then_some(length)
}

/// As much of a refusal's body as is read.
const MOST_PEEKED: usize = 64 * 1024;

/// As long as a refusal's body is read.
const LONGEST_PEEK: Duration = Duration::from_secs(2);

/// A larger paid response is handed out as it comes.
#[cfg(feature = "pay")]
const LARGEST_READ: usize = 8 * 1024 * 1024;

/// A paid response that takes longer counts as cut short.
#[cfg(feature = "pay")]
const LONGEST_READ: Duration = Duration::from_secs(60);
