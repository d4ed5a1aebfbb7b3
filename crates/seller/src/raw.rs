//! A small HTTP/1.1 server on loopback that serves a shop and can misbehave.

mod connection;
mod head;
mod reader;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;

use crate::Seller;

/// A small HTTP/1.1 server on loopback that serves a shop and acts out every
/// [`Fault`](crate::Fault).
///
/// It keeps connections alive and runs one task for each. What is not HTTP, or larger than
/// 64 KiB of head or 1 MiB of body, is answered 400, 413 or 431 and does not reach the shop's
/// ledger. Dropping it stops it, with all its connections.
#[derive(Debug)]
pub struct RawServer {
    address: SocketAddr,
    accepting: JoinHandle<()>,
}

impl RawServer {
    /// Starts serving `seller` on a free port of 127.0.0.1, in the runtime of the caller.
    ///
    /// # Errors
    ///
    /// The operating system gave no port.
    pub async fn start(seller: Seller) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let accepting = tokio::spawn(accept(listener, seller));
        Ok(Self { address, accepting })
    }

    /// Returns the address that it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns its origin, as in `http://127.0.0.1:49152`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for RawServer {
    fn drop(&mut self) {
        // the set of connections goes down with the task that holds it
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, seller: Seller) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // out of descriptors, most likely: give those who hold them time
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        if connections.len() < MAX_CONNECTIONS {
            connections.spawn(connection::serve(stream, seller.clone()));
        }
    }
}

const ACCEPT_PAUSE: Duration = Duration::from_millis(10);
const MAX_CONNECTIONS: usize = 4_096;
