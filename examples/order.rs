//! What the command line of `buy` asks for.

use std::ffi::OsString;

use paywait::{Network, Usd};
use reqwest::Url;

use super::Sorry;

/// What the command line asks for.
pub(crate) struct Order {
    pub(crate) url: Url,
    pub(crate) max_price: Usd,
    pub(crate) networks: Vec<Network>,
    pub(crate) wire: bool,
}

impl Order {
    /// Reads the words after the program's name. No sentence repeats one of them, since a key may
    /// stand among them by mistake.
    pub(crate) fn read(words: impl Iterator<Item = OsString>) -> Result<Self, Sorry> {
        let mut words = words.map(|word| word.into_string().map_err(|_| usage("not UTF-8")));
        let mut url = None;
        let mut max_price = DEFAULT_MAX_PRICE.to_owned();
        let mut networks = Vec::new();
        let mut wire = false;
        while let Some(word) = words.next().transpose()? {
            match word.as_str() {
                "--max-price" => max_price = value(&mut words)?,
                "--network" => networks.push(value(&mut words)?),
                "--wire" => wire = true,
                _ if word.starts_with('-') => return Err(usage("no such option")),
                _ if url.is_some() => return Err(usage("one URL at a time")),
                _ => url = Some(word),
            }
        }
        let url = url.ok_or_else(|| usage("no URL"))?;
        let networks = networks.iter().map(|name| name.parse());
        Ok(Self {
            url: http_url(&url)?,
            max_price: paywait::usd(&max_price)
                .map_err(|error| Sorry(5, format!("--max-price: {error}.")))?,
            networks: networks
                .collect::<Result<_, _>>()
                .map_err(|error| Sorry(5, format!("--network: {error}.")))?,
            wire,
        })
    }
}

/// The word after an option.
fn value(words: &mut impl Iterator<Item = Result<String, Sorry>>) -> Result<String, Sorry> {
    words
        .next()
        .ok_or_else(|| usage("an option lacks its value"))?
}

fn http_url(text: &str) -> Result<Url, Sorry> {
    let sorry = |why: &str| Sorry(4, format!("The URL cannot be used: {why}."));
    let url: Url = text
        .parse()
        .map_err(|error: <Url as std::str::FromStr>::Err| sorry(&error.to_string()))?;
    match url.scheme() {
        "http" => Ok(url),
        "https" if cfg!(feature = "rustls") => Ok(url),
        "https" => Err(sorry("https takes `cargo run --features rustls`")),
        _ => Err(sorry("it is neither http nor https")),
    }
}

fn usage(what: &str) -> Sorry {
    Sorry(2, format!("{what}; usage: {USAGE}"))
}

const DEFAULT_MAX_PRICE: &str = "0.05";

const USAGE: &str = "buy URL [--max-price 0.05] [--network eip155:84532]... [--wire]";
