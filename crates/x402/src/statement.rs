//! What one reply to a paid send says of the payment that it carried.

use http::{HeaderMap, StatusCode};
use paywait_signals::{FailureClass, ReceiptStanding};

use crate::{Offer, Receipt, class_of, headers};

/// What one reply to a paid send says of the payment that it carried.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) said: ReceiptStanding,
    pub(crate) receipt: Option<Receipt>,
}

impl Statement {
    /// Reads the receipt, on whatever status it comes; without one, the reason that a refused
    /// payment's new offer gives.
    pub(crate) fn read(status: StatusCode, fields: &HeaderMap) -> Self {
        let receipt = headers::receipt(fields).map(|field| Receipt::decode(field.as_bytes()));
        match receipt {
            Some(Ok(receipt)) => Self {
                said: receipt.standing(),
                receipt: Some(receipt),
            },
            Some(Err(_)) => Self {
                said: ReceiptStanding::Unreadable,
                receipt: None,
            },
            None => Self {
                said: refusal(status, fields),
                receipt: None,
            },
        }
    }
}

/// The reference server refuses before it settles with a 402 or 412 that offers anew and names the
/// reason in the offer's `error`.
fn refusal(status: StatusCode, fields: &HeaderMap) -> ReceiptStanding {
    let refuses = matches!(
        status,
        StatusCode::PAYMENT_REQUIRED | StatusCode::PRECONDITION_FAILED
    );
    let offer = fields.get(headers::PAYMENT_REQUIRED).filter(|_| refuses);
    let Some(offer) = offer else {
        return ReceiptStanding::None;
    };
    let reason = Offer::decode(offer.as_bytes())
        .ok()
        .and_then(|offer| offer.error().map(str::to_owned));
    match reason {
        Some(reason) => ReceiptStanding::Failed {
            class: class_of(&reason),
            reason,
        },
        None => ReceiptStanding::Failed {
            class: FailureClass::Unknown,
            reason: String::new(),
        },
    }
}
