//! Integers of any size, held as digits: an id of 30 digits is passed on as those 30 digits.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;

/// The newtype name by which [`Integer`] asks the reader for its digits.
pub(crate) const INTEGER_TOKEN: &str = "$hooksd_json::integer";

/// An integer of any size, held in decimal digits with `-` before them when it is negative. It has no leading zeros
/// and is never `-0`.
///
/// ```
/// use hooksd_json::Integer;
///
/// let long = Integer::parse("9223372036854775808").expect("digits");
/// assert_eq!(long.times_1000().as_str(), "9223372036854775808000");
/// assert_eq!(long.clamped(), i64::MAX);
/// assert_eq!(Integer::parse("1e3"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Integer(String);

impl Integer {
    /// Reads JSON's spelling of an integer: digits after an optional `-`. Returns `None` for a fraction, an exponent
    /// and anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Integer> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", text),
        };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits = digits.trim_start_matches('0');
        Some(if digits.is_empty() { Integer("0".to_owned()) } else { Integer(format!("{sign}{digits}")) })
    }

    /// The decimal digits, with `-` before them when the integer is negative.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How the integer compares with zero.
    #[must_use]
    pub fn sign(&self) -> Ordering {
        match self.0.as_bytes().first() {
            Some(b'-') => Ordering::Less,
            Some(b'0') => Ordering::Equal,
            _ => Ordering::Greater,
        }
    }

    /// The nearest integer that fits into an `i64`.
    #[must_use]
    pub fn clamped(&self) -> i64 {
        let bound = if self.sign() == Ordering::Less { i64::MIN } else { i64::MAX };
        self.0.parse().unwrap_or(bound)
    }

    /// The integer times one thousand, at any size: seconds become milliseconds.
    #[must_use]
    pub fn times_1000(&self) -> Integer {
        if self.sign() == Ordering::Equal { self.clone() } else { Integer(format!("{}000", self.0)) }
    }

    /// The integer plus one, at any size.
    #[must_use]
    pub fn plus_one(&self) -> Integer {
        let (sign, digits) = match self.0.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", self.0.as_str()),
        };
        // The digits of a positive number grow, those of a negative one shrink.
        let (from, to) = if sign.is_empty() { (b'9', b'0') } else { (b'0', b'9') };
        let mut bytes = digits.as_bytes().to_vec();
        let mut carried = true;
        for byte in bytes.iter_mut().rev() {
            if *byte == from {
                *byte = to;
            } else {
                *byte = if sign.is_empty() { *byte + 1 } else { *byte - 1 };
                carried = false;
                break;
            }
        }
        let digits: String = bytes.into_iter().map(char::from).collect();
        let carry = if carried && sign.is_empty() { "1" } else { "" };
        Integer::parse(&format!("{sign}{carry}{digits}")).unwrap_or_else(|| self.clone())
    }
}

impl From<i64> for Integer {
    fn from(value: i64) -> Integer {
        Integer(value.to_string())
    }
}

impl Serialize for Integer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.parse::<i64>() {
            Ok(value) => serializer.serialize_i64(value),
            Err(_) => RawValue::from_string(self.0.clone())
                .map_err(serde::ser::Error::custom)?
                .serialize(serializer),
        }
    }
}

struct IntegerVisitor;

impl de::Visitor<'_> for IntegerVisitor {
    type Value = Integer;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer")
    }

    fn visit_str<E: de::Error>(self, digits: &str) -> Result<Integer, E> {
        Integer::parse(digits).ok_or_else(|| E::custom("expected an integer"))
    }
}

impl<'de> Deserialize<'de> for Integer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Integer, D::Error> {
        deserializer.deserialize_newtype_struct(INTEGER_TOKEN, IntegerVisitor)
    }
}

impl JsonSchema for Integer {
    fn schema_name() -> Cow<'static, str> {
        "Integer".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer" })
    }
}

#[cfg(test)]
mod tests {
    use crate::Integer;

    fn integer(text: &str) -> Integer {
        Integer::parse(text).unwrap()
    }

    #[test]
    fn any_size_is_kept_and_moved_by_one_and_by_thousand() {
        let table = [
            ("0", "1", "0"),
            ("-0", "1", "0"),
            ("-1", "0", "-1000"),
            ("-10", "-9", "-10000"),
            ("-100", "-99", "-100000"),
            ("9", "10", "9000"),
            ("199", "200", "199000"),
            ("9223372036854775807", "9223372036854775808", "9223372036854775807000"),
        ];
        for (value, plus_one, thousand) in table {
            assert_eq!(integer(value).plus_one().as_str(), plus_one, "{value} + 1");
            assert_eq!(integer(value).times_1000().as_str(), thousand, "{value} * 1000");
        }
    }

    #[test]
    fn only_integers_are_integers() {
        for text in ["", "-", "1.0", "1e3", "+1", " 1", "0x1"] {
            assert_eq!(Integer::parse(text), None, "{text}");
        }
    }

    #[test]
    fn clamps_to_machine_integers() {
        assert_eq!(integer("123456789012345678901234567890").clamped(), i64::MAX);
        assert_eq!(integer("-123456789012345678901234567890").clamped(), i64::MIN);
        assert_eq!(integer("-7").clamped(), -7);
    }
}
