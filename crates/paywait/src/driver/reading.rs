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

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use http::StatusCode;
    use http_body::{Frame, SizeHint};
    use reqwest::Body;
    use tokio::time::Instant;

    use super::*;

    fn answer(status: u16, body: impl Into<Body>) -> Response {
        let mut response = http::Response::new(body.into());
        *response.status_mut() = StatusCode::from_u16(status).unwrap();
        Response::from(response)
    }

    /// A body of a length that never comes.
    struct Stalled(Option<u64>);

    impl http_body::Body for Stalled {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Pending
        }

        fn size_hint(&self) -> SizeHint {
            self.0.map_or_else(SizeHint::default, SizeHint::with_exact)
        }
    }

    async fn peeked(status: u16, length: usize) -> Option<usize> {
        let read = Read::of(answer(status, vec![b'x'; length]), false).await;
        assert_eq!(read.response.bytes().await.unwrap().len(), length);
        read.body.map(|body| body.len())
    }

    #[tokio::test]
    async fn of_a_refusal_64_kib_are_read_and_all_comes_back() {
        for length in [MOST_PEEKED - 1, MOST_PEEKED] {
            assert_eq!(peeked(402, length).await, Some(length));
        }
        assert_eq!(peeked(503, MOST_PEEKED + 1).await, Some(MOST_PEEKED));
        assert_eq!(peeked(301, 4 * MOST_PEEKED).await, Some(MOST_PEEKED));
        assert_eq!(peeked(200, 5).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_that_stalls_is_left_after_two_seconds() {
        let start = Instant::now();
        let stalled = Body::wrap(Stalled(Some(10)));
        let read = Read::of(answer(402, stalled), false).await;
        assert_eq!(read.body.as_deref(), Some(&b""[..]));
        assert_eq!(start.elapsed().as_secs(), LONGEST_PEEK.as_secs());
    }

    #[cfg(feature = "pay")]
    #[tokio::test]
    async fn what_was_paid_for_is_read_whole_up_to_8_mib() {
        let whole = Read::of(answer(200, vec![b'x'; LARGEST_READ]), true).await;
        assert_eq!(whole.body.map(|body| body.len()), Some(LARGEST_READ));
        assert!(!whole.is_cut);
        let larger = Read::of(answer(200, vec![b'x'; LARGEST_READ + 1]), true).await;
        assert!(larger.body.is_none() && !larger.is_cut);
        let length = larger.response.content_length();
        assert_eq!(length, u64::try_from(LARGEST_READ + 1).ok());
    }

    #[cfg(feature = "pay")]
    #[tokio::test(start_paused = true)]
    async fn what_was_paid_for_and_stalls_is_cut_after_a_minute() {
        let start = Instant::now();
        let stalled = Body::wrap(Stalled(Some(10)));
        let read = Read::of(answer(200, stalled), true).await;
        assert!(read.is_cut);
        assert_eq!(start.elapsed().as_secs(), LONGEST_READ.as_secs());
    }

    #[cfg(feature = "pay")]
    #[tokio::test(start_paused = true)]
    async fn what_does_not_say_how_long_it_is_is_not_waited_for() {
        let start = Instant::now();
        for length in [None, Some(u64::MAX)] {
            let read = Read::of(answer(200, Body::wrap(Stalled(length))), true).await;
            assert!(read.body.is_none() && !read.is_cut);
        }
        assert!(start.elapsed().is_zero());
    }
}
