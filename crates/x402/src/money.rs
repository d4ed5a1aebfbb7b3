//! Amounts of a token in atomic units, and dollars: exact, checked, and read strictly.

use std::fmt;
use std::str::FromStr;

use alloy_primitives::U256;

/// An amount of some token, in its atomic units.
///
/// It has no `Add`, no floats and no default: every operation says what happens when it does not
/// fit.
///
/// ```
/// use paywait_x402::Amount;
/// let price: Amount = "10000".parse().unwrap();
/// assert_eq!(price.to_string(), "10000");
/// assert!("1e4".parse::<Amount>().is_err());
/// assert!("+1".parse::<Amount>().is_err());
/// assert!(price.checked_add(Amount::MAX).is_none());
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Amount(U256);

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self(U256::ZERO);

    /// The largest amount that a token contract can count.
    pub const MAX: Self = Self(U256::MAX);

    /// Returns an amount of so many atomic units.
    pub const fn new(units: U256) -> Self {
        Self(units)
    }

    /// Returns an amount of so many atomic units.
    pub fn from_u64(units: u64) -> Self {
        Self(U256::from(units))
    }

    /// Returns the atomic units.
    pub const fn as_u256(self) -> U256 {
        self.0
    }

    /// Returns the sum, unless it is too large to count.
    pub fn checked_add(self, more: Self) -> Option<Self> {
        self.0.checked_add(more.0).map(Self)
    }

    /// Returns the difference, unless it would be negative.
    pub fn checked_sub(self, less: Self) -> Option<Self> {
        self.0.checked_sub(less.0).map(Self)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for Amount {
    type Err = MoneyError;

    /// Reads decimal digits and nothing else.
    fn from_str(text: &str) -> Result<Self, MoneyError> {
        digits(text).map(Self)
    }
}

/// Dollars, exact to 18 places.
///
/// ```
/// use paywait_x402::usd;
/// assert_eq!(usd("0.050").unwrap().to_string(), "0.05");
/// assert_eq!(usd("5").unwrap().to_string(), "5");
/// for wrong in ["", ".", "1.", ".5", "-1", "1e3", "1,000", "$1", " 1", "0.0000000000000000001"] {
///     assert!(usd(wrong).is_err(), "{wrong:?}");
/// }
/// ```
#[derive(Clone, Copy, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Usd(U256);

/// Reads dollars: digits, with at most one dot that has digits on both sides.
///
/// # Errors
///
/// A [`MoneyError`] that says what is wrong with `text`.
pub fn usd(text: &str) -> Result<Usd, MoneyError> {
    text.parse()
}

impl Usd {
    /// No dollars.
    pub const ZERO: Self = Self(U256::ZERO);

    /// The places after the dot that are kept.
    pub const PLACES: u8 = 18;

    /// Returns so many of the smallest parts that are kept, `10^-18` dollars each.
    pub const fn from_attos(attos: U256) -> Self {
        Self(attos)
    }

    /// Returns how many of the smallest parts it is, `10^-18` dollars each.
    pub const fn attos(self) -> U256 {
        self.0
    }

    /// Returns `units` of a token whose unit is `10^-decimals` dollars, rounded up.
    ///
    /// # Errors
    ///
    /// [`MoneyError::TooLarge`].
    pub(crate) fn from_units(units: U256, decimals: u8) -> Result<Self, MoneyError> {
        let scale = |by: u8| {
            U256::from(10)
                .checked_pow(U256::from(by))
                .ok_or(MoneyError::TooLarge)
        };
        if let Some(more) = Self::PLACES.checked_sub(decimals) {
            return units
                .checked_mul(scale(more)?)
                .map(Self)
                .ok_or(MoneyError::TooLarge);
        }
        let fewer = scale(decimals.saturating_sub(Self::PLACES))?;
        Ok(Self(units.div_ceil(fewer)))
    }

    /// Returns the sum, unless it is too large to count.
    pub fn checked_add(self, more: Self) -> Option<Self> {
        self.0.checked_add(more.0).map(Self)
    }

    /// Returns the difference, unless it would be negative.
    pub fn checked_sub(self, less: Self) -> Option<Self> {
        self.0.checked_sub(less.0).map(Self)
    }

    /// Returns the sum, or the most that can be counted.
    #[must_use]
    pub fn saturating_add(self, more: Self) -> Self {
        Self(self.0.saturating_add(more.0))
    }
}

impl fmt::Debug for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} USD")
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&decimal(self.0, Self::PLACES))
    }
}

impl FromStr for Usd {
    type Err = MoneyError;

    fn from_str(text: &str) -> Result<Self, MoneyError> {
        let (whole, places) = text.split_once('.').unwrap_or((text, "0"));
        let zeros = usize::from(Self::PLACES)
            .checked_sub(places.len())
            .ok_or(MoneyError::TooFine)?;
        let whole = digits(whole)?;
        let places = digits(&format!("{}{}", checked_digits(places)?, "0".repeat(zeros)))?;
        let one = U256::from(10)
            .checked_pow(U256::from(Self::PLACES))
            .ok_or(MoneyError::TooLarge)?;
        whole
            .checked_mul(one)
            .and_then(|whole| whole.checked_add(places))
            .map(Self)
            .ok_or(MoneyError::TooLarge)
    }
}

/// Why something is not an amount of money.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MoneyError {
    /// It is not made of digits with at most one dot between them.
    #[error("money is written in digits, with at most one dot between them")]
    NotANumber,
    /// It has more places after the dot than are kept.
    #[error("money is kept to 18 places after the dot")]
    TooFine,
    /// It is larger than can be counted.
    #[error("this is more money than can be counted")]
    TooLarge,
    /// It is in a token that is not a dollar token.
    #[error("this token is not a dollar token")]
    NotDollars,
}

/// Writes `units` with a dot before the last `decimals` digits, without needless zeros.
pub(crate) fn decimal(units: U256, decimals: u8) -> String {
    let places = usize::from(decimals);
    let digits = format!(
        "{units:0>width$}",
        units = units.to_string(),
        width = places.saturating_add(1)
    );
    let (whole, rest) = digits.split_at(digits.len().saturating_sub(places));
    match rest.trim_end_matches('0') {
        "" => whole.to_owned(),
        rest => format!("{whole}.{rest}"),
    }
}

fn checked_digits(text: &str) -> Result<&str, MoneyError> {
    let sound = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !sound {
        return Err(MoneyError::NotANumber);
    }
    if text.len() > MOST_DIGITS {
        Err(MoneyError::TooLarge)
    } else {
        Ok(text)
    }
}

fn digits(text: &str) -> Result<U256, MoneyError> {
    U256::from_str_radix(checked_digits(text)?, 10).map_err(|_| MoneyError::TooLarge)
}

/// The largest 256-bit number has 78 digits; a few leading zeros are nobody's fault.
const MOST_DIGITS: usize = 96;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_token_with_more_than_18_decimals_is_rounded_up() {
        let one_part = Usd::from_units(U256::from(1), 20).unwrap();
        assert_eq!(one_part.to_string(), "0.000000000000000001");
        assert_eq!(
            Usd::from_units(U256::from(10_000), 6).unwrap(),
            usd("0.01").unwrap()
        );
        assert_eq!(Usd::from_units(U256::MAX, 6), Err(MoneyError::TooLarge));
    }

    proptest! {
        #[test]
        fn dollars_print_as_they_are_read(whole in 0_u64.., places in "[0-9]{1,18}") {
            let read = usd(&format!("{whole}.{places}")).unwrap();
            prop_assert_eq!(usd(&read.to_string()).unwrap(), read);
        }

        #[test]
        fn amounts_print_as_they_are_read(limbs in any::<[u64; 4]>()) {
            let amount = Amount::new(U256::from_limbs(limbs));
            prop_assert_eq!(amount.to_string().parse::<Amount>(), Ok(amount));
        }

        #[test]
        fn no_text_is_a_panic(text in ".*") {
            // what is read is printed as something that can be read
            if let Ok(amount) = text.parse::<Amount>() {
                prop_assert!(amount.to_string().parse::<Amount>().is_ok());
            }
            if let Ok(dollars) = usd(&text) {
                prop_assert!(usd(&dollars.to_string()).is_ok());
            }
        }
    }
}
