//! Offers that are written to be read in two ways, or to be too much.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use paywait_x402::{Amount, EntryError, Offer, OfferError, Policy, Refusal, usd};

const ENTRY: &str = r#"{"scheme":"exact","network":"eip155:84532","amount":"10000","asset":"0x036CbD53842c5426634e7929541eC2318f3dCF7e","payTo":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C","maxTimeoutSeconds":60,"extra":{"name":"USDC","version":"2"}}"#;

fn offer(entries: &str) -> Result<Offer, OfferError> {
    let json = format!(r#"{{"x402Version":2,"accepts":[{entries}]}}"#);
    Offer::decode(STANDARD.encode(json).as_bytes())
}

fn rejected(entry: &str) -> EntryError {
    let read = offer(entry);
    match read.as_ref().map(Offer::rejected) {
        Ok([(0, error)]) => *error,
        _ => panic!("{entry} was read: {read:?}"),
    }
}

/// `ENTRY` with one more field, before or after all others.
fn twice(field: &str) -> [String; 2] {
    let open = ENTRY.trim_end_matches('}');
    [
        ENTRY.replacen('{', &format!("{{{field},"), 1),
        format!("{open}}},{field}}}"),
    ]
}

#[test]
fn the_entry_that_all_attacks_start_from_is_payable() {
    let offer = offer(ENTRY).unwrap();
    assert_eq!(Policy::new(usd("0.05").unwrap()).choose(&offer), Ok(0));
}

#[test]
fn a_field_that_stands_twice_is_read_by_nobody() {
    for field in [
        r#""amount":"1""#,
        r#""\u0061mount":"1""#,
        r#""payTo":"0x0000000000000000000000000000000000000001""#,
        r#""asset":"0x0000000000000000000000000000000000000001""#,
        r#""network":"eip155:8453""#,
        r#""scheme":"exact""#,
        r#""maxTimeoutSeconds":60"#,
        r#""extra":{}"#,
    ] {
        for entry in twice(field) {
            assert_eq!(rejected(&entry), EntryError::Shape, "{entry}");
        }
    }
    for extra in [
        r#"{"name":"USDC","version":"2","name":"USD Coin"}"#,
        r#"{"name":"USDC","version":"2","assetTransferMethod":"eip3009","assetTransferMethod":"permit2"}"#,
        r#"{"name":"USDC","version":"2","paymentFlow":"authorization","paymentFlow":"upfront"}"#,
    ] {
        let entry = ENTRY.replace(r#"{"name":"USDC","version":"2"}"#, extra);
        assert_eq!(rejected(&entry), EntryError::Shape, "{entry}");
    }
}

#[test]
fn an_offer_whose_own_fields_stand_twice_is_not_read() {
    for json in [
        format!(r#"{{"x402Version":2,"accepts":[],"accepts":[{ENTRY}]}}"#),
        format!(r#"{{"x402Version":1,"x402Version":2,"accepts":[{ENTRY}]}}"#),
        format!(r#"[2,null,null,[{ENTRY}],null]"#),
    ] {
        let field = STANDARD.encode(&json);
        assert!(Offer::decode(field.as_bytes()).is_err(), "{json}");
    }
}

#[test]
fn an_entry_is_an_object_and_so_is_its_extra() {
    let list = r#"["exact","eip155:84532","10000","0x036CbD53842c5426634e7929541eC2318f3dCF7e","0x209693Bc6afc0C5328bA36FaF03C514EF312287C",60,{"name":"USDC","version":"2"}]"#;
    assert_eq!(rejected(list), EntryError::Shape);
    let extra = ENTRY.replace(
        r#"{"name":"USDC","version":"2"}"#,
        r#"["USDC","2",null,null]"#,
    );
    assert_eq!(rejected(&extra), EntryError::Shape);
}

#[test]
fn no_amount_is_read_as_a_smaller_one() {
    let ask = |amount: &str| ENTRY.replace(r#""10000""#, amount);
    let largest = Amount::MAX.to_string();
    for amount in [
        format!(r#""{largest}""#),
        r#""18446744073709551616""#.to_owned(),
        "18446744073709551615".to_owned(),
        r#""50001""#.to_owned(),
    ] {
        let offer = offer(&ask(&amount)).unwrap();
        let refused = Policy::new(usd("0.05").unwrap())
            .check(&offer.entries()[0])
            .unwrap_err();
        let too_much = matches!(refused, Refusal::PerCall { .. } | Refusal::Uncountable);
        assert!(too_much, "{amount}: {refused:?}");
    }
    for amount in [
        r#""115792089237316195423570985008687907853269984665640564039457584007913129639936""#,
        "18446744073709551616",
        "1e4",
        "1.0",
        "-1",
        "-0",
        "0",
        r#""0""#,
        r#""""#,
        r#""+1""#,
        r#""0x1""#,
        r#""1_0""#,
        r#"" 1""#,
        r#""１""#,
        "null",
        "[1]",
    ] {
        assert_eq!(rejected(&ask(amount)), EntryError::Amount, "{amount}");
    }
}

#[test]
fn no_time_is_read_that_is_not_a_whole_number_of_seconds() {
    for time in [
        "0",
        "-1",
        "60.0",
        r#""60""#,
        "1e3",
        "18446744073709551616",
        "null",
    ] {
        let entry = ENTRY.replace(":60,", &format!(":{time},"));
        assert_eq!(rejected(&entry), EntryError::Timeout, "{time}");
    }
}

#[test]
fn sixty_five_entries_and_bottomless_ones_are_not_read() {
    let many = vec![ENTRY; 65].join(",");
    assert_eq!(offer(&many).unwrap_err(), OfferError::TooManyEntries);
    let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    for entry in [
        ENTRY.replace(r#""10000""#, &deep),
        ENTRY.replace(
            r#""version":"2""#,
            &format!(r#""version":"2","more":{deep}"#),
        ),
    ] {
        drop(offer(&entry));
    }
}
