//! What one reply to a paid send says of the payment that it carried.

use http::StatusCode;
use paywait_signals::{ReceiptStanding, Reply};

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
    pub(crate) fn read(reply: Reply<'_>) -> Self {
        let receipt =
            headers::receipt(reply.headers).map(|field| Receipt::decode(field.as_bytes()));
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
                said: refusal(reply),
                receipt: None,
            },
        }
    }
}

/// A 402 or 412 that offers anew names the reason of its refusal in the offer's `error`. The
/// servers of version 1 answer so whether they refused before they settled or lost sight of the
/// settlement, so a reason is worth what it says and no more.
fn refusal(reply: Reply<'_>) -> ReceiptStanding {
    let refuses = matches!(
        reply.status,
        StatusCode::PAYMENT_REQUIRED | StatusCode::PRECONDITION_FAILED
    );
    let offer = if refuses {
        Offer::of(reply.headers, reply.body)
    } else {
        Ok(None)
    };
    let reason = match &offer {
        Ok(None) => return ReceiptStanding::None,
        Ok(Some(offer)) => offer.error().unwrap_or_default(),
        Err(_) => "",
    };
    ReceiptStanding::Failed {
        class: class_of(reason),
        reason: reason.to_owned(),
    }
}
