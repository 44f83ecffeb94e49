//! Walks through a text once and takes out what is secret by its looks, by the name before it or by the command it is
//! given to. A text that has no secret costs no memory, and the work grows no faster than the text.

use super::flags::{self, Tool};
use super::text::{Found, Passed, REDACTED, is_name_char, run};
use super::{pairs, shapes, urls};

/// The text without what is secret; `None` when nothing is.
pub(super) fn scan(text: &str) -> Option<String> {
    let mut passed = Passed::default();
    // The program whose arguments are being passed.
    let mut tool: Option<&'static Tool> = None;
    let mut out: Option<String> = None;
    let (mut at, mut copied) = (0, 0);
    let mut before: Option<char> = None;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let found = secret_at(rest, before, at, &mut passed, &mut tool);
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
            tool = None;
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
fn secret_at(
    rest: &str,
    before: Option<char>,
    at: usize,
    passed: &mut Passed,
    tool: &mut Option<&'static Tool>,
) -> Option<Found> {
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
        .or_else(|| start_of_name.then(|| by_name(rest, before, at, passed, tool)).flatten())
}

/// Finds the secret that belongs to the name at the beginning of the text: a service's address, a program's argument,
/// or the value of the name.
fn by_name(
    rest: &str,
    before: Option<char>,
    at: usize,
    passed: &mut Passed,
    tool: &mut Option<&'static Tool>,
) -> Option<Found> {
    let length = run(rest, is_name_char);
    let name = rest.get(..length).filter(|name| !name.is_empty())?;
    let of_tool = tool.and_then(|tool| flags::argument(tool, (rest, at), name, passed));
    if let Some(called) = flags::tool(rest, name) {
        *tool = Some(called);
    }
    of_tool
        .or_else(|| urls::webhook(rest, at, name, passed))
        .or_else(|| pairs::named((rest, at), name, before, passed))
}
