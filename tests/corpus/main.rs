//! Replays what the fuzz targets found worth keeping, and every input that ever broke one.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use std::fs;
use std::path::Path;

#[path = "../fuzz/checks/base64.rs"]
mod base64;
#[path = "../fuzz/checks/offer.rs"]
mod offer;
#[path = "../fuzz/checks/offer_body.rs"]
mod offer_body;
#[path = "../fuzz/checks/offer_header.rs"]
mod offer_header;
#[path = "../fuzz/checks/purchase.rs"]
mod purchase;
#[path = "../fuzz/checks/receipt.rs"]
mod receipt;
#[path = "../fuzz/checks/sealed.rs"]
mod sealed;
#[path = "../fuzz/checks/signals.rs"]
mod signals;
#[path = "../fuzz/checks/signer.rs"]
mod signer;

/// Runs a check on each file of its corpus, and on each start of a few of them.
fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let files = fs::read_dir(folder.join(target)).unwrap();
    let mut replayed = 0;
    for file in files {
        let data = fs::read(file.unwrap().path()).unwrap();
        check(&data);
        replayed += 1;
        if data.len() <= 200 {
            (0..data.len()).for_each(|end| check(&data[..end]));
        }
    }
    assert!(replayed > 4, "the corpus of {target} is not there");
}

#[test]
fn offers_in_headers() {
    replay("offer_header", offer_header::check);
}

#[test]
fn offers_in_bodies() {
    replay("offer_body", offer_body::check);
}

#[test]
fn receipts() {
    replay("receipt", receipt::check);
}

#[test]
fn spellings_of_base64() {
    replay("base64", base64::check);
}

#[test]
fn sealed_payments() {
    replay("sealed", sealed::check);
}

#[test]
fn purchases() {
    replay("purchase", purchase::check);
}

#[test]
fn refusals() {
    replay("signals", signals::check);
}
