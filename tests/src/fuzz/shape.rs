//! Texts that are nearly right, built from choices.

use std::fmt::Write;

use arbitrary::Unstructured;

/// Words that an input is made of. A word that is JSON already (`{`, `[`, `"`, digits) is taken as it is, others are
/// strings and names of members.
#[derive(Debug, Clone, Copy)]
pub struct Words(pub &'static [&'static str]);

/// How deep a built value is nested. Levels. The deepest a real document has is seven.
const MAX_DEPTH: usize = 8;

/// Members of one object, items of one list, at most.
const MAX_MEMBERS: usize = 5;

/// Values of one text, at most: choices are used up long before.
const MAX_VALUES: usize = 400;

/// JSON built from choices. When they are used up, what is left is as small as it can be.
#[must_use]
pub fn json(choices: &[u8], words: Words) -> String {
    let mut builder = Builder { choices: Unstructured::new(choices), words, values: 0, out: String::new() };
    builder.value(0);
    builder.out
}

struct Builder<'a> {
    choices: Unstructured<'a>,
    words: Words,
    values: usize,
    out: String,
}

impl Builder<'_> {
    fn choose(&mut self, below: usize) -> usize {
        self.choices.choose_index(below).unwrap_or(0)
    }

    fn word(&mut self) -> &'static str {
        let at = self.choose(self.words.0.len());
        self.words.0[at]
    }

    /// A name, or a string: mostly a word, at times with something odd in it.
    fn string(&mut self) {
        let word = self.word().trim_matches('"');
        match self.choose(16) {
            15 => self.out.push_str("\"\\ud83d\""),
            14 => self.out.push_str("\"\\u0000\\n\u{1f600}\""),
            13 => {
                let upper = word.to_uppercase();
                self.quoted(&upper);
            }
            _ => self.quoted(word),
        }
    }

    fn quoted(&mut self, text: &str) {
        self.out.push_str(hooksd_json::RawJson::string(text).get());
    }

    fn value(&mut self, depth: usize) {
        self.values += 1;
        let kinds =
            if depth >= MAX_DEPTH || self.values > MAX_VALUES || self.choices.is_empty() { 4 } else { 14 };
        match self.choose(kinds) {
            0 => self.string(),
            1 => {
                let word = self.word();
                let is_json = word.starts_with(['{', '[', '"', '-', 't', 'f', 'n', 'N', 'I'])
                    || word.starts_with(|c: char| c.is_ascii_digit());
                match serde_json::from_str::<&serde_json::value::RawValue>(word) {
                    Ok(_) if is_json => self.out.push_str(word),
                    _ => self.quoted(word),
                }
            }
            2 => {
                let number: i32 = self.choices.arbitrary().unwrap_or(1);
                let _ = write!(self.out, "{number}");
            }
            3 => {
                let plain = ["null", "true", "false", "0", "1.5", "1e999", "-0.0", "NaN", "{}", "[]"];
                let at = self.choose(plain.len());
                self.out.push_str(plain[at]);
            }
            4..=6 => self.list(depth),
            _ => self.object(depth),
        }
    }

    fn list(&mut self, depth: usize) {
        self.out.push('[');
        for index in 0..self.choose(MAX_MEMBERS) {
            if index > 0 {
                self.out.push(',');
            }
            self.value(depth + 1);
        }
        self.out.push(']');
    }

    fn object(&mut self, depth: usize) {
        self.out.push('{');
        for index in 0..=self.choose(MAX_MEMBERS) {
            if index > 0 {
                self.out.push(',');
            }
            self.string();
            self.out.push(':');
            self.value(depth + 1);
        }
        self.out.push('}');
    }
}

/// The same JSON with white space wherever it means nothing.
#[must_use]
pub fn spaced(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let (mut inside, mut escaped) = (false, false);
    for c in json.chars() {
        if inside {
            out.push(c);
            match c {
                '"' if !escaped => inside = false,
                '\\' if !escaped => escaped = true,
                _ => escaped = false,
            }
        } else if matches!(c, '{' | '}' | '[' | ']' | ',' | ':') {
            out.push_str(" \t");
            out.push(c);
            out.push_str("\r\n ");
        } else {
            inside = c == '"';
            out.push(c);
        }
    }
    out
}
