//! Reads what one handler has printed (contract sections 6 and 8).

use hooksd_json::{Dialect, Reading, Value, read};
use hooksd_pattern::chars::is_space;
use hooksd_protocol::event::EventName;
use hooksd_protocol::output::{KEYS, Output, Specific, read_specific};

use crate::decode::json_text;

/// The reason of a block by exit status 2 when nothing was printed on stderr (contract section 6).
pub const DEFAULT_EXIT_REASON: &str = "Hook blocked the operation";

/// The longest piece of a handler's output that a diagnostic quotes. Characters.
const MAX_EXCERPT: usize = 80;

/// What a handler that exited with 0 has said on stdout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandlerOutput {
    /// It has printed nothing, or only white space.
    Nothing,
    /// It has printed text that is not JSON.
    Plain {
        /// The text, without white space around it.
        text: String,
        /// Why it is not JSON, with an excerpt that cannot control a terminal.
        reason: String,
    },
    /// It has printed JSON that does not fit the output protocol, for this reason.
    Invalid(String),
    /// It has printed JSON that fits the output protocol.
    Json(Box<FullOutput>),
}

/// All that JSON of the output protocol says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullOutput {
    /// The fields that all events have.
    pub output: Output,
    /// `hookSpecificOutput`, with the event that it says it is for.
    pub specific: Option<(EventName, Specific)>,
    /// The top-level keys that the protocol does not know, sorted.
    pub unknown_keys: Vec<String>,
}

/// Reads the stdout of a handler that exited with 0.
#[must_use]
pub fn read_stdout(stdout: &[u8]) -> HandlerOutput {
    let is_ascii_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c);
    if stdout.iter().all(is_ascii_space) {
        return HandlerOutput::Nothing;
    }
    let plain = |reason: &str| {
        let text = String::from_utf8_lossy(stdout);
        let reason = format!("{reason}; it begins with: {}", excerpt(&text));
        HandlerOutput::Plain { text: text.trim_matches(is_space).to_owned(), reason }
    };
    let Some(text) = json_text(stdout) else { return plain("the output is neither JSON nor UTF-8 text") };
    match Value::parse(&text, Dialect::Python) {
        Ok(value) => read_json(&value),
        Err(error) => plain(&format!("the output is not JSON ({error})")),
    }
}

fn read_json(value: &Value<'_>) -> HandlerOutput {
    if !value.is_object() {
        return HandlerOutput::Invalid(format!("expected a JSON object, got {}", value.kind().noun()));
    }
    let output: Output = match read(value, Reading::Lenient) {
        Ok(output) => output,
        Err(error) => return HandlerOutput::Invalid(error.to_string()),
    };
    let specific = match value.get("hookSpecificOutput").filter(|specific| !specific.is_null()) {
        None => None,
        Some(specific) => match read_specific(&specific) {
            Ok(specific) => Some(specific),
            Err(error) => return HandlerOutput::Invalid(error.within("hookSpecificOutput").to_string()),
        },
    };
    let entries = value.entries();
    let mut unknown_keys: Vec<String> = entries
        .into_iter()
        .map(|(key, _)| key.into_owned())
        .filter(|key| !KEYS.contains(&key.as_str()))
        .collect();
    unknown_keys.sort();
    HandlerOutput::Json(Box::new(FullOutput { output, specific, unknown_keys }))
}

/// The reason of a block by exit status 2: what is on stderr without white space around it, or
/// [`DEFAULT_EXIT_REASON`].
#[must_use]
pub fn exit_reason(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let reason = text.trim_matches(is_space);
    if reason.is_empty() { DEFAULT_EXIT_REASON.to_owned() } else { reason.to_owned() }
}

/// What a handler that failed has complained of: a colon and the last line of its stderr, where interpreters and
/// shells say what went wrong. Empty when it has printed nothing there.
#[must_use]
pub fn last_words(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let last = text.lines().rev().find(|line| !line.trim_matches(is_space).is_empty());
    last.map(|line| format!(": {}", excerpt(line))).unwrap_or_default()
}

/// The beginning of a text in quotes, on one line, with its control characters escaped.
#[must_use]
pub fn excerpt(text: &str) -> String {
    let mut out = String::from("\"");
    for (index, c) in text.trim_matches(is_space).chars().enumerate() {
        if index == MAX_EXCERPT {
            out.push('…');
            break;
        }
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_cannot_move_the_cursor() {
        assert_eq!(excerpt(" \u{1b}[2Jx\n\u{9b}y "), r#""\u{1b}[2Jx\n\u{9b}y""#);
        assert_eq!(excerpt(&"x".repeat(200)).chars().count(), MAX_EXCERPT + 3);
    }

    #[test]
    fn the_last_line_of_stderr_says_what_it_was() {
        let traceback = b"Traceback (most recent call last):\n  File \"x\"\nKeyError: 'y'\n\n";
        assert_eq!(last_words(traceback), r#": "KeyError: 'y'""#);
        assert_eq!((last_words(b"").as_str(), last_words(b" \n").as_str()), ("", ""));
    }

    #[test]
    fn b29_49000_open_brackets_are_no_answer_and_no_crash() {
        let HandlerOutput::Plain { .. } = read_stdout("[".repeat(49_000).as_bytes()) else {
            panic!("read as JSON")
        };
        let closed = "[".repeat(49_000) + &"]".repeat(49_000);
        assert_eq!(
            read_stdout(closed.as_bytes()),
            HandlerOutput::Invalid("expected a JSON object, got an array".into())
        );
    }
}
