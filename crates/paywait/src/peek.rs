//! Reads the start of a response's body and hands the response back as it came.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;
use reqwest::{Body, Response, ResponseBuilderExt, Url};

/// Reads at most `most` bytes of the body of `response`, until `stop` is ready at the latest.
///
/// Returns what was read, and a response that no reader can tell from the one that came: the same
/// head, address and extensions, the same body with what was read still in it, the same trailers,
/// the same length, and an error met on the way met again at the same place.
pub(crate) async fn peek<S>(response: Response, most: usize, stop: S) -> (Bytes, Response)
where
    S: Future<Output = ()> + Send,
{
    let url = response.url().clone();
    let (parts, body) = http::Response::<Body>::from(response).into_parts();
    let mut peeked = Peeked::new(body);
    peeked.read(most, stop).await;
    let start = peeked.read.slice(..peeked.read.len().min(most));
    (start, rebuild(parts, peeked, url))
}

/// A body of which the start was read: that start, then what comes after it.
#[derive(Debug)]
struct Peeked<B: HttpBody = Body> {
    read: Bytes,
    then: Then<B::Error>,
    /// Kept when it has ended too: what it says of its length stays true.
    rest: B,
}

/// What comes after what was read.
#[derive(Debug)]
enum Then<E> {
    /// The rest, still streaming.
    Rest,
    /// The trailers, which are the last of a body.
    Trailers(HeaderMap),
    /// The error that ended it.
    Error(E),
    /// Nothing.
    End,
}

impl<B> Peeked<B>
where
    B: HttpBody<Data = Bytes> + Send + Unpin,
    B::Error: Send,
{
    const fn new(rest: B) -> Self {
        Self {
            read: Bytes::new(),
            then: Then::Rest,
            rest,
        }
    }

    /// Reads until there are `most` bytes, the body ends or fails, or `stop` is ready.
    async fn read<S: Future<Output = ()> + Send>(&mut self, most: usize, stop: S) {
        let mut stop = pin!(stop);
        let mut read = BytesMut::new();
        while read.len() < most && !self.rest.is_end_stream() {
            let frame = tokio::select! {
                // stop first: a body that is always ready, with nothing in it, ends too
                biased;
                () = &mut stop => break,
                frame = self.rest.frame() => frame,
            };
            match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => read.extend_from_slice(&data),
                Some(Ok(Err(other))) => {
                    if let Ok(trailers) = other.into_trailers() {
                        self.then = Then::Trailers(trailers);
                        break;
                    }
                }
                Some(Err(error)) => {
                    self.then = Then::Error(error);
                    break;
                }
                None => {
                    self.then = Then::End;
                    break;
                }
            }
        }
        self.read = read.freeze();
    }
}

impl<B> HttpBody for Peeked<B>
where
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: Unpin,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        if !this.read.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut this.read)))));
        }
        match std::mem::replace(&mut this.then, Then::End) {
            Then::Rest => {
                this.then = Then::Rest;
                let frame = ready!(Pin::new(&mut this.rest).poll_frame(cx));
                if frame.is_none() {
                    this.then = Then::End;
                }
                Poll::Ready(frame)
            }
            Then::Trailers(trailers) => Poll::Ready(Some(Ok(Frame::trailers(trailers)))),
            Then::Error(error) => Poll::Ready(Some(Err(error))),
            Then::End => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        let then_ends = match self.then {
            Then::Rest => self.rest.is_end_stream(),
            Then::Trailers(_) | Then::Error(_) => false,
            Then::End => true,
        };
        self.read.is_empty() && then_ends
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.size_hint();
        let read = u64::try_from(self.read.len()).unwrap_or(u64::MAX);
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower().saturating_add(read));
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper.saturating_add(read));
        }
        hint
    }
}

/// Puts a response together again. The URL is not a part of it that survives being taken apart.
fn rebuild(mut parts: http::response::Parts, body: Peeked, url: Url) -> Response {
    let mut carrier = http::response::Builder::new().url(url);
    if let Some(extensions) = carrier.extensions_mut() {
        parts.extensions.extend(std::mem::take(extensions));
    }
    Response::from(http::Response::from_parts(parts, Body::wrap(body)))
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::io::{BufRead, BufReader, Write};
    use std::net::{SocketAddr, TcpListener};
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread;

    use http::{Method, StatusCode, Version};

    use super::*;

    /// All that a reader can see of a response.
    #[derive(Debug, PartialEq)]
    struct Whole {
        status: StatusCode,
        version: Version,
        headers: HeaderMap,
        url: Url,
        remote_addr: Option<SocketAddr>,
        mark: Option<Mark>,
        content_length: Option<u64>,
        body: Vec<u8>,
        trailers: Option<HeaderMap>,
        error: Option<String>,
    }

    #[derive(Clone, Debug, PartialEq)]
    struct Mark(u8);

    async fn whole(response: Response) -> Whole {
        let mut whole = Whole {
            status: response.status(),
            version: response.version(),
            headers: response.headers().clone(),
            url: response.url().clone(),
            remote_addr: response.remote_addr(),
            mark: response.extensions().get::<Mark>().cloned(),
            content_length: response.content_length(),
            body: Vec::new(),
            trailers: None,
            error: None,
        };
        let mut body = http::Response::<Body>::from(response).into_body();
        while let Some(frame) = body.frame().await {
            match frame.map(Frame::into_data) {
                Ok(Ok(data)) => whole.body.extend_from_slice(&data),
                Ok(Err(frame)) => whole.trailers = frame.into_trailers().ok(),
                Err(error) => whole.error = Some(root(&error)),
            }
        }
        whole
    }

    /// The innermost cause.
    fn root(error: &dyn std::error::Error) -> String {
        error.source().map_or_else(|| error.to_string(), root)
    }

    /// A server that answers each connection with `first`, then when told to with `second`, and
    /// hangs up.
    fn serve(first: &'static str, second: &'static str) -> (SocketAddr, Sender<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let (go, gone): (Sender<()>, Receiver<()>) = channel();
        thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
                stream.write_all(first.as_bytes()).unwrap();
                if !second.is_empty() {
                    gone.recv().unwrap();
                    stream.write_all(second.as_bytes()).unwrap();
                }
            }
        });
        (addr, go)
    }

    async fn fetch(addr: SocketAddr, method: Method) -> Response {
        let client = reqwest::Client::new();
        let url = format!("http://{addr}/path?query=1");
        let mut response = client.request(method, url).send().await.unwrap();
        response.extensions_mut().insert(Mark(7));
        response
    }

    /// Asserts that a reader sees the same with and without a peek of any size; returns it.
    async fn same_with_any_peek(answer: &'static str, method: Method) -> Whole {
        let (addr, _go) = serve(answer, "");
        let plain = whole(fetch(addr, method.clone()).await).await;
        for most in [0, 1, 4, 5, 1_000] {
            let response = fetch(addr, method.clone()).await;
            let (start, response) = peek(response, most, pending()).await;
            assert!(start.len() <= most);
            let peeked = whole(response).await;
            assert!(peeked.body.starts_with(&start));
            assert_eq!(
                start.len(),
                most.min(plain.body.len()),
                "all that there is to read"
            );
            assert_eq!(peeked, plain, "with a peek of {most}");
        }
        assert_eq!(plain.remote_addr, Some(addr));
        assert_eq!(plain.url.as_str(), format!("http://{addr}/path?query=1"));
        assert_eq!(plain.mark, Some(Mark(7)));
        plain
    }

    #[tokio::test]
    async fn a_body_of_known_length_comes_back_as_it_was() {
        let answer =
            "HTTP/1.1 402 Payment Required\r\nA: 1\r\nA: 2\r\nContent-Length: 5\r\n\r\nhello";
        let seen = same_with_any_peek(answer, Method::GET).await;
        assert_eq!(seen.content_length, Some(5));
        assert_eq!(seen.body, b"hello");
    }

    #[tokio::test]
    async fn a_chunked_body_comes_back_with_its_trailers() {
        let answer = "HTTP/1.1 429 Too Many Requests\r\nTransfer-Encoding: chunked\r\n\
                      Trailer: Proof\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\nProof: yes\r\n\r\n";
        let seen = same_with_any_peek(answer, Method::GET).await;
        assert_eq!(seen.content_length, None);
        assert_eq!(seen.body, b"hello");
        assert_eq!(seen.trailers.unwrap()["proof"], "yes");
    }

    #[tokio::test]
    async fn a_body_that_ends_with_the_connection_comes_back() {
        let seen = same_with_any_peek("HTTP/1.0 500 Oops\r\n\r\nhello", Method::GET).await;
        assert_eq!(seen.version, Version::HTTP_10);
        assert_eq!(seen.body, b"hello");
    }

    #[tokio::test]
    async fn an_error_is_met_again_where_it_was() {
        let answer = "HTTP/1.1 402 Payment Required\r\nContent-Length: 10\r\n\r\nhell";
        let seen = same_with_any_peek(answer, Method::GET).await;
        assert_eq!(seen.content_length, Some(10));
        assert_eq!(seen.body, b"hell");
        assert!(seen.error.is_some());
    }

    #[tokio::test]
    async fn an_empty_body_comes_back_empty() {
        let answer = "HTTP/1.1 402 Payment Required\r\nContent-Length: 0\r\n\r\n";
        let seen = same_with_any_peek(answer, Method::GET).await;
        assert_eq!(seen.content_length, Some(0));
    }

    #[tokio::test]
    async fn an_answer_to_head_keeps_its_headers() {
        let answer = "HTTP/1.1 402 Payment Required\r\nContent-Length: 5\r\n\r\n";
        let seen = same_with_any_peek(answer, Method::HEAD).await;
        assert_eq!(seen.headers["content-length"], "5");
        assert_eq!(seen.body, b"");
    }

    #[tokio::test]
    async fn the_usual_readers_see_the_error_as_they_would() {
        let answer = "HTTP/1.1 402 Payment Required\r\nContent-Length: 10\r\n\r\nhell";
        let (addr, _go) = serve(answer, "");
        let plain = fetch(addr, Method::GET).await.bytes().await.unwrap_err();
        let (_, response) = peek(fetch(addr, Method::GET).await, 1_000, pending()).await;
        let peeked = response.bytes().await.unwrap_err();
        assert_eq!(peeked.to_string(), plain.to_string());
        assert!(peeked.is_decode() && plain.is_decode());
        assert_eq!(peeked.url(), plain.url());
        assert_eq!(root(&peeked), root(&plain));
    }

    #[tokio::test]
    async fn a_body_that_stalls_is_left_when_told_and_goes_on_later() {
        let head = "HTTP/1.1 402 Payment Required\r\nContent-Length: 10\r\n\r\nhello";
        let (addr, go) = serve(head, "world");
        let response = fetch(addr, Method::GET).await;
        // the stop comes when the first part has been read and nothing else will come
        let (read, was_read) = tokio::sync::oneshot::channel();
        let (http_parts, body) = http::Response::<Body>::from(response).into_parts();
        let body = Tell {
            body,
            then: Some(read),
        };
        let response = Response::from(http::Response::from_parts(http_parts, Body::wrap(body)));
        let (start, response) = peek(response, 1_000, async { was_read.await.unwrap() }).await;
        assert_eq!(start, "hello");
        assert_eq!(response.content_length(), Some(10));
        go.send(()).unwrap();
        assert_eq!(response.bytes().await.unwrap(), "helloworld");
    }

    #[tokio::test]
    async fn a_stop_that_is_ready_reads_nothing() {
        let answer = "HTTP/1.1 402 Payment Required\r\nContent-Length: 5\r\n\r\nhello";
        let (addr, _go) = serve(answer, "");
        let (start, response) = peek(fetch(addr, Method::GET).await, 1_000, ready(())).await;
        assert_eq!(start, "");
        assert_eq!(response.bytes().await.unwrap(), "hello");
    }

    #[tokio::test]
    async fn the_length_stays_true_while_it_is_read() {
        let mut body = Peeked::new(http_body_util::Full::new(Bytes::from("hello")));
        body.read(2, pending()).await;
        assert_eq!(body.size_hint().exact(), Some(5));
        assert!(!body.is_end_stream());
        assert!(body.frame().await.unwrap().unwrap().is_data());
        assert_eq!(body.size_hint().exact(), Some(0));
        assert!(body.is_end_stream());
        assert!(body.frame().await.is_none());
    }

    /// Tells when a first frame was read.
    #[derive(Debug)]
    struct Tell {
        body: Body,
        then: Option<tokio::sync::oneshot::Sender<()>>,
    }

    impl HttpBody for Tell {
        type Data = Bytes;
        type Error = reqwest::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, reqwest::Error>>> {
            let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
            if let Some(then) = self.then.take() {
                then.send(()).unwrap();
            }
            Poll::Ready(frame)
        }

        fn size_hint(&self) -> SizeHint {
            self.body.size_hint()
        }
    }
}
