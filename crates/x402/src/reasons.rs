//! What a seller's reason for refusing a payment is worth.

use paywait_signals::FailureClass;

/// Returns what a reason that came without a transaction is worth.
///
/// Only codes that the reference facilitator gives before it broadcasts say that a send moved
/// nothing; and they say it of that send alone. What is not known may be anything, a hook's own
/// words or an exception's text, and money may have moved.
pub fn class_of(reason: &str) -> FailureClass {
    if USED.contains(&reason) {
        return FailureClass::AlreadyUsed;
    }
    let known = BEFORE_BROADCAST.contains(&reason)
        || BEFORE_BROADCAST_PREFIXES
            .iter()
            .any(|prefix| reason.starts_with(prefix));
    if known {
        FailureClass::BeforeBroadcast
    } else {
        FailureClass::Unknown
    }
}

/// What a second signature with the same nonce could mend.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Mend {
    /// The seller's terms are others by now: it needs their newest.
    Terms,
    /// The payment was not valid long enough, by the seller's clock: it needs a later end.
    Window,
}

/// Returns what a second signature could mend, if the seller refused the first for `reason`.
pub fn mend_of(reason: &str) -> Option<Mend> {
    match reason {
        "No matching payment requirements"
        | "invalid_payment_requirements"
        | "invalid_exact_evm_authorization_value"
        | "invalid_exact_evm_payload_authorization_value_mismatch"
        | "extension_echo_mismatch" => Some(Mend::Terms),
        "invalid_exact_evm_payload_authorization_valid_before"
        | "invalid_exact_evm_payload_authorization_valid_after" => Some(Mend::Window),
        _ => None,
    }
}

/// The nonce settled, or was cancelled by its payer.
const USED: [&str; 4] = [
    "duplicate_settlement",
    "invalid_exact_evm_nonce_already_used",
    "nonce_already_used",
    "permit2_invalid_nonce",
];

/// Families of codes of which every member comes before the broadcast.
const BEFORE_BROADCAST_PREFIXES: [&str; 1] = ["eip2612_"];

const BEFORE_BROADCAST: [&str; 53] = [
    // the reference server's own words, before it asks its facilitator
    "No matching payment requirements",
    "asset_not_deployed_contract",
    "eip6492_factory_not_allowed",
    "extension_echo_mismatch",
    "insufficient_funds",
    "invalid_eip2612_extension_format",
    "invalid_exact_evm_authorization_value",
    "invalid_exact_evm_eip3009_not_supported",
    "invalid_exact_evm_failed_to_parse_signature",
    "invalid_exact_evm_insufficient_balance",
    "invalid_exact_evm_missing_eip712_domain",
    "invalid_exact_evm_network_mismatch",
    "invalid_exact_evm_payload_authorization_valid_after",
    "invalid_exact_evm_payload_authorization_valid_before",
    "invalid_exact_evm_payload_authorization_value_mismatch",
    "invalid_exact_evm_payload_recipient_mismatch",
    "invalid_exact_evm_payload_signature",
    "invalid_exact_evm_payload_undeployed_smart_wallet",
    "invalid_exact_evm_recipient_mismatch",
    "invalid_exact_evm_scheme",
    "invalid_exact_evm_signature",
    "invalid_exact_evm_token_name_mismatch",
    "invalid_exact_evm_token_version_mismatch",
    "invalid_exact_evm_transaction_simulation_failed",
    "invalid_network",
    "invalid_payload",
    "invalid_payment_requirements",
    "invalid_permit2_recipient_mismatch",
    "invalid_permit2_signature",
    "invalid_permit2_spender",
    "invalid_scheme",
    "invalid_upto_evm_network_mismatch",
    "invalid_upto_evm_payload_settlement_exceeds_amount",
    "invalid_upto_evm_scheme",
    "invalid_x402_version",
    "permit2_2612_amount_mismatch",
    "permit2_allowance_required",
    "permit2_amount_mismatch",
    "permit2_deadline_expired",
    "permit2_insufficient_balance",
    "permit2_invalid_amount",
    "permit2_invalid_destination",
    "permit2_invalid_owner",
    "permit2_not_yet_valid",
    "permit2_payment_too_early",
    "permit2_proxy_not_deployed",
    "permit2_simulation_failed",
    "permit2_token_mismatch",
    "unsupported_payload_type",
    "unsupported_scheme",
    "upto_amount_exceeds_permitted",
    "upto_facilitator_mismatch",
    "upto_unauthorized_facilitator",
];
