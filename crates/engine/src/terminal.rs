//! Says which escape sequences a handler may send to the person's terminal (contract section 9). These are BEL, and
//! OSC 0, 1, 2, 9, 99 and 777 that end with BEL or ST and have no control characters inside. With anything else the
//! whole text is refused.

/// The numbers of the OSC sequences that may be sent: titles, and notifications.
const ALLOWED: [&str; 6] = ["0", "1", "2", "9", "99", "777"];

/// Whether every part of `sequence` may be sent. An empty text may not.
#[must_use]
pub fn is_allowed(sequence: &str) -> bool {
    let mut rest = sequence;
    while !rest.is_empty() {
        match one(rest) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    !sequence.is_empty()
}

/// What follows the sequence at the beginning of `text`; `None` when that is none which may be sent.
fn one(text: &str) -> Option<&str> {
    if let Some(after) = text.strip_prefix('\u{7}') {
        return Some(after);
    }
    let (number, payload) = text.strip_prefix("\u{1b}]")?.split_once(';')?;
    if !ALLOWED.contains(&number) {
        return None;
    }
    let end = payload.find(char::is_control)?;
    let (_, terminator) = payload.split_at(end);
    terminator.strip_prefix('\u{7}').or_else(|| terminator.strip_prefix("\u{1b}\\"))
}

#[cfg(test)]
mod tests {
    use super::is_allowed;

    #[test]
    fn b82_clipboard_and_trailing_newline_are_refused() {
        assert!(!is_allowed("\u{1b}]52;c;aGk=\u{7}"));
        assert!(!is_allowed("\u{7}\n"));
        assert!(is_allowed("\u{1b}]0;t\u{7}"));
        assert!(is_allowed("\u{7}\u{1b}]777;notify;a;b\u{1b}\\"));
        assert!(!is_allowed(""));
    }
}
