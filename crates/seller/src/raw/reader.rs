//! Requests off the wire: a bounded head, a bounded body, and what is left for the next.

use bytes::{Buf, Bytes, BytesMut};
use http::{Request, StatusCode, Version};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::head::{self, Framing};

/// Reads one request after the other.
pub(super) struct Reader {
    buffer: BytesMut,
}

/// One request, and whether the client wants the connection kept.
pub(super) struct Incoming {
    pub(super) request: Request<Bytes>,
    pub(super) keep_alive: bool,
}

/// Why no request comes off the wire.
pub(super) enum Broken {
    /// The client is gone.
    Gone,
    /// What came is answered with this status, and the connection closes.
    Refused(StatusCode),
}

impl Reader {
    pub(super) fn new() -> Self {
        Self {
            buffer: BytesMut::with_capacity(FIRST_BUFFER),
        }
    }

    pub(super) async fn next(&mut self, stream: &mut TcpStream) -> Result<Incoming, Broken> {
        let head = loop {
            if let Some(head) = head::parse(&self.buffer).map_err(Broken::Refused)? {
                break head;
            }
            if self.buffer.len() >= MAX_HEAD {
                return Err(Broken::Refused(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE));
            }
            self.fill(stream).await?;
        };
        self.buffer.advance(head.length);
        if head.expects_continue {
            stream
                .write_all(b"HTTP/1.1 100 Continue\r\n\r\n")
                .await
                .map_err(|_| Broken::Gone)?;
        }
        let body = match head.framing {
            Framing::Length(length) => self.exactly(length, stream).await?,
            Framing::Chunked => self.chunks(stream).await?,
        };
        let keep_alive = head.keep_alive;
        let mut request = head.request.map(|()| body);
        *request.version_mut() = Version::HTTP_11;
        Ok(Incoming {
            request,
            keep_alive,
        })
    }

    async fn exactly(&mut self, length: usize, stream: &mut TcpStream) -> Result<Bytes, Broken> {
        if length > MAX_BODY {
            return Err(Broken::Refused(StatusCode::PAYLOAD_TOO_LARGE));
        }
        while self.buffer.len() < length {
            self.fill(stream).await?;
        }
        Ok(self.buffer.split_to(length).freeze())
    }

    async fn chunks(&mut self, stream: &mut TcpStream) -> Result<Bytes, Broken> {
        let mut body = BytesMut::new();
        loop {
            let line = self.line(stream).await?;
            let size = chunk_size(&line).ok_or(Broken::Refused(StatusCode::BAD_REQUEST))?;
            if size == 0 {
                break;
            }
            if body.len().saturating_add(size) > MAX_BODY {
                return Err(Broken::Refused(StatusCode::PAYLOAD_TOO_LARGE));
            }
            body.extend_from_slice(&self.exactly(size, stream).await?);
            if !self.line(stream).await?.is_empty() {
                return Err(Broken::Refused(StatusCode::BAD_REQUEST));
            }
        }
        // trailers are read past, as far as a head may be long
        let mut trailers = 0_usize;
        loop {
            let line = self.line(stream).await?;
            trailers = trailers.saturating_add(line.len());
            if line.is_empty() {
                return Ok(body.freeze());
            }
            if trailers > MAX_HEAD {
                return Err(Broken::Refused(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE));
            }
        }
    }

    /// Reads a line, and returns it without its end.
    async fn line(&mut self, stream: &mut TcpStream) -> Result<Bytes, Broken> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|pair| pair == b"\r\n") {
                let line = self.buffer.split_to(end).freeze();
                self.buffer.advance(2);
                return Ok(line);
            }
            if self.buffer.len() > MAX_LINE {
                return Err(Broken::Refused(StatusCode::BAD_REQUEST));
            }
            self.fill(stream).await?;
        }
    }

    async fn fill(&mut self, stream: &mut TcpStream) -> Result<(), Broken> {
        match stream.read_buf(&mut self.buffer).await {
            Ok(0) | Err(_) => Err(Broken::Gone),
            Ok(_) => Ok(()),
        }
    }
}

/// Reads the size of a chunk; extensions after `;` are read past.
fn chunk_size(line: &[u8]) -> Option<usize> {
    let digits = line.split(|byte| *byte == b';').next()?;
    let digits = std::str::from_utf8(digits).ok()?.trim_ascii();
    let hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    hex.then(|| usize::from_str_radix(digits, 16).ok())?
}

const FIRST_BUFFER: usize = 4 * 1024;
const MAX_BODY: usize = 1024 * 1024;
const MAX_HEAD: usize = 64 * 1024;
const MAX_LINE: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunk_sizes_are_hexadecimal_and_nothing_else() {
        assert_eq!(chunk_size(b"1f"), Some(31));
        assert_eq!(chunk_size(b"A;name=value"), Some(10));
        for line in ["", "-1", "+1", "0x10", "fffffffffffffffff", ";"] {
            assert_eq!(chunk_size(line.as_bytes()), None, "{line}");
        }
    }
}
