//! Takes secrets out of text that is written down. When in doubt it takes out more: a transcript without a word is
//! still of use, and a key that has leaked stays leaked.

use std::borrow::Cow;

use hooksd_json::{Kind, Value};

use crate::environment::{has_word, is_secret};

/// What stands in place of a secret.
pub const REDACTED: &str = "[redacted]";

/// How deep a record may be nested. Levels.
pub const MAX_DEPTH: usize = 128;

/// How long a variable's value must be to be looked for in texts. Bytes. `TOKEN=1` would take out every 1.
const MIN_KNOWN: usize = 6;

/// How the keys of well-known services begin, and how many characters must follow at least.
const PREFIXES: [(&str, usize); 30] = [
    ("sk-", 8),
    ("sk_live_", 8),
    ("sk_test_", 8),
    ("rk_live_", 8),
    ("rk_test_", 8),
    ("whsec_", 8),
    ("ghp_", 8),
    ("gho_", 8),
    ("ghu_", 8),
    ("ghs_", 8),
    ("ghr_", 8),
    ("github_pat_", 8),
    ("glpat-", 8),
    ("xoxa-", 8),
    ("xoxb-", 8),
    ("xoxe-", 8),
    ("xoxp-", 8),
    ("xoxr-", 8),
    ("xoxs-", 8),
    ("xapp-", 8),
    ("AKIA", 12),
    ("ASIA", 12),
    ("AIza", 16),
    ("ya29.", 8),
    ("npm_", 8),
    ("pypi-", 8),
    ("hf_", 8),
    ("lsv2_", 8),
    ("gsk_", 8),
    ("dop_v1_", 8),
];

/// Words in names whose values are secrets, beside those that [`is_secret`] knows.
const MORE_NAMES: [&str; 7] =
    ["PASSWD", "PASSPHRASE", "PWD", "CREDENTIAL", "PRIVATE", "AUTHORIZATION", "COOKIE"];

/// Words in names whose value is the rest of the line.
const WHOLE_LINE: [&str; 2] = ["AUTHORIZATION", "COOKIE"];

/// Takes secrets out of texts and JSON.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// The values that are secret wherever they stand, the longest first.
    known: Vec<String>,
}

impl Redactor {
    /// Makes a redactor that knows these variables. The value of one whose name says that it is a secret is taken out
    /// wherever it stands.
    #[must_use]
    pub fn new<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Redactor {
        let secret =
            variables.into_iter().filter(|(name, value)| is_secret_name(name) && value.len() >= MIN_KNOWN);
        // A folder is not a secret, whatever the variable is called (`OLDPWD`).
        let secret = secret.filter(|(name, value)| is_secret(name) || !value.starts_with('/'));
        let mut known: Vec<String> = secret.map(|(_, value)| value.to_owned()).collect();
        known.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        known.dedup();
        Redactor { known }
    }

    /// Spells a JSON value on one line, without secrets. Parts that have no secret are spelled as they were. `None`
    /// when the value is nested deeper than [`MAX_DEPTH`].
    #[must_use]
    pub fn json(&self, value: &Value<'_>) -> Option<String> {
        if value.depth() > MAX_DEPTH {
            return None;
        }
        let mut out = String::with_capacity(value.raw().len());
        self.write(value, false, &mut out);
        Some(out)
    }

    fn write(&self, value: &Value<'_>, secret: bool, out: &mut String) {
        match value.kind() {
            Kind::Object => {
                out.push('{');
                for (index, (key, member)) in value.pairs().iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    self.write(key, false, out);
                    out.push(':');
                    let named = key.as_str().is_some_and(|name| is_secret_name(&name));
                    self.write(member, secret || named, out);
                }
                out.push('}');
            }
            Kind::Array => {
                out.push('[');
                for (index, item) in value.items().iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    self.write(item, secret, out);
                }
                out.push(']');
            }
            Kind::String(_) if secret => out.push_str(&format!("\"{REDACTED}\"")),
            Kind::String(text) => match self.text(&text) {
                Some(clean) => out.push_str(&hooksd_json::python::ascii_string(&clean)),
                None => out.push_str(value.raw()),
            },
            _ => out.push_str(value.raw()),
        }
    }

    /// The text without secrets; `None` when it has none.
    #[must_use]
    pub fn text(&self, text: &str) -> Option<String> {
        let clean = scan(&self.without_known(text));
        (clean != text).then_some(clean)
    }

    /// A text whose end is missing, without secrets. What may be the beginning of a secret is taken out as well: the
    /// beginning of a known value, and the last word.
    #[must_use]
    pub fn cut_text(&self, text: &str) -> String {
        let mut text = self.without_known(text).into_owned();
        let begun = self.known.iter().map(|value| begun(&text, value)).max();
        text.truncate(text.len() - begun.unwrap_or_default());
        let clean = scan(&text);
        format!("{}{REDACTED}", clean.trim_end_matches(|c: char| !c.is_whitespace()))
    }

    fn without_known<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for value in &self.known {
            if text.contains(value.as_str()) {
                text = Cow::Owned(text.replace(value.as_str(), REDACTED));
            }
        }
        text
    }
}

/// How long the beginning of `value` is with which the text ends. Bytes.
fn begun(text: &str, value: &str) -> usize {
    let mut lengths = value.char_indices().map(|(at, _)| at).rev();
    lengths.find(|length| value.get(..*length).is_some_and(|begin| text.ends_with(begin))).unwrap_or_default()
}

/// Whether values of this name are secrets.
fn is_secret_name(name: &str) -> bool {
    is_secret(name) || has_word(name, &MORE_NAMES)
}

/// Up to where it is known already that something is not there. Bytes from the beginning of the text. No stretch of
/// the text is looked through twice with it, so that the work grows no faster than the text.
#[derive(Default)]
struct Known {
    /// There is no `@` before this position.
    no_user: usize,
    /// There is no dot inside of a token before this position.
    no_dot: usize,
}

/// The text without what is secret by its looks or by the name before it.
fn scan(text: &str) -> String {
    let mut known = Known::default();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut before: Option<char> = None;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some((kept, secret)) = secret_at(rest, before, at, &mut known) {
            out.push_str(rest.get(..kept).unwrap_or_default());
            out.push_str(REDACTED);
            at += kept + secret;
            before = None;
            continue;
        }
        let Some(c) = rest.chars().next() else { break };
        out.push(c);
        before = Some(c);
        at += c.len_utf8();
    }
    out
}

/// Finds a secret at the beginning of `rest`, which begins `at` bytes into the text. Returns how many bytes stay, and
/// how many after those are taken out.
fn secret_at(rest: &str, before: Option<char>, at: usize, known: &mut Known) -> Option<(usize, usize)> {
    let boundary = before.is_none_or(|c| !c.is_ascii_alphanumeric());
    let start_of_name = before.is_none_or(|c| !is_name_char(c));
    let by_mark = match rest.as_bytes().first()? {
        b'-' => private_key(rest),
        b':' => credentials(rest, at, known),
        _ => None,
    };
    by_mark
        .or_else(|| boundary.then(|| token(rest, at, known)).flatten())
        .or_else(|| start_of_name.then(|| named(rest)).flatten())
}

/// How long the beginning of the text is that consists of such characters. Bytes.
fn run(text: &str, allowed: impl Fn(char) -> bool) -> usize {
    looked(text.find(|c: char| !allowed(c)).unwrap_or(text.len()))
}

/// Where these words stand first in the text. Bytes.
fn find(text: &str, words: &str) -> Option<usize> {
    let found = text.find(words);
    looked(found.unwrap_or(text.len()));
    found
}

/// Notes how many bytes were looked through, and returns them. Tests add them up: the sum is the work.
fn looked(bytes: usize) -> usize {
    #[cfg(test)]
    tests::LOOKED.with(|sum| sum.set(sum.get() + bytes));
    bytes
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '~' | '+' | '/' | '=')
}

/// Finds a private key in PEM form.
fn private_key(rest: &str) -> Option<(usize, usize)> {
    let head = rest.strip_prefix("-----BEGIN ")?;
    let label = head.get(..find(head, "-----")?)?;
    if !label.ends_with("PRIVATE KEY") {
        return None;
    }
    let end = format!("-----END {label}-----");
    Some((0, find(rest, &end).map_or(rest.len(), |at| at + end.len())))
}

/// Finds the user and the password in a URL.
fn credentials(rest: &str, at: usize, known: &mut Known) -> Option<(usize, usize)> {
    let after = rest.strip_prefix("://").filter(|_| at >= known.no_user)?;
    let authority =
        run(after, |c| !c.is_whitespace() && !matches!(c, '/' | '?' | '#' | '"' | '\'' | '<' | '>'));
    // A password may hold a slash or an at sign that should have been escaped.
    let line = run(after, |c| !c.is_whitespace() && !matches!(c, '"' | '\'' | '<' | '>'));
    if !after.get(..line)?.contains('@') {
        known.no_user = at + 3 + line;
        return None;
    }
    let last =
        after.get(..line)?.rfind('@').filter(|at| after.get(..*at).is_some_and(|user| user.contains(':')));
    let user_end = last.or_else(|| after.get(..authority)?.rfind('@'))?;
    (user_end > 0).then_some((3, user_end))
}

/// Finds a key by its prefix, a JSON web token, or what comes after `Bearer`.
fn token(rest: &str, at: usize, known: &mut Known) -> Option<(usize, usize)> {
    let first = rest.as_bytes().first();
    for (prefix, least) in PREFIXES {
        if prefix.as_bytes().first() == first
            && let Some(after) = rest.strip_prefix(prefix)
        {
            let length = run(after, is_token_char);
            if length >= least {
                return Some((0, prefix.len() + length));
            }
        }
    }
    /// The shortest JSON web token that is worth hiding. Bytes.
    const MIN_JWT: usize = 20;
    if rest.starts_with("eyJ") && at >= known.no_dot {
        let length = run(rest, is_token_char);
        let has_dot = rest.get(..length).is_some_and(|token| token.contains('.'));
        if length >= MIN_JWT && has_dot {
            return Some((0, length));
        }
        if !has_dot {
            known.no_dot = at + length;
        }
    }
    /// The shortest token after `Bearer`. Bytes. A shorter one is an ordinary word.
    const MIN_BEARER: usize = 8;
    let word = rest.get(..6).filter(|word| word.eq_ignore_ascii_case("bearer"))?;
    let after = rest.get(word.len()..)?;
    let space = run(after, |c| matches!(c, ' ' | '\t' | ':' | '='));
    let length = run(after.get(space..)?, is_token_char);
    (space > 0 && length >= MIN_BEARER).then_some((word.len() + space, length))
}

/// Finds the value after the name of a secret: `NAME=value`, `name: value`, `"name": "value"`, `--name value`.
fn named(rest: &str) -> Option<(usize, usize)> {
    let length = run(rest, is_name_char);
    let name = rest.get(..length).filter(|name| !name.is_empty())?;
    let mut kept = length;
    let after = |kept: usize| rest.get(kept..).unwrap_or_default();
    let blank = |c: char| matches!(c, ' ' | '\t');
    kept += run(after(kept), |c| matches!(c, '\\' | '"' | '\'' | ']'));
    let spaces = run(after(kept), blank);
    let separator = run(after(kept + spaces), |c| matches!(c, '=' | ':' | '>'));
    if separator > 0 {
        kept += spaces + separator;
        kept += run(after(kept), blank);
    } else if name.starts_with("--") && spaces > 0 {
        kept += spaces;
    } else {
        return None;
    }
    // The name is looked at last, for most names are not followed by a value.
    if !is_secret_name(name) {
        return None;
    }
    let value = after(kept);
    if has_word(name, &WHOLE_LINE) {
        let length = run(value, |c| !matches!(c, '\n' | '\r'));
        return (length > 0).then_some((kept, length));
    }
    let escapes = run(value, |c| c == '\\');
    let quote =
        value.get(escapes..).and_then(|value| value.chars().next()).filter(|c| matches!(c, '"' | '\'' | '`'));
    let length = match quote {
        Some(quote) => {
            kept += escapes + 1;
            closing(after(kept), quote, escapes)
        }
        None => run(value, |c| !c.is_whitespace()),
    };
    (length > 0).then_some((kept, length))
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

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
