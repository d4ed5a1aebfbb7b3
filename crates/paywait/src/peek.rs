//! A look at the start of a body, after which the response is as it came.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt as _;
use reqwest::{Body, Response, ResponseBuilderExt as _};

/// Reads the body of `response` up to `most` bytes, or until `stop` is ready, and returns what was
/// read beside a response that equals the one that came.
///
/// Status, headers, URL, extensions and the remote address are kept. A reader of the body finds
/// every byte, the trailers, and an error that was met meanwhile, each in its place.
///
/// # Cancel safety
///
/// Dropping the future drops the response.
pub(crate) async fn peek(
    response: Response,
    most: usize,
    stop: impl Future<Output = ()>,
) -> (Bytes, Response) {
    let url = response.url().clone();
    let (mut parts, body) = http::Response::<Body>::from(response).into_parts();
    let mut peeked = Peeked {
        read: VecDeque::new(),
        rest: body,
    };
    let start = peeked.read_up_to(most, stop).await;
    // reqwest keeps the URL beside the parts, and takes it back by this way alone
    if let Ok(shell) = http::Response::builder().url(url).body(()) {
        parts.extensions.extend(shell.into_parts().0.extensions);
    }
    let response = http::Response::from_parts(parts, Body::wrap(peeked));
    (start, Response::from(response))
}

/// A body of which the start was read: that start again, then the rest.
struct Peeked {
    read: VecDeque<Result<Frame<Bytes>, reqwest::Error>>,
    rest: Body,
}

impl Peeked {
    async fn read_up_to(&mut self, most: usize, stop: impl Future<Output = ()>) -> Bytes {
        let mut stop = pin!(stop);
        let mut start = BytesMut::new();
        while start.len() < most {
            let frame = tokio::select! {
                biased;
                frame = self.rest.frame() => frame,
                () = &mut stop => break,
            };
            let Some(frame) = frame else {
                break;
            };
            let broken = frame.is_err();
            if let Some(data) = frame.as_ref().ok().and_then(Frame::data_ref) {
                let room = most.saturating_sub(start.len()).min(data.len());
                start.extend_from_slice(&data.slice(..room));
            }
            self.read.push_back(frame);
            if broken {
                break;
            }
        }
        start.freeze()
    }
}

impl http_body::Body for Peeked {
    type Data = Bytes;
    type Error = reqwest::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, reqwest::Error>>> {
        if let Some(frame) = self.read.pop_front() {
            return Poll::Ready(Some(frame));
        }
        let frame = ready!(Pin::new(&mut self.rest).poll_frame(context));
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.read.is_empty() && self.rest.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let frames = self.read.iter().filter_map(|frame| frame.as_ref().ok());
        let read = frames.filter_map(Frame::data_ref).fold(0_u64, |sum, data| {
            sum.saturating_add(u64::try_from(data.len()).unwrap_or(u64::MAX))
        });
        let rest = self.rest.size_hint();
        let mut hint = SizeHint::new();
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper.saturating_add(read));
        }
        hint.set_lower(rest.lower().saturating_add(read));
        hint
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    /// Serves `answer` once, byte by byte as given, and closes.
    async fn reply(answer: &'static [u8]) -> Response {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 1024];
            let _ = stream.read(&mut request).await.unwrap();
            stream.write_all(answer).await.unwrap();
        });
        let url = format!("http://{address}/path?query");
        reqwest::get(url).await.unwrap()
    }

    async fn never() {
        std::future::pending::<()>().await;
    }

    #[tokio::test]
    async fn the_response_is_as_it_came() {
        let answer = b"HTTP/1.1 429 Slow\r\nx-a: 1\r\nx-a: 2\r\ncontent-length: 5\r\n\r\nhello";
        let plain = reply(answer).await;
        let (start, peeked) = peek(reply(answer).await, 1024, never()).await;
        assert_eq!(start, "hello");
        assert_eq!(peeked.status(), plain.status());
        assert_eq!(peeked.version(), plain.version());
        assert_eq!(peeked.headers(), plain.headers());
        assert_eq!(peeked.content_length(), plain.content_length());
        assert_eq!(peeked.url().query(), Some("query"));
        assert!(
            peeked
                .remote_addr()
                .is_some_and(|address| address.ip().is_loopback())
        );
        assert_eq!(peeked.text().await.unwrap(), "hello");
    }

    #[tokio::test]
    async fn what_was_not_read_still_comes() {
        let answer = b"HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n\
            3\r\nabc\r\n3\r\ndef\r\n0\r\nx-trailer: end\r\n\r\n";
        let (start, peeked) = peek(reply(answer).await, 2, never()).await;
        assert_eq!(start, "ab");
        let body = http::Response::<Body>::from(peeked)
            .into_body()
            .collect()
            .await
            .unwrap();
        assert_eq!(body.trailers().unwrap()["x-trailer"], "end");
        assert_eq!(body.to_bytes(), "abcdef");
    }

    #[tokio::test]
    async fn an_error_is_met_again_in_its_place() {
        let answer = b"HTTP/1.1 500 No\r\ncontent-length: 10\r\n\r\nhello";
        let (start, mut peeked) = peek(reply(answer).await, 1024, never()).await;
        assert_eq!(start, "hello");
        assert_eq!(peeked.chunk().await.unwrap().unwrap(), "hello");
        let plain = reply(answer).await.bytes().await.unwrap_err();
        let met = peeked.chunk().await.unwrap_err();
        assert_eq!(
            (met.is_decode(), met.is_timeout()),
            (plain.is_decode(), plain.is_timeout())
        );
    }

    #[tokio::test]
    async fn a_stall_ends_the_look_and_not_the_body() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (go_on, wait) = tokio::sync::oneshot::channel::<()>();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 1024];
            let _ = stream.read(&mut request).await.unwrap();
            let head = b"HTTP/1.1 503 No\r\ncontent-length: 4\r\n\r\nab";
            stream.write_all(head).await.unwrap();
            wait.await.unwrap();
            stream.write_all(b"cd").await.unwrap();
        });
        let response = reqwest::get(url).await.unwrap();
        let stop = tokio::time::sleep(Duration::from_millis(50));
        let (start, peeked) = peek(response, 1024, stop).await;
        assert_eq!(start, "ab");
        assert_eq!(peeked.content_length(), Some(4));
        go_on.send(()).unwrap();
        assert_eq!(peeked.text().await.unwrap(), "abcd");
    }

    #[tokio::test]
    async fn an_empty_body_stays_empty() {
        let (start, peeked) = peek(
            reply(b"HTTP/1.1 402 Pay\r\ncontent-length: 0\r\n\r\n").await,
            9,
            never(),
        )
        .await;
        assert!(start.is_empty());
        assert_eq!(peeked.content_length(), Some(0));
        assert_eq!(peeked.bytes().await.unwrap(), "");
    }
}
