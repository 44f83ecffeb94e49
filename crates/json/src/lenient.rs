//! How Python's pydantic reads scalars in its lax mode: part of the contract for documents and handler output,
//! which people write (D23; vectors `reduce/bool/*`, `config/timeout-*`, `config/async-*`).

use crate::number::Integer;
use crate::value::{Kind, Value};

/// A boolean: `true`, 0, 1, 0.0, 1.0 and the words yes/no, on/off, true/false, y/n, t/f in any case.
/// `None` when the value is none of these.
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

/// A float: any number, a boolean as 0 or 1, or a string that spells a number the way Python does.
/// May be infinite or NaN: the caller decides what that means.
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

/// An integer: digits, a float or string without a fraction, or a boolean.
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

/// Rust's idea of white space plus Python's U+001C to U+001F.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}

/// Python allows one underscore between two digits and nowhere else.
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
