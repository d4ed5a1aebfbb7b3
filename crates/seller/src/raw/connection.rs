//! One connection: requests in, answers out, faults acted out.

use std::io;
use std::io::Write;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{Method, Response, StatusCode};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::reader::{Broken, Incoming, Reader};
use crate::{Answer, Fault, Seller, wire};

/// Serves one connection until either side ends it.
pub(super) async fn serve(mut stream: TcpStream, seller: Seller) {
    // the kernel may refuse, and answers are then merely slower
    stream.set_nodelay(true).ok();
    let mut reader = Reader::new();
    while let Ok(true) = exchange(&mut stream, &mut reader, &seller).await {}
}

/// Answers one request, and returns whether another may follow.
async fn exchange(
    stream: &mut TcpStream,
    reader: &mut Reader,
    seller: &Seller,
) -> io::Result<bool> {
    let Incoming {
        request,
        keep_alive,
    } = match reader.next(stream).await {
        Ok(incoming) => incoming,
        Err(Broken::Gone) => return Ok(false),
        Err(Broken::Refused(status)) => {
            let refusal = wire::error(status, status.canonical_reason().unwrap_or_default());
            send(
                stream,
                &refusal,
                Framed {
                    keep_alive: false,
                    head_only: false,
                },
            )
            .await?;
            stream.shutdown().await?;
            return Ok(false);
        }
    };
    let Answer { response, fault } = seller.answer(&request);
    let framed = Framed {
        keep_alive,
        head_only: *request.method() == Method::HEAD,
    };
    match fault {
        None => send(stream, &response, framed).await?,
        Some(Fault::Late(delay)) => {
            sleep(delay).await;
            send(stream, &response, framed).await?;
        }
        Some(Fault::SlowEvents(gap)) => send_events(stream, &response, gap, keep_alive).await?,
        Some(Fault::HalfBody) => {
            send_half(stream, &response).await?;
            return Ok(false);
        }
        Some(Fault::Reset) => {
            // closing then resets the connection in place of ending it
            stream.set_zero_linger()?;
            return Ok(false);
        }
        Some(Fault::Stall(silence)) => {
            sleep(silence).await;
            return Ok(false);
        }
    }
    Ok(keep_alive)
}

/// How a response is framed.
#[derive(Clone, Copy)]
struct Framed {
    keep_alive: bool,
    head_only: bool,
}

async fn send(
    stream: &mut TcpStream,
    response: &Response<Bytes>,
    framed: Framed,
) -> io::Result<()> {
    let body = response.body();
    let mut bytes = head(response, Length::Known(body.len()), framed.keep_alive)?;
    if !framed.head_only && has_body(response.status()) {
        bytes.extend_from_slice(body);
    }
    stream.write_all(&bytes).await
}

/// Promises the whole body, sends half of it, and ends the connection.
async fn send_half(stream: &mut TcpStream, response: &Response<Bytes>) -> io::Result<()> {
    let body = response.body();
    // an empty body is cut too: two bytes are promised and none comes
    let mut bytes = head(response, Length::Known(body.len().max(2)), false)?;
    bytes.extend_from_slice(body.get(..body.len() / 2).unwrap_or_default());
    stream.write_all(&bytes).await?;
    stream.shutdown().await
}

/// Sends the body event by event, with a gap before each.
async fn send_events(
    stream: &mut TcpStream,
    response: &Response<Bytes>,
    gap: Duration,
    keep_alive: bool,
) -> io::Result<()> {
    stream
        .write_all(&head(response, Length::Chunked, keep_alive)?)
        .await?;
    for event in events(response.body()) {
        sleep(gap).await;
        let mut chunk = Vec::with_capacity(event.len().saturating_add(32));
        write!(chunk, "{:x}\r\n", event.len())?;
        chunk.extend_from_slice(event);
        chunk.extend_from_slice(b"\r\n");
        stream.write_all(&chunk).await?;
    }
    stream.write_all(b"0\r\n\r\n").await
}

/// Cuts a body after each blank line.
fn events(mut body: &[u8]) -> Vec<&[u8]> {
    let mut events = Vec::new();
    while let Some(blank) = body.windows(2).position(|pair| pair == b"\n\n") {
        let (event, rest) = body.split_at(blank.saturating_add(2));
        events.push(event);
        body = rest;
    }
    if !body.is_empty() {
        events.push(body);
    }
    events
}

#[derive(Clone, Copy)]
enum Length {
    Known(usize),
    Chunked,
}

fn head(response: &Response<Bytes>, length: Length, keep_alive: bool) -> io::Result<Vec<u8>> {
    let status = response.status();
    let mut head = Vec::with_capacity(1_024);
    let reason = status.canonical_reason().unwrap_or_default();
    write!(head, "HTTP/1.1 {} {reason}\r\n", status.as_u16())?;
    for (name, value) in response.headers() {
        // framing is this server's own
        if matches!(*name, CONNECTION | CONTENT_LENGTH | TRANSFER_ENCODING) {
            continue;
        }
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    match length {
        Length::Known(_) if !has_body(status) => {}
        Length::Known(length) => write!(head, "content-length: {length}\r\n")?,
        Length::Chunked => head.extend_from_slice(b"transfer-encoding: chunked\r\n"),
    }
    if !keep_alive {
        head.extend_from_slice(b"connection: close\r\n");
    }
    head.extend_from_slice(b"\r\n");
    Ok(head)
}

/// 1xx, 204 and 304 have none (RFC 9112, section 6.3).
fn has_body(status: StatusCode) -> bool {
    !status.is_informational()
        && !matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_cut_after_each_blank_line() {
        assert_eq!(
            events(b"data: 1\n\ndata: 2\n\nrest"),
            [b"data: 1\n\n".as_slice(), b"data: 2\n\n", b"rest"]
        );
        assert!(events(b"").is_empty());
    }
}
