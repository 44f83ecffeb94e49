//! Takes secrets out of text that is written down. When in doubt it takes out more: a transcript without a word is
//! still of use, and a key that has leaked stays leaked.

mod flags;
mod names;
mod pairs;
mod prose;
mod scan;
mod shapes;
mod text;
mod urls;

use std::borrow::Cow;

use hooksd_json::{Kind, Value};

use self::names::{Grade, grade, is_about};
use self::prose::{is_pin, is_placeholder, is_sentence, looks_secret};
use self::scan::scan;
use crate::environment::is_secret;

pub use self::text::REDACTED;

/// How deep a record may be nested. Levels.
pub const MAX_DEPTH: usize = 128;

/// How long a variable's value must be to be looked for in texts. Bytes. `TOKEN=1` would take out every 1.
const MIN_KNOWN: usize = 6;

/// Takes secrets out of texts and JSON.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// The values that are secret wherever they stand, the longest first.
    known: Vec<String>,
}

impl Redactor {
    /// Makes a redactor that knows these variables. The value of one whose name says that it is a secret is taken out
    /// wherever it stands, and so is the password in an address that is the value of any variable.
    #[must_use]
    pub fn new<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Redactor {
        let secret = variables.into_iter().filter_map(|(name, value)| {
            if is_known_secret(name, value) { Some(value) } else { password(value) }
        });
        let mut known: Vec<String> =
            secret.filter(|value| value.len() >= MIN_KNOWN).map(str::to_owned).collect();
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
        self.write(value, Grade::None, &mut out);
        Some(out)
    }

    /// Writes a value that stands under a name of this grade.
    fn write(&self, value: &Value<'_>, under: Grade, out: &mut String) {
        match value.kind() {
            Kind::Object => {
                out.push('{');
                for (index, (key, member)) in value.pairs().iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    self.write(key, Grade::None, out);
                    out.push(':');
                    let named = key.as_str().map_or(Grade::None, |name| member_grade(&name, member));
                    self.write(member, if under == Grade::Strong { under } else { named }, out);
                }
                out.push('}');
            }
            Kind::Array => {
                let mut arguments = flags::Arguments::default();
                out.push('[');
                for (index, item) in value.items().iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    match item.as_str().and_then(|text| arguments.clean(text)) {
                        Some(clean) => out.push_str(&self.spelled(&clean)),
                        None => self.write(item, under, out),
                    }
                }
                out.push(']');
            }
            Kind::String(text) if is_secret_text(under, &text) => out.push_str(&format!("\"{REDACTED}\"")),
            Kind::String(text) => match self.text(&text) {
                Some(clean) => out.push_str(&hooksd_json::python::ascii_string(&clean)),
                None => out.push_str(value.raw()),
            },
            _ => out.push_str(value.raw()),
        }
    }

    /// A text without secrets, as a string of JSON.
    fn spelled(&self, text: &str) -> String {
        let clean = self.text(text);
        hooksd_json::python::ascii_string(clean.as_deref().unwrap_or(text))
    }

    /// The text without secrets; `None` when it has none.
    #[must_use]
    pub fn text(&self, text: &str) -> Option<String> {
        match self.without_known(text) {
            Cow::Borrowed(text) => scan(text),
            Cow::Owned(text) => Some(scan(&text).unwrap_or(text)),
        }
    }

    /// A text whose end is missing, without secrets. What may be the beginning of a secret is taken out as well: the
    /// beginning of a known value, and the last word.
    #[must_use]
    pub fn cut_text(&self, text: &str) -> String {
        let mut text = self.without_known(text).into_owned();
        let begun = self.known.iter().map(|value| begun(&text, value)).max();
        text.truncate(text.len() - begun.unwrap_or_default());
        let clean = scan(&text).unwrap_or(text);
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

/// Whether the value of this variable is a secret wherever it stands.
fn is_known_secret(name: &str, value: &str) -> bool {
    let is_named = match grade(name) {
        Grade::None => false,
        Grade::Weak => looks_secret(value),
        Grade::Digits => looks_secret(value) || is_pin(value),
        // A folder is not a secret, whatever the variable is called.
        Grade::Strong | Grade::Line => is_secret(name) || !value.starts_with('/'),
    };
    is_named && !is_about(name, value) && !is_placeholder(value) && !is_sentence(value)
}

/// The password in an address: `scheme://user:password@host`.
fn password(value: &str) -> Option<&str> {
    let (_, after) = value.split_once("://")?;
    let (user, _) = after.rsplit_once('@')?;
    user.split_once(':').map(|(_, password)| password).filter(|password| !is_placeholder(password))
}

/// What the name of a member says of its value. Beside the name of a secret may stand what is only about it.
fn member_grade(name: &str, member: &Value<'_>) -> Grade {
    match grade(name) {
        // Only texts that stand there themselves, or in a list, are told by their looks.
        Grade::Weak | Grade::Digits if member.is_object() => Grade::None,
        Grade::Strong | Grade::Line if member.as_str().is_some_and(|text| is_about(name, &text)) => {
            Grade::None
        }
        Grade::Line => Grade::Strong,
        grade => grade,
    }
}

/// Whether a text that stands under a name of this grade is a secret.
fn is_secret_text(under: Grade, text: &str) -> bool {
    match under {
        Grade::None => false,
        Grade::Weak => looks_secret(text),
        Grade::Digits => looks_secret(text) || is_pin(text),
        Grade::Strong | Grade::Line => !is_placeholder(text) && !is_sentence(text),
    }
}

#[cfg(test)]
mod shapes_tests;
#[cfg(test)]
mod tests;
