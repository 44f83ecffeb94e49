//! Text that others wrote, made harmless for a terminal (B82).
//!
//! Handlers, documents and engines decide what the programs of this workspace print. Nothing of it may move the cursor,
//! change colours or turn the direction of what follows: such characters are shown as escapes.
#![forbid(unsafe_code)]

use anstyle::{AnsiColor, Style};

/// `text` in a colour.
#[must_use]
pub fn paint(color: AnsiColor, text: &str) -> String {
    let style = Style::new().fg_color(Some(color.into())).bold();
    format!("{style}{text}{style:#}")
}

/// `text` with control characters escaped; line breaks stay, indented.
///
/// ```
/// assert_eq!(hooksd_terminal::safe("clear\u{1b}[2J\nnext"), "clear\\u{1b}[2J\n    next");
/// ```
#[must_use]
pub fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\n    "),
            '\t' => out.push('\t'),
            c if steers(c) => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

/// `text` on one line, with control characters escaped.
#[must_use]
pub fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.trim().chars() {
        match c {
            '\n' | '\t' => out.push(' '),
            c if steers(c) => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

/// JSON with the characters that steer a terminal written as escapes. They can only stand inside its strings, so that
/// the value stays the same.
#[must_use]
pub fn safe_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if steers(c) {
            // All of them are in the first plane.
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}

/// Whether a terminal may act on a character instead of showing it: controls, and those that turn the direction of
/// what follows (UAX 9).
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b82_nothing_that_steers_a_terminal_gets_out() {
        assert_eq!(safe("a\u{1b}[2J\u{9b}\u{202e}b"), "a\\u{1b}[2J\\u{9b}\\u{202e}b");
        let json = serde_json::to_string("\u{1b}\u{7f}\u{9b}\u{202e}é").unwrap();
        assert_eq!(safe_json(&json), r#""\u001b\u007f\u009b\u202eé""#);
        assert_eq!(serde_json::from_str::<String>(&safe_json(&json)).unwrap(), "\u{1b}\u{7f}\u{9b}\u{202e}é");
    }
}
