//! Reading `.env` files: names and values and nothing else. The process environment is not looked at, and `$NAME` in a
//! value stays as it is: what a handler gets is what the file says.

use std::path::Path;

use crate::read::{Found, bounded};

/// The largest `.env` file that is read. Bytes. Real ones are a few kilobytes.
const MAX_FILE: u64 = 1024 * 1024;

/// The most variables taken from one file. Variables. They are copied for every handler.
const MAX_VARIABLES: usize = 1000;

/// What a file says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Variables {
    /// In the order of the file; of a repeated name the last counts.
    pub pairs: Vec<(String, String)>,
    /// What of it is ignored, and where: the first such place.
    pub problem: Option<String>,
}

/// Reads a file. One that is not there has nothing to say.
#[must_use]
pub fn read(path: &Path) -> Variables {
    let unusable =
        |reason: &str| Variables { pairs: Vec::new(), problem: Some(format!("{} {reason}", path.display())) };
    match bounded(path, MAX_FILE) {
        Found::Absent => Variables::default(),
        Found::Unreadable { reason, .. } => unusable(&reason),
        Found::File(contents) => match std::str::from_utf8(&contents.bytes) {
            Ok(text) => {
                let mut variables = parse(text);
                variables.problem = variables.problem.map(|problem| format!("{}:{problem}", path.display()));
                variables
            }
            Err(_) => unusable("is not UTF-8"),
        },
    }
}

/// Reads the text of a file: `NAME=value`, `export` before it, `#` comments, quotes over several lines.
#[must_use]
pub fn parse(text: &str) -> Variables {
    let mut variables = Variables::default();
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut line = 1;
    while !rest.is_empty() {
        let (statement, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let trimmed = statement.trim();
        let mut next = after;
        if !trimmed.is_empty() && !trimmed.starts_with('#') {
            match assignment(rest) {
                Ok((name, value, left)) => {
                    next = left;
                    variables.pairs.retain(|(known, _)| *known != name);
                    variables.pairs.push((name, value));
                }
                Err(reason) => {
                    variables.problem.get_or_insert_with(|| format!("{line}: {reason}; the line is ignored"));
                }
            }
        }
        line += rest
            .len()
            .checked_sub(next.len())
            .map_or(1, |used| rest.get(..used).unwrap_or_default().matches('\n').count());
        rest = next;
        if variables.pairs.len() > MAX_VARIABLES {
            variables.pairs.truncate(MAX_VARIABLES);
            variables.problem = Some(format!("{line}: only {MAX_VARIABLES} variables are taken"));
            break;
        }
    }
    variables
}

/// One assignment at the beginning of `text`, and the text after its line.
fn assignment(text: &str) -> Result<(String, String, &str), &'static str> {
    let text = text.trim_start_matches([' ', '\t', '\r']);
    let text = match text.strip_prefix("export") {
        Some(after) if after.starts_with([' ', '\t']) => after.trim_start_matches([' ', '\t']),
        _ => text,
    };
    let line_end = text.find('\n').unwrap_or(text.len());
    let equals = text.get(..line_end).and_then(|line| line.find('=')).ok_or("expected NAME=value")?;
    let (name, value) = text.split_at(equals);
    let name = name.trim();
    if !is_name(name) {
        return Err("a name has letters, digits and underscores");
    }
    let value = value.get(1..).unwrap_or_default().trim_start_matches([' ', '\t']);
    let (value, rest) = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => quoted(value.get(1..).unwrap_or_default(), quote)?,
        _ => {
            let (value, rest) = value.split_once('\n').unwrap_or((value, ""));
            // A comment begins after white space: a `#` inside a value is part of it.
            let comment = value.match_indices('#').find(|(at, _)| {
                value.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with([' ', '\t']))
            });
            let value = comment.map_or(value, |(at, _)| value.get(..at).unwrap_or_default());
            (value.trim().to_owned(), rest)
        }
    };
    if value.contains('\0') {
        return Err("a value cannot hold a NUL");
    }
    Ok((name.to_owned(), value, rest))
}

/// A quoted value and the text after its line. In double quotes a backslash escapes.
fn quoted(text: &str, quote: char) -> Result<(String, &str), &'static str> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == quote {
            let rest = text.get(at + 1..).unwrap_or_default();
            let (left, after) = rest.split_once('\n').unwrap_or((rest, ""));
            let left = left.trim();
            if !left.is_empty() && !left.starts_with('#') {
                return Err("there is text after the closing quote");
            }
            return Ok((value, after));
        }
        if c == '\\' && quote == '"' {
            match chars.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, 'r')) => value.push('\r'),
                Some((_, 't')) => value.push('\t'),
                Some((_, c @ ('"' | '\\' | '$'))) => value.push(c),
                Some((_, other)) => value.extend(['\\', other]),
                None => break,
            }
        } else {
            value.push(c);
        }
    }
    Err("the quote is not closed")
}

/// Whether a variable can have this name.
#[must_use]
pub fn is_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_taken_as_they_stand() {
        let text = "\u{feff}# c\r\n\nA=1\r\nexport B = two words # c\nC='a $A \\n'\nD=\"x\\ny\\\"\n$A\" # c\n\
                    E=\nF=a#b\nA=again\nG=${A}\n9=x\nH\nI=\"open\nJ=last";
        let pairs = [
            ("B", "two words"),
            ("C", "a $A \\n"),
            ("D", "x\ny\"\n$A"),
            ("E", ""),
            ("F", "a#b"),
            ("A", "again"),
            ("G", "${A}"),
            ("J", "last"),
        ];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let problem = Some("12: a name has letters, digits and underscores; the line is ignored".to_owned());
        assert_eq!(parse(text), Variables { pairs, problem });
    }

    #[test]
    fn a_file_has_a_bound() {
        let many: String = (0..2 * MAX_VARIABLES).map(|number| format!("V{number}=x\n")).collect();
        let variables = parse(&many);
        assert_eq!(variables.pairs.len(), MAX_VARIABLES);
        assert!(variables.problem.is_some());
    }
}
