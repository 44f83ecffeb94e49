//! Whether two JSON values are the same, and where they are not.

use sha2::{Digest, Sha256};

use crate::json::{Json, Node, short};

/// What may differ without being a difference.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rules {
    /// Keys have to come in the same order.
    pub(crate) ordered: bool,
    /// A recorded null stands for a number too large for a double (D4: the reference cannot hold those).
    pub(crate) null_is_infinite: bool,
}

/// The first difference as a sentence, with its path.
pub(crate) fn same(expected: &Json<'_>, got: &Json<'_>, rules: Rules) -> Result<(), String> {
    at("", expected, got, rules)
}

fn at(path: &str, expected: &Json<'_>, got: &Json<'_>, rules: Rules) -> Result<(), String> {
    let differ = || {
        let place = if path.is_empty() { "the value" } else { path };
        Err(format!("{place}: expected {}, got {}", short(expected.raw), short(got.raw)))
    };
    match (&expected.node, &got.node) {
        (Node::Object(_), Node::Text(text)) => match expected.get("$long") {
            Some(long) if text.lone.is_empty() && is_long(long, &text.lossy) => Ok(()),
            _ => differ(),
        },
        (Node::Number(expected), Node::Number(got)) if same_number(expected, got) => Ok(()),
        (Node::Null, Node::Number(text)) if rules.null_is_infinite && is_infinite(text) => Ok(()),
        (Node::Array(expected), Node::Array(got)) if expected.len() == got.len() => {
            expected.iter().zip(got).enumerate().try_for_each(|(index, (expected, got))| {
                at(&format!("{path}[{index}]"), expected, got, rules)
            })
        }
        (Node::Object(_), Node::Object(_)) => {
            let (mut wanted, mut found) = (expected.entries(), got.entries());
            if !rules.ordered {
                wanted.sort_by(|a, b| a.0.lossy.cmp(&b.0.lossy));
                found.sort_by(|a, b| a.0.lossy.cmp(&b.0.lossy));
            }
            if wanted.iter().map(|(key, _)| key).ne(found.iter().map(|(key, _)| key)) {
                return differ();
            }
            wanted.iter().zip(&found).try_for_each(|((key, expected), (_, got))| {
                at(&format!("{path}.{}", key.lossy), expected, got, rules)
            })
        }
        (Node::Null, Node::Null) => Ok(()),
        (Node::Bool(expected), Node::Bool(got)) if expected == got => Ok(()),
        (Node::Text(expected), Node::Text(got)) if expected == got => Ok(()),
        _ => differ(),
    }
}

fn is_long(long: &Json<'_>, text: &str) -> bool {
    let number = |key: &str| long.get(key).and_then(|value| value.number().ok());
    let digest: String = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    number("chars") == Some(text.chars().count() as f64)
        && number("bytes") == Some(text.len() as f64)
        && long.get("sha256").and_then(Json::text) == Some(&digest)
}

/// Integers are the same digit for digit, with `-0` as `0`; others are the same double. `2` is not `2.0`.
pub(crate) fn same_number(a: &str, b: &str) -> bool {
    match (is_integer(a), is_integer(b)) {
        (true, true) => a == b || (is_zero(a) && is_zero(b)),
        (false, false) => match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(a), Ok(b)) => a.to_bits() == b.to_bits(),
            _ => a == b,
        },
        _ => false,
    }
}

pub(crate) fn is_integer(number: &str) -> bool {
    number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

fn is_zero(number: &str) -> bool {
    matches!(number, "0" | "-0")
}

fn is_infinite(number: &str) -> bool {
    !is_integer(number) && number.parse::<f64>().is_ok_and(f64::is_infinite)
}
