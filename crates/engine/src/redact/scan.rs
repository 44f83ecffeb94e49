//! Walks through a text once and takes out what is secret by its looks, by the name before it or by the command it is
//! given to. A text that has no secret costs no memory, and the work grows no faster than the text.

use super::flags::{self, Tool};
use super::{REDACTED, pairs, shapes, urls};

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
    /// The program whose arguments are being passed.
    tool: Option<&'static Tool>,
}

/// The text without what is secret; `None` when nothing is.
pub(super) fn scan(text: &str) -> Option<String> {
    let mut passed = Passed::default();
    let mut out: Option<String> = None;
    let (mut at, mut copied) = (0, 0);
    let mut before: Option<char> = None;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let found = secret_at(rest, before, at, &mut passed);
        // What was taken out before stays as it is.
        let is_clean = |(kept, secret): &Found| {
            *secret <= REDACTED.len() && rest.get(*kept..).is_some_and(|rest| rest.starts_with(REDACTED))
        };
        let found = found.filter(|found| !is_clean(found));
        if let Some((kept, secret)) = found {
            let out = out.get_or_insert_with(|| String::with_capacity(text.len()));
            out.push_str(text.get(copied..at + kept).unwrap_or_default());
            out.push_str(REDACTED);
            at += kept + secret;
            copied = at;
            before = None;
            continue;
        }
        let Some(c) = rest.chars().next() else { break };
        if ends_command(rest, before) {
            passed.tool = None;
        }
        before = Some(c);
        at += c.len_utf8();
    }
    out.map(|mut out| {
        out.push_str(text.get(copied..).unwrap_or_default());
        out
    })
}

/// Whether a command ends here: at the end of a line that does not go on, and at `;`, `|` and `&&` before a space.
fn ends_command(rest: &str, before: Option<char>) -> bool {
    match rest.as_bytes() {
        [b'\n', ..] => before != Some('\\'),
        [b';' | b'|', b' ', ..] | [b'&', b'&', ..] => true,
        _ => false,
    }
}

/// Finds a secret at the beginning of `rest`, which begins `at` bytes into the text.
fn secret_at(rest: &str, before: Option<char>, at: usize, passed: &mut Passed) -> Option<Found> {
    let boundary = before.is_none_or(|c| !c.is_ascii_alphanumeric());
    let start_of_name = before.is_none_or(|c| !is_name_char(c));
    let by_mark = match rest.as_bytes().first()? {
        b'-' => shapes::private_key(rest),
        b':' => urls::credentials(rest, at, passed),
        b'/' => urls::hook_path(rest),
        _ => None,
    };
    by_mark
        .or_else(|| boundary.then(|| shapes::token(rest, at, passed)).flatten())
        .or_else(|| start_of_name.then(|| by_name(rest, before, at, passed)).flatten())
}

/// Finds the secret that belongs to the name at the beginning of the text: a service's address, a program's argument,
/// or the value of the name.
fn by_name(rest: &str, before: Option<char>, at: usize, passed: &mut Passed) -> Option<Found> {
    let length = run(rest, is_name_char);
    let name = rest.get(..length).filter(|name| !name.is_empty())?;
    let of_tool = passed.tool.and_then(|tool| flags::argument(tool, (rest, at), name, passed));
    if let Some(tool) = flags::tool(rest, name) {
        passed.tool = Some(tool);
    }
    of_tool
        .or_else(|| urls::webhook(rest, at, name, passed))
        .or_else(|| pairs::named((rest, at), name, before, passed))
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
    super::tests::LOOKED.with(|sum| sum.set(sum.get() + bytes));
    bytes
}

fn is_name_char(c: char) -> bool {
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
