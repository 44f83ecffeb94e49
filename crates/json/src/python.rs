//! JSON as Python's `json.dumps` spells it by default: in ASCII, with everything else escaped.
//!
//! It is for programs that share files or hashes with Python programs, which compare and hash these very bytes.
//!
//! ```
//! use hooksd_json::python::ascii_string;
//!
//! assert_eq!(ascii_string("naïve 😀"), r#""na\u00efve \ud83d\ude00""#);
//! ```

use std::fmt::Write;

/// Spells `text` as a JSON string token in ASCII, with its quotes.
#[must_use]
pub fn ascii_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            _ => push_units(&mut out, c),
        }
    }
    out.push('"');
    out
}

/// Spells a JSON string token in ASCII. `token` has its quotes, and may hold surrogates without a partner, which no
/// Rust string can hold: they stay as they are.
#[must_use]
pub fn ascii_token(token: &str) -> String {
    let (content, has_lone_surrogate) = crate::value::decode(token);
    if !has_lone_surrogate {
        return ascii_string(&content);
    }
    let mut out = String::with_capacity(token.len());
    for c in token.chars() {
        if matches!(c, ' '..='~') { out.push(c) } else { push_units(&mut out, c) }
    }
    out
}

/// Escapes every character of a JSON text that is not ASCII, and leaves the rest as it is spelled. In JSON such
/// characters stand in strings only.
#[must_use]
pub fn ascii_json(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for c in raw.chars() {
        if c.is_ascii() { out.push(c) } else { push_units(&mut out, c) }
    }
    out
}

/// Appends the escapes of a character: one for each of its UTF-16 units.
fn push_units(out: &mut String, c: char) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing to a String does not fail.
        let _ = write!(out, "\\u{unit:04x}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_spelled_as_python_does() {
        assert_eq!(
            ascii_string("a\"\\/\n\r\t\u{8}\u{c}\u{1}\u{7f}ü😀"),
            r#""a\"\\/\n\r\t\b\f\u0001\u007f\u00fc\ud83d\ude00""#
        );
        assert_eq!(ascii_token(r#""\u00FC\/ü""#), r#""\u00fc/\u00fc""#);
        assert_eq!(ascii_token(r#""/a\udcffü""#), r#""/a\udcff\u00fc""#);
    }
}
