//! What all that look for secrets share: where a value ends, what is known of the text that was passed, and how much was
//! looked through.

#[cfg(test)]
use std::cell::Cell;

/// What stands in place of a secret.
pub const REDACTED: &str = "[redacted]";

#[cfg(test)]
thread_local! {
    /// Bytes that this thread has looked through.
    pub(super) static LOOKED: Cell<usize> = const { Cell::new(0) };
}

/// A secret that was found: how many bytes stay from here on, and how many after those are taken out.
pub(super) type Found = (usize, usize);

/// What is known of the text that was passed already.
#[derive(Default)]
pub(super) struct Passed {
    /// There is no `@` before this position. Bytes from the beginning of the text. No stretch of the text is looked
    /// through twice with it, so that the work grows no faster than the text.
    pub(super) no_user: usize,
    /// There is no dot inside of a token before this position. Bytes from the beginning of the text.
    pub(super) no_dot: usize,
    /// Where the word ends that was looked through last, and where the address does. Bytes from the beginning of the
    /// text.
    ends: [usize; 2],
    /// Where the path ends that was looked through last for a webhook. Bytes from the beginning of the text.
    pub(super) path_end: usize,
}

/// How long the beginning of the text is that consists of such characters. Bytes.
pub(super) fn run(text: &str, allowed: impl Fn(char) -> bool) -> usize {
    looked(text.find(|c: char| !allowed(c)).unwrap_or(text.len()))
}

/// Where these words stand first in the text. Bytes.
pub(super) fn find(text: &str, words: &str) -> Option<usize> {
    let found = text.find(words);
    looked(found.unwrap_or(text.len()));
    found
}

/// Notes how many bytes were looked through, and returns them. Tests add them up: the sum is the work.
pub(super) fn looked(bytes: usize) -> usize {
    #[cfg(test)]
    LOOKED.with(|sum| sum.set(sum.get() + bytes));
    bytes
}

pub(super) fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Whether an address cannot go on with this character.
pub(super) fn is_end_of_url(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '\\' | ')' | ']' | '}' | '|')
}

/// Where a value without quotes ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ends {
    /// At white space.
    Word,
    /// Where a parameter of an address does.
    Parameter,
}

/// A value where one is expected.
pub(super) struct Given<'a> {
    /// How many bytes stand before it: backslashes and a quote.
    pub(super) skip: usize,
    /// The value, without its quotes.
    pub(super) text: &'a str,
    /// Whether it has quotes around it.
    pub(super) quoted: bool,
}

impl<'a> Given<'a> {
    /// Reads the value at the beginning of the text, which begins `at` bytes into the whole of it.
    pub(super) fn read(text: &'a str, at: usize, ends: Ends, passed: &mut Passed) -> Option<Given<'a>> {
        /// How many backslashes stand before a quote at most: JSON in JSON doubles them each time. A bound on how many
        /// openings may wait for their end.
        const MAX_ESCAPES: usize = 15;
        let escapes = run(text, |c| c == '\\');
        let quote = text.get(escapes..)?.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
        let quote = quote.filter(|_| escapes <= MAX_ESCAPES);
        let (skip, length) = match quote {
            Some(quote) => (escapes + 1, closing(text.get(escapes + 1..)?, quote, escapes)),
            None => (0, end(text, at, ends, passed)),
        };
        let given = text.get(skip..skip + length).filter(|given| !given.is_empty())?;
        Some(Given { skip, text: given, quoted: quote.is_some() })
    }
}

/// How long a value without quotes is. Bytes.
fn end(text: &str, at: usize, ends: Ends, passed: &mut Passed) -> usize {
    let [word, parameter] = &mut passed.ends;
    let known = match ends {
        Ends::Word => word,
        Ends::Parameter => parameter,
    };
    if *known <= at {
        let goes_on = |c: char| match ends {
            Ends::Word => !c.is_whitespace(),
            Ends::Parameter => !is_end_of_url(c) && !matches!(c, '&' | '#'),
        };
        *known = at + run(text, goes_on);
    }
    *known - at
}

/// How long a quoted value is. It ends at a quote that has no more backslashes before it than the opening one. Bytes.
fn closing(text: &str, quote: char, escapes: usize) -> usize {
    let mut backslashes = 0;
    for (at, c) in text.char_indices() {
        if c == quote && backslashes <= escapes {
            return looked(at) - backslashes;
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
    }
    looked(text.len())
}
