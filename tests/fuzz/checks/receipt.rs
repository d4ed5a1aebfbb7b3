//! A receipt in a header.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use paywait_signals::ReceiptStanding;
use paywait_x402::Receipt;

/// Reads all as the header, and then as the JSON in it.
pub(crate) fn check(data: &[u8]) {
    for receipt in [
        Receipt::decode(data),
        Receipt::decode(STANDARD.encode(data).as_bytes()),
    ]
    .into_iter()
    .flatten()
    {
        holds(&receipt);
    }
}

fn holds(receipt: &Receipt) {
    assert!(receipt.transaction().len() <= 512);
    assert!(receipt.error_reason().unwrap_or_default().len() <= 512);
    let named = !receipt.transaction().is_empty();
    match receipt.standing() {
        ReceiptStanding::Settled => assert!(receipt.success()),
        ReceiptStanding::Pending => assert!(named && !receipt.success()),
        ReceiptStanding::Failed { class, reason } => {
            assert!(!receipt.success() && reason.len() <= 512);
            let open = class == paywait_signals::FailureClass::Unknown;
            assert!(open || !named, "a broadcast was taken for a plain no");
        }
        ReceiptStanding::None | ReceiptStanding::Unreadable | _ => {
            panic!("a receipt that says nothing");
        }
    }
}
