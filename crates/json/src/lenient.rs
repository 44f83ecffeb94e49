//! How Python's pydantic reads scalars in its lax mode, which suits what people write by hand.
//!
//! Guarantee: a scalar that pydantic takes is taken with the same value, and one that it refuses is refused.

use crate::number::Integer;
use crate::value::{Kind, Value};

/// Reads a boolean: `true`, `false`, 0, 1, 0.0, 1.0, or one of the words yes/no, on/off, true/false, y/n, t/f, 1/0 in
/// any case. Returns `None` when the value is none of these.
///
/// ```
/// use hooksd_json::{Dialect, Value, lenient_bool};
///
/// let read = |text| Value::parse(text, Dialect::Strict).map(|value| lenient_bool(&value));
/// assert_eq!(read("\"Yes\""), Ok(Some(true)));
/// assert_eq!(read("0.0"), Ok(Some(false)));
/// assert_eq!(read("2"), Ok(None));
/// ```
#[must_use]
pub fn lenient_bool(value: &Value<'_>) -> Option<bool> {
    match value.kind() {
        Kind::Bool(value) => Some(value),
        Kind::Number(text) => match text.parse::<f64>() {
            Ok(0.0) => Some(false),
            Ok(1.0) => Some(true),
            _ => None,
        },
        Kind::String(text) => match text.to_ascii_lowercase().as_str() {
            "0" | "off" | "f" | "false" | "n" | "no" => Some(false),
            "1" | "on" | "t" | "true" | "y" | "yes" => Some(true),
            _ => None,
        },
        _ => None,
    }
}

/// Reads a float: any number, a boolean as 0 or 1, or a string that spells a number the way Python does. Returns `None`
/// when the value is none of these.
///
/// The result may be infinite or NaN; the caller decides what that means.
///
/// ```
/// use hooksd_json::{Dialect, Value, lenient_float};
///
/// let read = |text| Value::parse(text, Dialect::Python).map(|value| lenient_float(&value));
/// assert_eq!(read("\" 1_000.5 \""), Ok(Some(1000.5)));
/// assert_eq!(read("-Infinity"), Ok(Some(f64::NEG_INFINITY)));
/// assert_eq!(read("[]"), Ok(None));
/// ```
#[must_use]
pub fn lenient_float(value: &Value<'_>) -> Option<f64> {
    match value.kind() {
        Kind::Bool(value) => Some(f64::from(u8::from(value))),
        Kind::Number(text) => text.parse().ok(),
        Kind::Constant("NaN") => Some(f64::NAN),
        Kind::Constant(text) => Some(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY }),
        Kind::String(text) => float_from_text(&text),
        _ => None,
    }
}

/// Reads an integer: digits, a boolean, or a float or a string that has no fraction. `None` when it is none of these.
pub(crate) fn lenient_integer(value: &Value<'_>) -> Option<Integer> {
    let from_float = |value: f64| {
        // Above 2^63 a double has no fraction but too many digits for i64; pydantic refuses those too.
        (value.fract() == 0.0 && value.abs() < 9.2e18).then(|| Integer::from(value as i64))
    };
    match value.kind() {
        Kind::Bool(value) => Some(Integer::from(i64::from(value))),
        Kind::Number(text) => Integer::parse(text).or_else(|| text.parse().ok().and_then(from_float)),
        Kind::String(text) => {
            let digits = without_separators(trim(&text))?;
            let digits = digits.strip_prefix('+').unwrap_or(&digits);
            Integer::parse(digits).or_else(|| float_from_text(digits).and_then(from_float))
        }
        _ => None,
    }
}

fn float_from_text(text: &str) -> Option<f64> {
    let text = without_separators(trim(text))?;
    let digits = text.trim_start_matches(['+', '-']);
    if text.len() > digits.len() + 1 || !digits.is_ascii() {
        return None;
    }
    match digits.to_ascii_lowercase().as_str() {
        "inf" | "infinity" | "nan" => text.to_ascii_lowercase().parse().ok(),
        word if word.starts_with(|first: char| first.is_ascii_digit() || first == '.') => text.parse().ok(),
        _ => None,
    }
}

/// Removes white space from both ends: what Rust calls white space, and U+001C to U+001F, which Python does as well.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}

/// The text without its underscores. Python allows one between two digits; with one anywhere else this is `None`.
fn without_separators(text: &str) -> Option<String> {
    let digit_at =
        |at: Option<usize>| at.and_then(|at| text.as_bytes().get(at)).is_some_and(u8::is_ascii_digit);
    for (at, _) in text.match_indices('_') {
        if !digit_at(at.checked_sub(1)) || !digit_at(Some(at + 1)) {
            return None;
        }
    }
    Some(text.replace('_', ""))
}
