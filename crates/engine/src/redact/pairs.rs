//! Finds the value after the name of a secret: `NAME=value`, `name: value`, `"name": "value"`, `--name value`,
//! `?name=value&`.

use super::names::{self, Grade};
use super::prose::{self, Judged};
use super::text::{Ends, Found, Given, Passed, run};

/// Finds the value that belongs to this name, which is what `rest` begins with.
pub(super) fn named(
    (rest, at): (&str, usize),
    name: &str,
    before: Option<char>,
    passed: &mut Passed,
) -> Option<Found> {
    let after = |kept: usize| rest.get(kept..).unwrap_or_default();
    let blank = |c: char| matches!(c, ' ' | '\t');
    let is_flag = name.starts_with('-') && name.len() > 2;
    let mut kept = name.len();
    kept += run(after(kept), |c| matches!(c, '\\' | '"' | '\'' | ']'));
    let spaces = run(after(kept), blank);
    let separator = run(after(kept + spaces), |c| matches!(c, '=' | ':' | '>'));
    let mut spaced = false;
    if separator > 0 {
        kept += spaces + separator;
        let blanks = run(after(kept), blank);
        kept += blanks;
        spaced = blanks > 0;
    } else if is_flag && kept > name.len() && after(kept).starts_with(',') {
        // The arguments of a program as a list: `"--token", "value"`.
        kept += 1 + run(after(kept + 1), blank);
    } else if is_flag && spaces > 0 {
        kept += spaces;
        spaced = true;
    } else {
        return None;
    }
    // Of most names, nothing more is looked at: they are followed by no value.
    let in_query = matches!(before, Some('?' | '&' | '#' | ';')) && after(name.len()).starts_with('=');
    let escaped = name.strip_prefix("u0026").filter(|_| before == Some('\\'));
    let in_query = in_query || escaped.is_some();
    let name = escaped.unwrap_or(name);
    let grade = if in_query { names::query_grade(name) } else { names::grade(name) };
    // What tests print: `PASS: name`.
    let is_verdict = name == "PASS" && after(name.len()).starts_with(':');
    if grade == Grade::None || is_verdict {
        return None;
    }
    let value = after(kept);
    let line = first_line(value);
    if grade == Grade::Line {
        let length = || run(value, |c| !matches!(c, '\n' | '\r'));
        return (!is_harmless_line(name, line, spaced)).then(|| (kept, length())).filter(|found| found.1 > 0);
    }
    let ends = if in_query { Ends::Parameter } else { Ends::Word };
    let given = Given::read(value, at + kept, ends, passed)?;
    let (kept, length) = (kept + given.skip, given.text.len());
    if names::is_about(name, given.text) || prose::is_placeholder(given.text) || prose::is_place(line) {
        return None;
    }
    match grade {
        Grade::Weak => return prose::looks_secret(given.text).then_some((kept, length)),
        Grade::Digits => {
            let secret = prose::looks_secret(given.text) || prose::is_pin(given.text);
            return secret.then_some((kept, length));
        }
        _ if given.quoted => return (!prose::is_sentence(given.text)).then_some((kept, length)),
        _ => {}
    }
    match prose::judge(line, spaced) {
        Judged::Prose => None,
        Judged::From(0) => Some((kept, length)),
        Judged::From(skipped) => Some((kept + skipped, run(value.get(skipped..)?, |c| !c.is_whitespace()))),
    }
}

/// Whether the rest of a line, of which this is the beginning, is no secret.
fn is_harmless_line(name: &str, line: &str, spaced: bool) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    names::is_about(name, first)
        || prose::is_placeholder(line.trim_end())
        || (prose::judge(line, spaced) == Judged::Prose && prose::is_sentence(line))
}

/// The beginning of a text, in which a sentence about a secret would show. It is bounded, so that the work is.
fn first_line(text: &str) -> &str {
    /// Bytes of a line that are looked at.
    const MAX_SENTENCE: usize = 64;
    let end = (0..=MAX_SENTENCE.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    let start = text.get(..end.unwrap_or_default()).unwrap_or_default();
    start.split(['\n', '\r']).next().unwrap_or_default()
}
